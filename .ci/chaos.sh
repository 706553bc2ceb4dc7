#!/usr/bin/env bash
# Usage: chaos.sh [KILLS [SENTINEL_ROUNDS]]. Real processes, a wire that fails, kills at random moments, and the sentinel.
set -euo pipefail
cd "$(dirname "$0")/.."
npm run --silent chaos -- --kills "${1:-8}" --sentinel "${2:-1}" --seed 7
