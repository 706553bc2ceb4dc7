#!/usr/bin/env bash
# Usage: scripts.sh [quick | long]... (default: both). The scripts of package.json that no other check runs, each at its smallest size, in a
# clone: some write into the tree. Lines that name ../shared are skipped where it is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
DATA=../shared/data
QUICK=(
  'bench -- --smallest'
  'leaders'
  'read:budget -- 1'
  'sbom'
  'tune:search-table -- --seeds 1 --studies 1'
  'verdicts:table -- 1'
)
LONG=(
  'calibrate:flow'
  "compare -- --tape $DATA"
  "compare:docs -- --data $DATA"
  "compare:tuned -- --data $DATA --only gemini"
  'hedge:comparison -- --seeds 1 --flow-seconds 600'
  "hedged:docs -- --data $DATA --only japan"
  'hedged:docs -- --only box --hours 0.1'
  "queue:models -- --tape $DATA/bitstamp-btcusd-2015-05-01-book-orders-trades"
  'queue:overhead -- --rounds 1 --trials 16 --seconds 3600'
  'score:flow'
  'shipped:earnings -- --only grid'
  "tape:parity -- -c config/eth_usd.yaml --tape $DATA/gemini-ethusd-2021-07-01-l1-trades --speed 20 --seconds 20"
)

[[ $# -gt 0 ]] || set -- quick long
lines=()
for part in "$@"; do
  case $part in
    quick) lines+=("${QUICK[@]}") ;;
    long)
      bash .ci/packages.sh redis-server=redis-server pg_ctlcluster=postgresql
      lines+=("${LONG[@]}") ;;
    *) echo "expected quick or long, found: $part"; exit 2 ;;
  esac
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git clone --quiet --no-hardlinks . "$work/puntas"
ln -s "$PWD/node_modules" "$work/puntas/node_modules"
[[ ! -d ../shared ]] || ln -s "$(cd ../shared && pwd)" "$work/shared"
cd "$work/puntas"
failed=0
for line in "${lines[@]}"; do
  if [[ $line == *"$DATA"* && ! -d $DATA ]]; then
    echo "skipped: npm run $line: $DATA is missing"
    continue
  fi
  began=$SECONDS
  # shellcheck disable=SC2086 # a line has several words
  if npm run --silent $line > "$work/log" 2>&1 && [[ -s $work/log ]]; then
    echo "ok   npm run $line ($((SECONDS - began)) s)"
  else
    failed=1
    echo "not ok: npm run $line, its last lines:"
    tail -n 20 "$work/log"
  fi
done
exit "$failed"
