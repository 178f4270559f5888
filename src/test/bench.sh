#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures rows of the bench on the classes as they are compiled (mvn -q -o test-compile -Dsetup.skip), in seconds:
#
#   src/test/bench.sh kws-m4f-gnu --per-operator
#
#   src/test/bench.sh --boards kws ad       cycles on boards whose flash waits
#
# What arguments there are: src/test/java/io/kiln/bench/BenchOptions.java and MemoryBench.java.
set -euo pipefail
cd "$(dirname "$0")/../.."

path=target/bench/classpath
if [ ! -e "$path" ] || [ pom.xml -nt "$path" ]; then
  mkdir -p target/bench
  mvn -q -o dependency:build-classpath -Dmdep.includeScope=test -Dmdep.outputFile="$path"
fi
main=Bench
if [ "${1:-}" = --boards ]; then
  main=MemoryBench
  shift
fi
exec java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Dslf4j.internal.verbosity=ERROR \
  -cp "target/test-classes:target/classes:$(cat "$path")" "io.kiln.bench.$main" "$@"
