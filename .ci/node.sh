#!/usr/bin/env bash
# Usage: node.sh MAJOR. The README's test command on another version of Node.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(bash .ci/nodeBinary.sh "$1")
export PATH="$folder:$PATH"
echo "node $(node --version)"
npm test -- --reporter=dot
