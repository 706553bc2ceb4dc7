#!/usr/bin/env bash
# The golden run on the whole reference tape: every count and amount as an independent engine has them. Where its generator lies: PUNTAS_BENCH.
set -euo pipefail
cd "$(dirname "$0")/.."
bench="${PUNTAS_BENCH:-../shared/bench}"
if [[ ! -f $bench/gen-tape.mjs ]]; then
  echo "skipped: the generator of the reference tape is not at $bench (PUNTAS_BENCH says where it is)"
  exit 77
fi
dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
node "$bench/gen-tape.mjs" 10000000 "$dir/tape" >/dev/null
echo "576e6b6268391c5129a94588fe2989483675065179b71257f22789b15c41f484  $dir/tape.bin" | sha256sum --check --quiet
npm run --silent golden -- --tape "$dir/tape.bin" --store "$dir/tape"
for tape in "$dir/tape.bin" "$dir/tape"; do
  npm run --silent golden -- --tape "$tape" --half-spread 2 --interval-ms 100 | tee "$dir/out.json"
  node -e '
    const got = JSON.parse(require("fs").readFileSync(process.argv[1], "utf8"));
    const want = { steps: 672892, submits: 1001336, cancels: 788729, fills: 251789, position: 0.05, balance: 1698.1, fee: -3816.8944, volume: 12589.45, events: 10000000 };
    require("assert").deepStrictEqual(Object.fromEntries(Object.keys(want).map(key => [key, got[key]])), want);
  ' "$dir/out.json"
done
echo 'the golden run equals the reference in every count and amount, in memory and from a stored tape'
