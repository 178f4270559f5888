#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Says how many tests were skipped, and how many of them because the shared folder is not beside the project.
# Usage: skipped.sh <folder with Surefire's reports>
set -euo pipefail
shopt -s nullglob
reports=("$1"/TEST-*.xml)
[ "${#reports[@]}" -gt 0 ] || exit 0
all=$(cat "${reports[@]}" | grep -c '<skipped' || true)
shared=$(cat "${reports[@]}" | grep -c '<skipped[^>]*needs the shared folder' || true)
echo "Skipped tests: $all, of which $shared need the shared folder beside the project."
