#!/usr/bin/env bash
# The README's test command; its counts are left in $PUNTAS_CI_OUT/tests.json.
set -euo pipefail
cd "$(dirname "$0")/.."
out="${PUNTAS_CI_OUT:-$(mktemp -d)}"
rm -f "$out/tests.json"
npm test -- --reporter=default --reporter=json --outputFile.json="$out/tests.json"
# A run that found no tests has proven nothing.
[[ $(node -p "require('$out/tests.json').numPassedTests") -gt 0 ]]
