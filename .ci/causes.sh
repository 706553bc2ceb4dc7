#!/usr/bin/env bash
# Each regime, halt, pause and alert, caused on a real bot with a real Prometheus beside it: what a person reads then.
set -euo pipefail
cd "$(dirname "$0")/.."
bash .ci/packages.sh prometheus=prometheus
bash .ci/vitest.sh npx vitest run --config test/causes/vitest.config.ts
