# What convoy is built and tested with, by its names in Debian 12 and 13 and Ubuntu 24.04, and how it gets there.
# Sourced by app/quickstart.sh and tests/run.sh; tests/README.md says what each is for.

build_packages=(
  g++ cmake ninja-build pkg-config
  libhdf5-dev libsndfile1-dev libdeflate-dev
  libhwy-dev libtbb-dev libthrust-dev
  libcli11-dev libyaml-cpp-dev nlohmann-json3-dev libfmt-dev libspdlog-dev libcairo2-dev
)
test_packages=(catch2 hdf5-tools python3-numpy python3-scipy python3-h5py)
peer_packages=(sox ffmpeg libfftw3-dev time)  # tests/peers only
full_packages=(clang-format)
optional_packages=(slurm-wlm munge chromium)  # of tests that say aloud that they are skipped without

# missing_packages PACKAGE...: prints those that are not installed.
missing_packages() {
  local package
  for package in "$@"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || printf '%s ' "$package"
  done
}

# install_packages PACKAGE...: installs those that are missing, or ends the script with a sentence that names them.
install_packages() {
  local missing as_root=() log
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "Not a Debian or Ubuntu system: taking what is installed. Needed under their Debian names: $*"
    return
  fi
  missing=$(missing_packages "$@")
  [ -n "$missing" ] || return 0
  if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null || ! sudo -n true 2>/dev/null; then
      echo "Packages are missing and there is no right to install them here; run: sudo apt-get install $missing" >&2
      exit 1
    fi
    as_root=(sudo -n)
  fi
  echo "Installing $missing"
  log=$(mktemp)
  if ! { "${as_root[@]}" apt-get update && "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
         apt-get install --yes --no-install-recommends $missing; } >"$log" 2>&1 </dev/null; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    echo "apt-get could not install what is missing (see above); still needed: $missing" >&2
    exit 1
  fi
  rm -f "$log"
}
