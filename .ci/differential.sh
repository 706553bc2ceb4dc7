#!/usr/bin/env bash
# Usage: differential.sh [OPERATIONS]. The matching engine and the orders, each beside a slow model on drawn operations: no difference.
# OPERATIONS is the number for each; by default 100 million for the matching engine, and 10 million for the orders, whose model is slower.
set -euo pipefail
cd "$(dirname "$0")/.."
npm run --silent differential -- matching --operations "${1:-100000000}"
npm run --silent differential -- orders --operations "${1:-10000000}"
