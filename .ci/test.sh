#!/usr/bin/env bash
# Usage: test.sh [slower]. The README's test command, or the tests of seconds that it leaves out.
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in
  '') bash .ci/vitest.sh npm test -- ;;
  slower) bash .ci/vitest.sh npm run test:slower -- ;;
  *) echo "expected slower or nothing, found: $1"; exit 2 ;;
esac
