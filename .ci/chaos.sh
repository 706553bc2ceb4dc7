#!/usr/bin/env bash
# Usage: chaos.sh [KILLS [SENTINEL_ROUNDS [MINUTES HEDGED_KILLS [DESK_MINUTES DESK_KILLS]]]]. Real processes, a wire that fails, kills at random moments, and the sentinel; then MINUTES
# of a bot that hedges on a second exchange, at twenty times speed, with HEDGED_KILLS kills; then DESK_MINUTES of a bot with three books, whose time with quotes is reported and not judged: a busy machine takes it.
set -euo pipefail
cd "$(dirname "$0")/.."
npm run --silent chaos -- --kills "${1:-8}" --sentinel "${2:-1}" --seed 7
[[ $# -lt 4 ]] || npm run --silent chaos:hedged -- --minutes "$3" --kills "$4" --seed 7
[[ $# -lt 6 ]] || npm run --silent chaos:desk -- --minutes "$5" --kills "$6" --calm 0.3 --quoted 0 --seed 7
