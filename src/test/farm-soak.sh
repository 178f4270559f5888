#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Lets a farm answer jobs while everything around it fails, on the classes as they are compiled (mvn -q test-compile -Dsetup.skip). Needs root.
#
#   src/test/farm-soak.sh [JOBS [embedded|foreign]]
#
# What it does: src/test/java/io/kiln/flow/farm/FarmSoakTest.java. On a computer that is busy with other work, run it with "nice -n -5".
set -euo pipefail
cd "$(dirname "$0")/../.."

missing=()
has() { command -v "$1" >/dev/null || missing+=("$2"); }
has ip iproute2
has mount mount
has qemu-system-arm qemu-system-arm
has prometheus prometheus
compgen -G '/usr/lib/*/faketime/libfaketimeMT.so.1' >/dev/null || missing+=(faketime)
/usr/bin/python3 -c 'import prometheus_client' 2>/dev/null || missing+=(python3-prometheus-client)
if [ ${#missing[@]} -gt 0 ]; then
  echo "Missing for the soak; get it with: apt-get install -y --no-install-recommends ${missing[*]}" >&2
  exit 1
fi
if [ "$(id -u)" != 0 ]; then
  echo "The soak makes a network and a disk of its own: run it as root" >&2
  exit 1
fi

exec mvn -B -ntp -Dsetup.skip -Dtest=FarmSoakTest \
  -Dkiln.farm.soak="${1:-2000}" -Dkiln.farm.soak.broker="${2:-embedded}" surefire:test
