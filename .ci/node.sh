#!/usr/bin/env bash
# Usage: node.sh MAJOR [OPTIONS]. The tests on another version of Node; vitest's options choose a part of them.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(bash .ci/nodeBinary.sh "$1")
export PATH="$folder:$PATH"
echo "node $(node --version)"
bash .ci/vitest.sh npx vitest run "${@:2}"
