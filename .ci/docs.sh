#!/usr/bin/env bash
# Usage: docs.sh [quick]. Every command and every piece of YAML that the README, the other pages and the configurations print, run as printed;
# quick: the pages that a newcomer follows, and the YAML of all pages.
set -euo pipefail
cd "$(dirname "$0")/.."
bash .ci/packages.sh script=bsdutils curl=curl jq=jq openssl=openssl
case ${1:-all} in
  quick) npm run --silent docs:run -- README.md docs/first-day docs/first-backtest 'yaml docs/' 'yaml strategies/' ;;
  all) npm run --silent docs:run ;;
  *) echo "expected quick or nothing, found: $1"; exit 2 ;;
esac
