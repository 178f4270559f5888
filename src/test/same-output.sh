#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares the C and the archives of every golden model (speed, size and ram, on seven kinds of core) with those of another commit:
#
#   src/test/same-output.sh COMMIT [PART]
#
# COMMIT is the commit before; PART, a part of a model's name, is for a quick look. Prints the files that differ and fails if there are any.
# What the other commit answered is kept in target/same-output.
set -euo pipefail
cd "$(dirname "$0")/../.."
commit=$(git rev-parse --verify "${1:?which commit?}^{commit}")
part=${2:-}
work=$PWD/target/same-output
mkdir -p "$work"
path=$work/classpath
if [ ! -e "$path" ] || [ pom.xml -nt "$path" ]; then
  mvn -q -o dependency:build-classpath -Dsetup.skip -Dmdep.includeScope=test -Dmdep.outputFile="$path"
fi

# Compiles main classes, those of templates included, and what the program needs of the test tree.
classes() { # source tree, folder of classes
  (cd "$1" && mvn -q -o -Dsetup.skip generate-sources)
  rm -rf "$2"
  mkdir -p "$2/toolchains"
  cp -r "$1/src/main/resources/." "$2/"
  cp -r "$1/toolchains/." "$2/toolchains/"
  find "$1/src/main/java" "$1/target/generated-sources" -name '*.java' > "$2.sources"
  find "$1/src/test/java" -name GoldenOutputs.java >> "$2.sources"
  if ! javac -nowarn -proc:none --release 17 -cp "$(cat "$path")" -sourcepath "$1/src/test/java" -d "$2" "@$2.sources" 2> "$2.log"; then
    cat "$2.log"
    exit 1
  fi
}

outputs() { # folder of classes, file of digests, [part], [folder to keep files in]
  local program
  program=$(cd "$1" && find . -name GoldenOutputs.class | sed 's|^\./||; s|\.class$||; s|/|.|g')
  java -Xmx4g -cp "$1:$(cat "$path")" "$program" "${@:2}"
}

before=$work/$commit${part:+-$part}
if [ ! -e "$before" ]; then
  tree=$work/tree
  rm -rf "$tree"
  mkdir -p "$tree"
  git archive "$commit" | tar -x -C "$tree"
  classes "$tree" "$work/classes-before"
  outputs "$work/classes-before" "$before.part" "$part"
  mv "$before.part" "$before"
fi
classes . "$work/classes-after"
outputs "$work/classes-after" "$work/after" "$part"

echo "$(wc -l < "$work/after") files"
if cmp -s "$before" "$work/after"; then
  echo "All are equal."
else
  diff "$before" "$work/after" | grep '^[<>]' | awk '{print $3}' | sort -u
  exit 1
fi
