#!/usr/bin/env bash
# Usage: busy.sh [TIMES [LOOPS]]. `npm test` 10 times beside 8 busy loops, unless told otherwise: prints how often it was green, and fails when it was not every time.
set -euo pipefail
cd "$(dirname "$0")/.."
times=${1:-10} loops_wanted=${2:-8}
[[ $times =~ ^[1-9][0-9]*$ && $loops_wanted =~ ^[1-9][0-9]*$ ]] || { echo "expected a number of runs and one of loops, found $*: .ci/busy.sh 10 8"; exit 2; }
loops=()
trap 'kill "${loops[@]}" 2>/dev/null || true' EXIT
for ((i = 0; i < loops_wanted; i++)); do
  while :; do :; done &
  loops+=("$!")
done
out=${PUNTAS_CI_OUT:-$(mktemp -d)}
green=0
for ((i = 1; i <= times; i++)); do
  began=$SECONDS
  if npm test > "$out/busy-$i.log" 2>&1; then
    green=$((green + 1))
    echo "run $i: green ($((SECONDS - began)) s)"
  else
    echo "run $i: NOT green ($((SECONDS - began)) s), $out/busy-$i.log:"
    grep -aE '(×|FAIL|Error:)' "$out/busy-$i.log" | head -n 20 || true
  fi
done
echo "$green of $times runs green, busy loops beside them: $loops_wanted"
[[ $green -eq $times ]]
