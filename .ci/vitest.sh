#!/usr/bin/env bash
# Usage: vitest.sh COMMAND... Runs vitest by this command; the counts of its tests go to tests.json in $PUNTAS_CI_OUT.
# A test that hangs is named (test/ci/runningTests.ts).
set -euo pipefail
cd "$(dirname "$0")/.."
# For the second reader of logs of single orders. Where it cannot be installed, its tests are skipped.
bash .ci/packages.sh python3=python3 || true
out="${PUNTAS_CI_OUT:-$(mktemp -d)}/tests.json"
rm -f "$out"
"$@" --reporter=default --reporter=./test/ci/runningTests.ts --reporter=json --outputFile.json="$out"
# A run that found no tests has proven nothing.
node -e 'process.exit(JSON.parse(require("fs").readFileSync(process.argv[1], "utf8")).numPassedTests > 0 ? 0 : 1)' "$out"
