#!/usr/bin/env bash
# The README's test command, and after it the program's longest tests and those of whole recordings; the counts of both are left in $PUNTAS_CI_OUT/tests.json.
set -euo pipefail
cd "$(dirname "$0")/.."
out="${PUNTAS_CI_OUT:-$(mktemp -d)}"
rm -f "$out"/tests*.json
status=0
npm test -- --reporter=default --reporter=json --outputFile.json="$out/tests-short.json" || status=$?
npm run test:long -- --reporter=default --reporter=json --outputFile.json="$out/tests-long.json" || status=$?
node -e '
  const { readFileSync, writeFileSync } = require("fs");
  const out = process.argv[1];
  const of = ["short", "long"].map(name => JSON.parse(readFileSync(`${out}/tests-${name}.json`, "utf8")));
  // A run that found no tests has proven nothing.
  if (of.some(({ numPassedTests }) => numPassedTests === 0)) process.exit(1);
  const sum = key => of.reduce((total, report) => total + report[key], 0);
  writeFileSync(`${out}/tests.json`, JSON.stringify({ numPassedTests: sum("numPassedTests"), numFailedTests: sum("numFailedTests") }));
' "$out"
exit "$status"
