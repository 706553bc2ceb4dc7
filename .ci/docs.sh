#!/usr/bin/env bash
# Usage: docs.sh [quick | pages | rest]. Every command and every piece of YAML that the README, the other pages and the configurations print, run as printed;
# quick: the pages that a newcomer follows, and the YAML of all pages; rest: research, container and the pages for developers; pages: all others.
set -euo pipefail
cd "$(dirname "$0")/.."
bash .ci/packages.sh script=bsdutils curl=curl jq=jq openssl=openssl
REST=(docs/development docs/adr src/README 'yaml: ' docs/json docs/promotion docs/scout docs/tape docs/importing docs/recording docs/backtest
  docs/comparison docs/tuning docs/container docs/webhooks)
case ${1:-all} in
  quick) npm run --silent docs:run -- README.md docs/first-day docs/first-backtest 'yaml: ' ;;
  all) npm run --silent docs:run ;;
  rest) npm run --silent docs:run -- "${REST[@]}" ;;
  pages) npm run --silent docs:run -- "${REST[@]/#/!}" ;;
  *) echo "expected quick, pages, rest or nothing, found: $1"; exit 2 ;;
esac
