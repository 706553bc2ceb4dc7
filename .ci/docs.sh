#!/usr/bin/env bash
# Every command and every piece of YAML that the README, the other pages and the configurations print, run as printed.
set -euo pipefail
cd "$(dirname "$0")/.."
bash .ci/packages.sh script=bsdutils curl=curl jq=jq openssl=openssl
npm run --silent docs:run
