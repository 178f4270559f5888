#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures a farm of many stub boards on the classes as they are compiled (mvn -q -o test-compile -Dsetup.skip):
#
#   src/test/farm-scale.sh [BOARDS [JOBS [IMAGE_BYTES [MEAN_MILLISECONDS [BROKER_HEAP_MB]]]]]
#
# What it does: src/test/java/io/kiln/flow/farm/FarmScale.java.
set -euo pipefail
cd "$(dirname "$0")/../.."

path=target/bench/classpath
if [ ! -e "$path" ] || [ pom.xml -nt "$path" ]; then
  mkdir -p target/bench
  mvn -q -o dependency:build-classpath -Dmdep.includeScope=test -Dmdep.outputFile="$path"
fi
exec java -Xmx2g -XX:+UseSerialGC -Dslf4j.internal.verbosity=ERROR \
  -cp "target/test-classes:target/classes:$(cat "$path")" io.kiln.flow.farm.FarmScale "$@"
