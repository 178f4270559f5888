#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures rows of the bench on the classes as they are compiled (mvn -q -o test-compile -Dsetup.skip), in seconds:
#
#   src/test/bench.sh kws-m4f-gnu --per-operator
#
#   src/test/bench.sh --boards kws ad       cycles on boards whose flash waits
#
#   src/test/bench.sh --peer ../CMSIS-NN unet    beside the functions of CMSIS-NN
#
#   src/test/bench.sh --zoo resnet_v1_8     networks of ST's model zoo beside what ST published
#
# What arguments there are: src/test/java/io/kiln/bench/BenchOptions.java, MemoryBench.java, PeerBench.java and ZooBench.java.
set -euo pipefail
cd "$(dirname "$0")/../.."

path=target/bench/classpath
if [ ! -e "$path" ] || [ pom.xml -nt "$path" ]; then
  mkdir -p target/bench
  mvn -q -o dependency:build-classpath -Dmdep.includeScope=test -Dmdep.outputFile="$path"
fi
main=Bench
case "${1:-}" in
  --boards) main=MemoryBench ;;
  --peer) main=PeerBench ;;
  --zoo) main=ZooBench ;;
esac
if [ "$main" != Bench ]; then
  shift
fi
exec java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Dslf4j.internal.verbosity=ERROR \
  -cp "target/test-classes:target/classes:$(cat "$path")" "io.kiln.bench.$main" "$@"
