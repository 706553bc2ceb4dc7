#!/usr/bin/env bash
# The requests of the exchange's official Python client against the embedded exchange as it ships: a real process, its delays and limits.
set -euo pipefail
cd "$(dirname "$0")/.."
bash .ci/packages.sh python3=python3
npm run --silent build
out=$(mktemp -d)
node dist/src/main.js exchange --port 0 > "$out/exchange.json" 2> "$out/exchange.log" &
exchange=$!
trap 'kill "$exchange" 2> /dev/null || true; rm -rf "$out"' EXIT
for _ in $(seq 300); do [[ -s $out/exchange.json ]] && break; sleep 0.1; done
[[ -s $out/exchange.json ]] || { echo 'the exchange did not start:'; cat "$out/exchange.log"; exit 1; }
said() { node -p "JSON.parse(require('fs').readFileSync('$out/exchange.json', 'utf8'))['$1']"; }
python3 test/clients/official.py "$(said url)" "$(said key)" "$(said secret)"
