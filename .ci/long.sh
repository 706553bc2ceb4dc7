#!/usr/bin/env bash
# The program's longest tests, those of whole recordings and of many seeds; their counts are left in $PUNTAS_CI_OUT/tests-long.json.
set -euo pipefail
cd "$(dirname "$0")/.."
out="${PUNTAS_CI_OUT:-$(mktemp -d)}/tests-long.json"
rm -f "$out"
npm run test:long -- --reporter=default --reporter=json --outputFile.json="$out"
# A run that found no tests has proven nothing.
node -e 'process.exit(JSON.parse(require("fs").readFileSync(process.argv[1], "utf8")).numPassedTests > 0 ? 0 : 1)' "$out"
