#!/usr/bin/env bash
# Installs what is missing, builds everything and runs every quick test. --full adds the long ones: formatting, tests
# labelled `long` (fuzzing, kills), and the whole suite under the sanitizers.
set -euo pipefail
cd "$(dirname "$0")/.."
. app/packages.sh

full=no
case "${1:-}" in
  "") ;;
  --full) full=yes ;;
  *) echo "usage: tests/run.sh [--full]" >&2; exit 2 ;;
esac

# suite PRESET FOLDER CUDA [CTEST OPTION...]: builds a preset and runs its tests.
suite() {
  local preset=$1 folder=$2 cuda=$3
  shift 3
  mkdir -p "$folder"
  cmake --preset "$preset" -DCONVOY_TESTS=ON -DCONVOY_QUICK_BUILD=OFF -DCONVOY_WERROR=ON -DCONVOY_CUDA="$cuda" >"$folder/configure.log" 2>&1 ||
    { cat "$folder/configure.log" >&2; exit 1; }
  sed -n 's|^-- \(convoy [0-9]\)|Building \1|p; s|^-- \(No CUDA\)|\1|p' "$folder/configure.log"
  cmake --build "$folder" --parallel "$(nproc)"
  ctest --test-dir "$folder" --output-on-failure --no-tests=error --parallel "$(nproc)" "$@"
}

check_format() {
  local version
  version=$(clang-format --version | grep -oE '[0-9]+' | head -n 1)
  if [ "$version" != 14 ]; then
    echo "Formatting is not checked: it is defined by clang-format 14, and $version is installed."
    return
  fi
  git ls-files '*.cpp' '*.hpp' '*.cu' '*.cuh' | xargs clang-format --dry-run --Werror
}

install_packages "${build_packages[@]}" "${test_packages[@]}"
if [ "$full" = no ]; then
  suite release build AUTO --label-exclude long
  exit
fi
install_packages "${full_packages[@]}"
(install_packages "${optional_packages[@]}") || echo "Going on without ${optional_packages[*]}: tests of them are skipped."
check_format
suite release build AUTO
# Little of what is freed is held back: tests of the memory that the program takes see its own.
export LSAN_OPTIONS="suppressions=$PWD/tests/leaks.txt:print_suppressions=0" ASAN_OPTIONS=quarantine_size_mb=16
suite asan-ubsan build-asan OFF --label-exclude long
