#!/usr/bin/env bash
# Each regime, halt, pause and alert, caused on a real bot with a real Prometheus beside it: what a person reads then.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! bash .ci/packages.sh prometheus=prometheus; then
  [[ ${CI:-} != true ]] || exit 1
  echo 'skipped: prometheus is not here'
  exit 0
fi
npx vitest run --config test/causes/vitest.config.ts
