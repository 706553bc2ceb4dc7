#!/usr/bin/env bash
# Real processes: the exchange goes away from a bot with a sentinel and comes back, and nobody has to do anything. `npm run maintenance -- --seconds 600` is the long form.
set -euo pipefail
cd "$(dirname "$0")/.."
npm run --silent maintenance
