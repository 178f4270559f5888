#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds and verifies the quickstart with the Java and the bundled compiler of arm64, which QEMU emulates, and compares image and archive
# byte for byte with those of this computer. For Debian on x86-64, as root, after `mvn -Pquickstart verify`; takes about five minutes.
# Options of the build: KILN_MAVEN.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=$PWD/target/it/quickstart/target
work=$(mktemp -d)
formats=/proc/sys/fs/binfmt_misc
name=kiln-arm64
mounted=
finish() {
  [ -e "$formats/$name" ] && echo -1 >"$formats/$name"
  [ -z "$mounted" ] || umount "$formats"
  rm -rf "$work"
}
trap finish EXIT

# Debian's packages of the other machine, in a folder: the system itself gets none.
mkdir -p "$work"/{lists/partial,cache/archives/partial,root,emulator}
touch "$work/status"
foreign() {
  apt-get -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o Dir::State="$work" -o Dir::State::lists="$work/lists" \
    -o Dir::State::status="$work/status" -o Dir::Cache="$work/cache" -o APT::Sandbox::User=root -qq "$@"
}
foreign update
foreign install --no-install-recommends --download-only -y openjdk-17-jre-headless
for package in "$work"/cache/archives/*.deb; do
  dpkg-deb -x "$package" "$work/root"
done
(cd "$work/emulator" && apt-get -qq -o APT::Sandbox::User=root download qemu-user-static && dpkg-deb -x ./*.deb .)

if [ ! -e "$formats/register" ]; then
  mount -t binfmt_misc none "$formats"
  mounted=yes
fi
printf '%s' ":$name:M::\\x7fELF\\x02\\x01\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02\\x00\\xb7\\x00:\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\x00\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xfe\\xff\\xff\\xff:$work/emulator/usr/bin/qemu-aarch64-static:F" \
  >"$formats/register"

version=$(sed -n 's,^  <version>\(.*\)</version>$,\1,p' pom.xml | head -1)
cp -a src/it/quickstart "$work/quickstart"
sed -i "s/@project.version@/$version/" "$work/quickstart/pom.xml"
java=$(echo "$work"/root/usr/lib/jvm/java-17-openjdk-*)
(
  cd "$work/quickstart"
  JAVA_HOME=$java QEMU_LD_PREFIX=$work/root KILN_HOME=$work/home MAVEN_OPTS=-XX:TieredStopAtLevel=1 \
    mvn --batch-mode --no-transfer-progress ${KILN_MAVEN:-} verify
)
for file in quickstart-1.0.0.elf quickstart-1.0.0.bin quickstart-1.0.0.hex quickstart-1.0.0-mlf.tar; do
  cmp "$here/$file" "$work/quickstart/target/$file"
  echo "$file: equal"
done
