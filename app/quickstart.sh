#!/usr/bin/env bash
# From a fresh clone to a filtered recording: installs what is missing, builds the program, filters a sample.
set -euo pipefail
cd "$(dirname "$0")/.."
. app/packages.sh

sample=data/bird_call.wav
result=out/bird_call.h5
band=2k,7k

install_packages "${build_packages[@]}"

# A build that is there is kept as it was configured. CUDA pays only where there is a GPU to run it.
if [ ! -f build/build.ninja ]; then
  cuda=OFF
  if nvidia-smi -L >/dev/null 2>&1; then cuda=AUTO; fi
  echo "Configuring (log: build/configure.log)"
  mkdir -p build
  cmake --preset release -DCONVOY_TESTS=OFF -DCONVOY_QUICK_BUILD=ON -DCONVOY_WERROR=OFF -DCONVOY_CUDA="$cuda" >build/configure.log 2>&1 ||
    { cat build/configure.log >&2; exit 1; }
  sed -n 's|^-- \(convoy [0-9]\)|Building \1|p; s|^-- \(No CUDA\)|\1|p' build/configure.log
fi
cmake --build build --target convoy --parallel "$(nproc)"

mkdir -p "$(dirname "$result")"
command=(build/convoy filter "$sample" -o "$result" --bandpass "$band" --overwrite)
echo
echo "\$ ${command[*]}"
"${command[@]}"
echo "\$ build/convoy inspect $result"
build/convoy inspect "$result"
echo
echo "$sample, a bird call under wind and mains hum, was filtered to the band of $band Hz."
echo "The result is $PWD/$result (HDF5, dataset /audio)."
echo "Next: build/convoy --help, README.md"
