#!/usr/bin/env bash
# Usage: node.sh MAJOR [OPTIONS]. The README's test command on another version of Node; its options choose a part of it.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(bash .ci/nodeBinary.sh "$1")
export PATH="$folder:$PATH"
echo "node $(node --version)"
npm test -- --reporter=dot "${@:2}"
