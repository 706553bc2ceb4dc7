#!/usr/bin/env bash
# The compiler finds nothing in any of the projects; what one takes from another is built first.
set -euo pipefail
cd "$(dirname "$0")/.."
node node_modules/typescript-native/bin/tsc -b . test/scripts
