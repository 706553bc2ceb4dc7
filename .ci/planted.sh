#!/usr/bin/env bash
# Bugs planted into the source one by one (test/planted/edits.ts): each must be found by the test that is named beside it.
set -euo pipefail
cd "$(dirname "$0")/.."
npm run --silent planted
