#!/usr/bin/env bash
# Usage: long.sh [PROJECT]... Without one all of `npm run test:long`: the program's longest tests, whole recordings, many seeds. A project of
# vitest.config.js runs by itself: `npx vitest run --project long`.
set -euo pipefail
cd "$(dirname "$0")/.."
if [[ $# == 0 ]]; then bash .ci/vitest.sh npm run test:long --; else bash .ci/vitest.sh npx vitest run "${@/#/--project=}"; fi
