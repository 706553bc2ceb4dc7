#!/usr/bin/env bash
# The short form of the simulation: 200 seeds, some of them twice, and the planted bugs, each of which must be found.
set -euo pipefail
cd "$(dirname "$0")/.."
out="${PUNTAS_CI_OUT:-$(mktemp -d)}/simulation.txt"
npm run --silent sim -- --seeds 200 --planted | tee "$out"
node -e "
  const s = JSON.parse(require('fs').readFileSync(process.argv[1], 'utf8').trim().split('\n').at(-1));
  const flaws = [
    [s.seeds >= 200, 'seeds'],
    [s.violations === 0, 'violations'],
    [s.mismatches === 0, 'runs of one seed that differ'],
    [s.plantedFound === s.plantedTotal && s.plantedTotal >= 15, 'planted bugs found'],
    [s.sometimesSeen === s.sometimesTotal, 'things that must happen sometimes'],
    [s.uptime.calm > 0.5, 'time with both sides quoted when nothing is wrong'],
  ].filter(([holds]) => !holds).map(([, what]) => what);
  if (flaws.length > 0) { console.error('not as promised: ' + flaws.join(', ')); process.exit(1); }
" "$out"
