#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what this project's own build needs of the system, and says so first. Does nothing if all is there.
# Usage: setup.sh quickstart|tests|nightly FOLDER: the folder is what tests keep; what was not used for two weeks goes.
set -euo pipefail

for kept in programs tvm-answers clean-sources; do
  [ ! -d "${2:-}/$kept" ] || find "$2/$kept" -type f -mtime +14 -delete
done

# command that must be on the PATH, and the Debian package that has it
needed=("qemu-system-arm qemu-system-arm")
if [ "${1:-tests}" != quickstart ]; then
  needed+=(
    "qemu-system-riscv32 qemu-system-misc"
    "arm-none-eabi-gcc gcc-arm-none-eabi"
    "riscv64-unknown-elf-gcc gcc-riscv64-unknown-elf"
    "xtensa-lx106-elf-gcc gcc-xtensa-lx106"
    "gcc gcc"
    "g++ g++"
    "make make"
    "cmake cmake"
    "openocd openocd"
    "dfu-util dfu-util"
    "stm32flash stm32flash"
    "st-flash stlink-tools"
    "gdb-multiarch gdb-multiarch"
    "python3 python3"
  )
fi

# Looks at the site, and signs a release that is thrown away.
[ "${1:-tests}" != nightly ] || needed+=("chromium chromium" "gpg gpg" "prometheus prometheus")

packages=()
for entry in "${needed[@]}"; do
  read -r command package <<<"$entry"
  command -v "$command" >/dev/null 2>&1 || packages+=("$package")
done
if [ "${1:-tests}" != quickstart ]; then
  # The C libraries are packages of their own.
  [ -e /usr/lib/arm-none-eabi/include/stdint.h ] || packages+=(libnewlib-arm-none-eabi)
  [ -d /usr/include/newlib/c++ ] || packages+=(libstdc++-arm-none-eabi-dev)
  [ -d /usr/lib/picolibc/riscv64-unknown-elf ] || packages+=(picolibc-riscv64-unknown-elf)
  [ -e /usr/lib/xtensa-lx106-elf/picolibc.specs ] || packages+=(picolibc-xtensa-lx106-elf)
  [ -e /usr/include/stdint.h ] || packages+=(libc6-dev)
  # The soak of a farm: clocks that jump, and a parser of figures.
  [ -d /usr/lib/x86_64-linux-gnu/faketime ] || packages+=(faketime)
  [ -d /usr/lib/python3/dist-packages/prometheus_client ] || packages+=(python3-prometheus-client)
  # The ONNX project's own tests of its operators.
  [ -d /usr/share/libonnx-testdata/data/node ] || packages+=(libonnx-testdata)
fi
[ "${#packages[@]}" -gt 0 ] || exit 0

say() { echo "set-up: $*"; }
if ! command -v apt-get >/dev/null 2>&1 || [ "$(id -u)" -ne 0 ]; then
  say "missing on this machine: ${packages[*]}"
  say "on Debian or Ubuntu: sudo apt-get install ${packages[*]}"
  exit 0
fi
say "installs with apt-get: ${packages[*]}"
export DEBIAN_FRONTEND=noninteractive
if ! apt-get update -qq </dev/null || ! apt-get install -y -qq --no-install-recommends "${packages[@]}" </dev/null >/dev/null; then
  say "apt-get failed; install by hand: ${packages[*]}"
  exit 1
fi
say "done"
