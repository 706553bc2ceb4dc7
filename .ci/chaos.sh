#!/usr/bin/env bash
# Usage: chaos.sh [KILLS [SENTINEL_ROUNDS [MINUTES HEDGED_KILLS]]]. Real processes, a wire that fails, kills at random moments, and the sentinel; then MINUTES
# of a bot that hedges on a second exchange, at twenty times speed, with HEDGED_KILLS kills.
set -euo pipefail
cd "$(dirname "$0")/.."
npm run --silent chaos -- --kills "${1:-8}" --sentinel "${2:-1}" --seed 7
[[ $# -lt 4 ]] || npm run --silent chaos:hedged -- --minutes "$3" --kills "$4" --seed 7
