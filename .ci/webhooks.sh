#!/usr/bin/env bash
# A short flood of webhooks on a bot that quotes, then kill -9: nothing that was answered may be missing on disk. Then hostile bodies and slow
# connections: the bot must neither die nor grow. Last, an attacker who knows the path and a small disk: real deliveries come in, the journal has room.
set -euo pipefail
cd "$(dirname "$0")/.."
out="${PUNTAS_CI_OUT:-$(mktemp -d)}/flood.txt"
npm run --silent flood -- --seconds 10 --answered 1000 | tee "$out" || true
node -e "
  const { answered, lost } = JSON.parse(require('fs').readFileSync(process.argv[1], 'utf8').trim().split('\n').at(-1));
  if (!(lost === 0 && answered >= 1000)) { console.error('answered ' + answered + ', lost ' + lost); process.exit(1); }
" "$out"
npm run --silent flood:hostile
# How long hostile texts hold the loop, and who is answered beside held connections.
npm run --silent flood:holds
# Needs a small disk of its own: root.
npm run --silent flood:attacks
