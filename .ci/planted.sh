#!/usr/bin/env bash
# Usage: planted.sh [PART]. PART is 1/4 to 4/4, for quarters of the list.
# Bugs planted into the source one by one (test/planted/edits.ts): each must be found by the test that is named beside it.
set -euo pipefail
cd "$(dirname "$0")/.."
# The second reader of logs of single orders.
bash .ci/packages.sh python3=python3
npm run --silent planted -- --part "${1:-1/1}"
