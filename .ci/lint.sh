#!/usr/bin/env bash
# The linter and the formatter find nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
npm run --silent lint

# The rule that sees a method without its object (pino's throw then) sees the log's.
taken="import type { Log } from '../live/log.ts';
export const told = (log: Log, isBad: boolean): void => {
  const write = isBad ? log.warn : log.info;
  write({}, 'lost its object');
};"
found=$(npx eslint --stdin --stdin-filename src/messages/eventLog.ts <<<"$taken" || true)
if [[ $found != *@typescript-eslint/unbound-method* ]]; then
  echo 'the linter lets a method be taken off the log: see src/live/log.ts'
  exit 1
fi
echo 'a method that is taken off the log is refused'
