#!/usr/bin/env bash
# Every command and every piece of YAML that the README, the other pages and the configurations print, run as printed.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! bash .ci/packages.sh script=bsdutils curl=curl jq=jq openssl=openssl; then
  [[ ${CI:-} != true ]] || exit 1
  echo 'skipped: script, curl, jq and openssl are needed'
  exit 0
fi
npm run --silent docs:run
