#!/usr/bin/env bash
# Real processes, a wire that fails, kills at random moments, and the sentinel: the short form of `npm run chaos -- --kills 50`.
set -euo pipefail
cd "$(dirname "$0")/.."
npm run --silent chaos -- --kills 8 --sentinel 1 --seed 7
