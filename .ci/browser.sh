#!/usr/bin/env bash
# The report's page and the console in a real browser: no complaint, no foreign request, every plot drawn. Where the browser is: PUNTAS_BROWSER; else Debian's chromium.
set -euo pipefail
cd "$(dirname "$0")/.."
if [[ -z ${PUNTAS_BROWSER:-} ]]; then
  if ! bash .ci/packages.sh chromium=chromium; then
    [[ ${CI:-} != true ]] || exit 1
    echo 'skipped: there is no chromium, and it cannot be installed here (PUNTAS_BROWSER names another)'
    exit 0
  fi
  PUNTAS_BROWSER="$(command -v chromium)"
fi
PUNTAS_BROWSER="$PUNTAS_BROWSER" npx vitest run --config test/browser/vitest.config.ts
