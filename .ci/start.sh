#!/usr/bin/env bash
# A newcomer's first minute: a clean clone, npm ci, npm start, npx puntas. It quotes both sides, ends clean and leaves nothing behind.
set -euo pipefail
cd "$(dirname "$0")/.."
clone=$(mktemp -d)
trap 'rm -rf "$clone"' EXIT
git clone --quiet --no-hardlinks . "$clone/puntas"
cd "$clone/puntas"
npm ci --no-audit --no-fund --loglevel=error

# Before the first build npx says so, without asking a registry; after it, the same command must work.
code=0
npm_config_registry=http://127.0.0.1:9/ timeout 60 npx puntas --version > "$clone/unbuilt" 2>&1 || code=$?
[[ $code == 2 ]] && grep -q '^puntas: not built yet; build it in .* with: npm run build$' "$clone/unbuilt" || { cat "$clone/unbuilt"; exit 1; }

npm start -- --for 45s --json > "$clone/out" || { tail -n 20 "$clone/out"; exit 1; }
tail -n 1 "$clone/out" > "$clone/last.json"
cat "$clone/last.json"
node -e "
  const s = JSON.parse(require('fs').readFileSync(process.argv[1], 'utf8'));
  const flaws = [
    [s.orders.placed >= 6, 'orders placed'],
    [s.orders.refused === 0, 'orders refused'],
    [s.uptime.bid > 0.5 && s.uptime.ask > 0.5, 'time with both sides quoted'],
    [s.openOrdersLeft === 0, 'orders left behind'],
    [s.ledgerMatches === true, 'ledger against the balances of the exchange'],
  ].filter(([holds]) => !holds);
  for (const [, what] of flaws) console.error('not as it must be: ' + what);
  process.exit(flaws.length);
" "$clone/last.json"

# npx must find the program in its own folder, without asking a registry.
export npm_config_registry=http://127.0.0.1:9/
[[ $(timeout 30 npx puntas --version) == "$(node -p "require('./package.json').version")" ]]
timeout 30 npx puntas check -c config/sandbox.yaml > /dev/null
[[ -z $(git status --porcelain) ]] || { echo 'the run changed the working tree:'; git status --short; exit 1; }
