#!/usr/bin/env python3
"""Keep the sources in their layers.

    layering_test.py ROOT            every file below ROOT
    layering_test.py --self-test     plants one violation of each rule and sees that it is found

Rules: includes are written from the root and point one way (core/base <- core/* <- io <- pipelines <- app; io knows of
core only the base; strategies and memory modes do not know each other); each foreign library has one door; CUDA stays
in *_cuda and .cu files, and .cu means that a kernel is inside; no #if chooses a backend; no file names a path of one
machine or a host of packages.
"""
import re
import sys
import tempfile
from pathlib import Path

FOLDERS = ("app", "core", "io", "pipelines", "tests", "data", ".ci")
SOURCES = {".cpp", ".hpp", ".cu", ".cuh"}
TEXTS = SOURCES | {".txt", ".cmake", ".py", ".sh", ".md", ".json", ".yaml", ".yml", ".in", ""}

# What a folder may include, the longest prefix deciding; tests include anything.
LAYERS = {
    "core/base": ("core/base",),
    "core/device": ("core/base", "core/device"),
    "core/memory": ("core/base", "core/device", "core/memory"),
    "core": ("core",),
    "io": ("core/base", "io"),
    "pipelines": ("core", "io", "pipelines"),
    "app": ("core", "io", "pipelines", "app"),
}
# Where a family must not look although its layer would let it.
APART = {"core": ("core/memory",)}

# A foreign header and the files that may include it.
DOORS = {
    r"hdf5(_hl)?\.h|H5\w+\.h": r"io/hdf5/.*",
    r"sndfile\.hh?": r"io/(wav|audio)(/.*|[a-z_]*\.\w+)",
    r"libdeflate\.h": r"io/hdf5/.*",
    r"cu(da|fft|blas|pti|dnn)\w*\.h|cuda/.*|cub/.*|cooperative_groups.*|nvtx3/.*|mma\.h|nvml\.h":
        r".*\.cuh?|.*(^|[/_])cuda\w*\.[ch]pp|core/device/check\.hpp",
}
# Heavy headers: one file each, so that the others compile fast.
HEAVY = {"CLI11": r"CLI/.*", "spdlog": r"spdlog/.*", "JSON": r"nlohmann/.*", "YAML": r"yaml-cpp/.*",
         "Thrust": r"thrust/.*", "cairo": r"cairo.*\.h"}

# Names that a preprocessor condition may ask for: the compiler's pass, library versions, the macro that marks a
# function for host and device, and the guard of a *-inl.hpp, which Highway reads once for each target; never a backend.
CONDITIONS = re.compile(r"HWY_\w+|__CUDA_ARCH__|__CUDACC__|CONVOY_HD|\w*_VERSION(_\w+)?|\w+_INL(_H)?_?")

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)
CONDITION = re.compile(r"^[ \t]*#[ \t]*(?:if|elif|ifdef|ifndef)\b(.*(?:\\\n.*)*)", re.MULTILINE)
MACHINE = re.compile(r"(?<![\w.])/(?:home|Users|root|work|tmp/[a-z])[\w.-]*/")
REGISTRY = re.compile(r"\b(?:deb|archive|security|ports|snapshot)\.(?:debian|ubuntu)\.\w+|\bpy(?:pi|thonhosted)\.org"
                      r"|\bnpm(?:js)\b|\banaconda\.(?:org|com)")


def longest_prefix(name, table):
    fitting = [p for p in table if name.startswith(p + "/")]
    return max(fitting, key=len, default=None)


def includes(text):
    return [(quote == '"', header) for quote, header in INCLUDE.findall(text)]


def check_includes(name, text, root):
    layer = longest_prefix(name, LAYERS)
    for ours, header in includes(text):
        if ours:
            if not (root / header).is_file():
                yield f"{name}: {header} is not a file below the root"
            allowed = LAYERS.get(layer, (*FOLDERS,))
            if longest_prefix(header, allowed) is None:
                yield f"{name}: includes {header}; {layer} may include {', '.join(allowed)} only"
            if layer in APART and longest_prefix(header, APART[layer]):
                yield f"{name}: includes {header}; strategies do not know of memory modes"
        elif layer == "core/base" and not re.fullmatch(r"[a-z_0-9]+|(sys/)?[a-z]+\.h", header):
            yield f"{name}: includes {header}; core/base uses the standard library and the system only"


def check_doors(name, text):
    if name.startswith("tests/"):
        return
    for _, header in includes(text):
        for library, door in DOORS.items():
            if re.fullmatch(library, header) and not re.fullmatch(door, name):
                yield f"{name}: includes {header}, which belongs in {door}"


def check_heavy(texts):
    """Over all sources: which of the heavy headers are included in more than one file."""
    for library, header_pattern in HEAVY.items():
        users = [name for name, text in texts.items() if not name.startswith("tests/")
                 and any(re.fullmatch(header_pattern, header) for _, header in includes(text))]
        if len(users) > 1:
            yield f"{library} is included in {len(users)} files: {', '.join(users)}"


def check_backend(name, text):
    for condition in CONDITION.findall(text):
        condition = condition.split("//")[0]
        words = re.findall(r"[A-Za-z_]\w*", condition)
        if not any(CONDITIONS.fullmatch(word) for word in words):
            yield f"{name}: #if {condition.strip()}: CMake chooses files, the preprocessor chooses nothing"
    if name.endswith(".cu") and "__global__" not in text and '.cuh"' not in text:  # a .cuh holds kernel templates
        yield f"{name}: no kernel inside; name it _cuda.cpp"
    if name.endswith((".cpp", ".hpp")) and "__global__" in text:
        yield f"{name}: a kernel belongs in a .cu file"
    if name.endswith((".hpp", ".cuh")) and not name.endswith("-inl.hpp") and "#pragma once" not in text:
        yield f"{name}: no #pragma once"


def check_catch(name, text):
    """Names of Catch2 differ between its versions: tests/catch.hpp alone knows them."""
    found = re.search(r"\bCatch::\w+|<catch2/", text)
    if found and name.startswith("tests/") and not name.startswith("tests/catch."):
        yield f"{name}: names {found.group()}, which tests/catch.hpp is to hide"


def check_names(name, text):
    for pattern, what in ((MACHINE, "a path of one machine"), (REGISTRY, "a host of packages")):
        if found := pattern.search(text):
            yield f"{name}: names {what}: {found.group()}"


def read_tree(root):
    """Text files by their path from the root; what is built or downloaded stays out."""
    files = [p for p in root.iterdir() if p.is_file() and p.name != ".git"]
    for folder in FOLDERS:
        files += [p for p in (root / folder).rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    return {p.relative_to(root).as_posix(): p.read_text("utf8", "replace") for p in sorted(files) if p.suffix in TEXTS}


def violations(root):
    texts = read_tree(root)
    sources = {name: text for name, text in texts.items() if Path(name).suffix in SOURCES}
    for name, text in sources.items():
        yield from check_includes(name, text, root)
        yield from check_doors(name, text)
        yield from check_backend(name, text)
        yield from check_catch(name, text)
    yield from check_heavy(sources)
    for name, text in texts.items():
        yield from check_names(name, text)


# ---------------------------------------------------------------- the test's own test
CLEAN = {
    "core/base/error.hpp": "#pragma once\n#include <string>\n",
    "core/device/device.hpp": '#pragma once\n#include "core/base/error.hpp"\n',
    "core/memory/memory.hpp": '#pragma once\n#include "core/device/device.hpp"\n',
    "core/conv1d/direct_cpu.cpp": '#include "core/base/error.hpp"\n#if HWY_ONCE\n#endif\n',
    "core/conv1d/tiled_cuda.cu": "#include <cuda_runtime.h>\n__global__ void f() {}\n",
    "io/format.hpp": '#pragma once\n#include "core/base/error.hpp"\n',
    "io/hdf5/reader.cpp": '#include <hdf5.h>\n#include "io/format.hpp"\n',
    "pipelines/run.cpp": '#include "io/format.hpp"\n#include "core/memory/memory.hpp"\n',
    "app/main.cpp": '#include <CLI/CLI.hpp>\n#include "pipelines/run.hpp"\n',
    "pipelines/run.hpp": "#pragma once\n",
    "tests/io/format_test.cpp": '#include <hdf5.h>\n#include "app/main.cpp"\n',
    "README.md": "Type app/quickstart.sh\n",
}
PLANTED = [     # file, text, and what the complaint must say
    ("core/base/error.hpp", '#pragma once\n#include "core/device/device.hpp"\n', "core/base only"),
    ("core/base/error.hpp", "#pragma once\n#include <fmt/format.h>\n", "standard library"),
    ("core/base/error.hpp", "#include <string>\n", "pragma once"),
    ("core/memory/memory.hpp", '#pragma once\n#include "core/conv1d/direct_cpu.cpp"\n', "core/memory may include"),
    ("core/conv1d/direct_cpu.cpp", '#include "core/memory/memory.hpp"\n', "memory modes"),
    ("core/conv1d/direct_cpu.cpp", '#include "io/format.hpp"\n', "core may include"),
    ("core/conv1d/direct_cpu.cpp", "#include <cuda_runtime.h>\n", "belongs in"),
    ("core/conv1d/direct_cpu.cpp", "#ifdef CONVOY_WITH_CUDA\n#endif\n", "CMake chooses"),
    ("core/conv1d/direct_cpu.cpp", "__global__ void f() {}\n", "belongs in a .cu file"),
    ("core/conv1d/tiled_cuda.cu", "#include <cuda_runtime.h>\n", "no kernel inside"),
    ("io/format.hpp", '#pragma once\n#include "core/device/device.hpp"\n', "io may include"),
    ("io/format.hpp", '#pragma once\n#include "format.hpp"\n', "not a file"),
    ("io/format.hpp", "#pragma once\n#include <hdf5.h>\n", "belongs in io/hdf5"),
    ("io/hdf5/reader.cpp", "#include <sndfile.h>\n", "belongs in io/"),
    ("pipelines/run.cpp", '#include "app/main.cpp"\n', "pipelines may include"),
    ("pipelines/run.cpp", "#include <CLI/App.hpp>\n", "CLI11 is included in 2 files"),
    ("tests/io/format_test.cpp", 'CHECK_THAT(text, Catch::Contains("x"));\n', "catch.hpp is to hide"),
    ("README.md", "see /" + "home/someone/data/x.wav\n", "path of one machine"),
    ("README.md", "from https://py" + "pi.org/simple\n", "host of packages"),
]


def plant(root, tree):
    for name, text in tree.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def self_test():
    wrong = []
    for name, text, said in [(None, "", ""), *PLANTED]:
        with tempfile.TemporaryDirectory() as temporary:
            root = Path(temporary)
            plant(root, CLEAN if name is None else CLEAN | {name: text})
            found = list(violations(root))
        if name is None and found:
            wrong.append(f"a clean tree is complained of: {found}")
        if name is not None and not any(name in line and said in line for line in found):
            wrong.append(f"{name} with {text!r}: {said!r} expected, found {found}")
    return wrong


def main(argument):
    if argument == "--self-test":
        wrong, good = self_test(), "Every planted violation is found"
    else:
        wrong, good = list(violations(Path(argument))), "Every layer is kept"
    print("\n".join(wrong or [good]))
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
