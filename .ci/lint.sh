#!/usr/bin/env bash
# The linter and the formatter find nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
npm run --silent lint

# The rule that sees a method without its object (pino's throw then) sees the log's.
there=$(mktemp -d)
trap 'rm -rf "$there"' EXIT
echo "{ \"extends\": \"$PWD/tsconfig.json\", \"compilerOptions\": { \"rootDir\": \"/\", \"composite\": false, \"noEmit\": true, \"typeRoots\": [\"$PWD/node_modules/@types\"] }, \"include\": [\"told.ts\"], \"references\": [] }" > "$there/tsconfig.json"
echo "import type { Log } from '$PWD/src/live/log.ts';
export const told = (log: Log, isBad: boolean): void => {
  const write = isBad ? log.warn : log.info;
  write({}, 'lost its object');
};" > "$there/told.ts"
found=$(npx oxlint --type-aware -c .oxlintrc.json "$there/told.ts" || true)
if [[ $found != *unbound-method* ]]; then
  echo "$found"
  echo 'the linter lets a method be taken off the log: see src/live/log.ts'
  exit 1
fi
echo 'a method that is taken off the log is refused'
