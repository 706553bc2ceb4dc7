#!/usr/bin/env bash
# The compiler finds nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
node_modules/.bin/tsc -p . --noEmit
