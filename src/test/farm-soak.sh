#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Lets a farm answer jobs while everything around it fails, on the classes as they are compiled (mvn -q -o test-compile -Dsetup.skip). Needs root.
#
#   src/test/farm-soak.sh [JOBS [embedded|foreign]]
#
# What it does: src/test/java/io/kiln/flow/farm/FarmSoakTest.java.
set -euo pipefail
cd "$(dirname "$0")/../.."

exec mvn -B -ntp -o -Dsetup.skip -Dtest=FarmSoakTest \
  -Dkiln.farm.soak="${1:-2000}" -Dkiln.farm.soak.broker="${2:-embedded}" surefire:test
