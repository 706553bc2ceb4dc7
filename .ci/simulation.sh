#!/usr/bin/env bash
# Usage: simulation.sh [smoke | seeds | reloads | actions | elsewhere | books]... (default: the last five). Simulated exchange, wire and bot with everything going wrong.
#   smoke    40 seeds, and 10 with several books; every tenth again in another process
#   seeds    200 seeds, every tenth again in another process, and the planted bugs, each of which must be found
#   reloads  a thousand changes of the configuration of running bots, good and bad
#   actions  operators who act on running bots at bad moments
#   elsewhere  hedges on a second exchange with faults of its own
#   books    several books of one account, which operators stop one by one
set -euo pipefail
cd "$(dirname "$0")/.."
out="${PUNTAS_CI_OUT:-$(mktemp -d)}"

# Usage: simulated NAME CHECK OPTIONS... CHECK is the JavaScript of an array of [holds, what is expected] over the last line, `s`.
simulated() {
  local file="$out/simulation-$1.txt" status=0
  npm run --silent sim -- "${@:3}" | tee "$file" || status=$?
  node -e "
    const s = JSON.parse(require('fs').readFileSync(process.argv[1], 'utf8').trim().split('\n').at(-1));
    const flaws = [
      [s.violations === 0, 'no violation, found ' + s.violations],
      [s.compared >= 1 && s.mismatches === 0, 'the same trace of a seed in another process, found ' + s.mismatches + ' that differ of ' + s.compared],
      ...$2
    ].filter(([holds]) => !holds).map(([, what]) => what);
    for (const flaw of flaws) console.error('not ok: expected ' + flaw);
    process.exit(flaws.length);
  " "$file"
  [[ $status == 0 ]] || { echo "not ok: the simulation ended with $status"; exit "$status"; }
}

[[ $# -gt 0 ]] || set -- seeds reloads actions elsewhere books
for part in "$@"; do
  case $part in
    smoke)
      simulated smoke "[
        [s.seeds === 40 && s.compared === 4, '40 seeds and 4 compared, found ' + s.seeds + ' and ' + s.compared],
      ]" --seeds 40
      simulated smoke-books "[
        [s.books.ofOneBook >= 20, 'twenty stops of one book, found ' + s.books.ofOneBook],
      ]" --seeds 10 --books ;;
    seeds)
      simulated seeds "[
        [s.seeds >= 200 && s.compared >= 20, 'at least 200 seeds and 20 compared, found ' + s.seeds + ' and ' + s.compared],
        [s.plantedFound === s.plantedTotal && s.plantedTotal >= 25, 'every planted bug found, found ' + s.plantedFound + ' of ' + s.plantedTotal],
        [s.sometimesSeen === s.sometimesTotal, 'everything that must happen sometimes, seen ' + s.sometimesSeen + ' of ' + s.sometimesTotal],
        [s.uptime.calm > 0.95, 'both sides quoted 95% of the time when nothing is wrong, found ' + s.uptime.calm],
      ]" --seeds 200 --planted ;;
    reloads)
      simulated reloads "[
        [s.reloads.asked >= 1000, 'a thousand changes of the configuration, found ' + s.reloads.asked],
        [s.reloads.taken >= 200 && s.reloads.refused >= 200, 'good and bad ones, found ' + s.reloads.taken + ' taken and ' + s.reloads.refused + ' refused'],
      ]" --seeds 40 --reloads ;;
    actions)
      simulated actions "[
        [s.actions.asked >= 500, 'five hundred actions of operators, found ' + s.actions.asked],
        [s.actions.refused >= 50 && s.actions.wrong >= 10, 'some that were refused or asked wrongly, found ' + s.actions.refused + ' and ' + s.actions.wrong],
        [s.actions.unseen.length === 0, 'everything that must happen where operators act, never seen: ' + s.actions.unseen.join('; ')],
      ]" --seeds 20 --actions ;;
    elsewhere)
      simulated elsewhere "[
        [s.elsewhere.sent >= 200, 'two hundred hedges on the second exchange, found ' + s.elsewhere.sent],
        [s.elsewhere.partial >= 40 && s.elsewhere.failed >= 20, 'some that filled in part or not at all, found ' + s.elsewhere.partial + ' and ' + s.elsewhere.failed],
        [s.elsewhere.unseen.length === 0, 'everything that must happen there, never seen: ' + s.elsewhere.unseen.join('; ')],
      ]" --seeds 40 --elsewhere ;;
    books)
      simulated books "[
        [s.books.asked >= 300 && s.books.ofOneBook >= 200, 'three hundred stops and resumes, most of one book, found ' + s.books.asked + ' and ' + s.books.ofOneBook],
        [s.books.fills >= 200, 'two hundred fills, found ' + s.books.fills],
      ]" --seeds 40 --books ;;
    *) echo "expected smoke, seeds, reloads, actions, elsewhere or books, found: $part"; exit 2 ;;
  esac
done
