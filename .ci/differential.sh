#!/usr/bin/env bash
# Usage: differential.sh [OPERATIONS]. The matching engine, the orders and the account, each beside a slow model on drawn operations: no difference.
# OPERATIONS is the number for each; by default 100 million for the matching engine, and 10 million for the orders and 2 million for the account, whose models are slower.
set -euo pipefail
cd "$(dirname "$0")/.."
npm run --silent differential -- matching --operations "${1:-100000000}"
npm run --silent differential -- orders --operations "${1:-10000000}"
npm run --silent differential -- account --operations "${1:-2000000}"
