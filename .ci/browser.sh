#!/usr/bin/env bash
# Usage: browser.sh [FILE]... The reports and the console in a real browser: no complaint, no foreign request, every plot drawn. The browser is
# the one in PUNTAS_BROWSER, else Debian's chromium. A FILE of test/browser runs by itself.
set -euo pipefail
cd "$(dirname "$0")/.."
if [[ -z ${PUNTAS_BROWSER:-} ]]; then
  bash .ci/packages.sh chromium=chromium
  PUNTAS_BROWSER="$(command -v chromium)"
fi
PUNTAS_BROWSER="$PUNTAS_BROWSER" bash .ci/vitest.sh npx vitest run --config test/browser/vitest.config.ts "$@"
