#!/usr/bin/env bash
# The thirteen situations of docs/runbook.md, on real processes: what is typed, and what one sees then.
set -euo pipefail
cd "$(dirname "$0")/.."
bash .ci/vitest.sh npx vitest run --config test/runbook/vitest.config.ts
