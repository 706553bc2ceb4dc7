#!/usr/bin/env bash
# Usage: differential.sh [OPERATIONS]. The matching engine beside a naive book, on drawn operations (default: 100 million): no difference.
set -euo pipefail
cd "$(dirname "$0")/.."
npm run --silent differential -- --operations "${1:-100000000}"
