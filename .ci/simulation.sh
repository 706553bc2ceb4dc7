#!/usr/bin/env bash
# The short form of the simulation: 200 seeds, every tenth again in another process, and the planted bugs, each of which must be found; then a thousand
# changes of the configuration of bots that run, good and bad; then persons who act on bots that run, at bad moments.
set -euo pipefail
cd "$(dirname "$0")/.."
out="${PUNTAS_CI_OUT:-$(mktemp -d)}/simulation.txt"
began=$SECONDS
status=0
npm run --silent sim -- --seeds 200 --planted | tee "$out" || status=$?
node -e "
  const s = JSON.parse(require('fs').readFileSync(process.argv[1], 'utf8').trim().split('\n').at(-1));
  const flaws = [
    [s.seeds >= 200, 'at least 200 seeds, found ' + s.seeds],
    [s.violations === 0, 'no violation, found ' + s.violations],
    [s.compared >= 20 && s.mismatches === 0, 'the same trace of a seed in another process, found ' + s.mismatches + ' that differ of ' + s.compared],
    [s.plantedFound === s.plantedTotal && s.plantedTotal >= 25, 'every planted bug found, found ' + s.plantedFound + ' of ' + s.plantedTotal],
    [s.sometimesSeen === s.sometimesTotal, 'everything that must happen sometimes, seen ' + s.sometimesSeen + ' of ' + s.sometimesTotal],
    [s.uptime.calm > 0.95, 'both sides quoted 95 % of the time when nothing is wrong, found ' + s.uptime.calm],
  ].filter(([holds]) => !holds).map(([, what]) => what);
  for (const flaw of flaws) console.error('expected ' + flaw);
  if (flaws.length > 0) process.exit(1);
" "$out"
if [[ $status != 0 ]]; then echo "the simulation ended with $status" >&2; exit "$status"; fi
changes="${out%.txt}-reloads.txt"
npm run --silent sim -- --seeds 40 --reloads | tee "$changes" || status=$?
node -e "
  const s = JSON.parse(require('fs').readFileSync(process.argv[1], 'utf8').trim().split('\n').at(-1));
  const { asked, taken, refused } = s.reloads;
  const flaws = [
    [asked >= 1000, 'a thousand changes of the configuration, found ' + asked],
    [taken >= 200 && refused >= 200, 'good and bad ones, found ' + taken + ' taken and ' + refused + ' refused'],
    [s.violations === 0 && s.mismatches === 0, 'no violation and no mismatch, found ' + s.violations + ' and ' + s.mismatches],
  ].filter(([holds]) => !holds).map(([, what]) => what);
  for (const flaw of flaws) console.error('expected ' + flaw);
  if (flaws.length > 0) process.exit(1);
" "$changes"
if [[ $status != 0 ]]; then echo "the simulation with changes of the configuration ended with $status" >&2; exit "$status"; fi
actions="${out%.txt}-actions.txt"
npm run --silent sim -- --seeds 10 --actions | tee "$actions" || status=$?
node -e "
  const s = JSON.parse(require('fs').readFileSync(process.argv[1], 'utf8').trim().split('\n').at(-1));
  const { asked, refused, wrong, unseen } = s.actions;
  const flaws = [
    [asked >= 500, 'five hundred actions of persons, found ' + asked],
    [refused >= 50 && wrong >= 10, 'some that were refused or asked wrongly, found ' + refused + ' and ' + wrong],
    [unseen.length === 0, 'everything that must happen where persons act, never seen: ' + unseen.join('; ')],
    [s.violations === 0 && s.mismatches === 0, 'no violation and no mismatch, found ' + s.violations + ' and ' + s.mismatches],
  ].filter(([holds]) => !holds).map(([, what]) => what);
  for (const flaw of flaws) console.error('expected ' + flaw);
  if (flaws.length > 0) process.exit(1);
" "$actions"
if [[ $status != 0 ]]; then echo "the simulation with actions of persons ended with $status" >&2; exit "$status"; fi
echo "simulated in $((SECONDS - began)) s"
