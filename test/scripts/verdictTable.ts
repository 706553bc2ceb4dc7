/** Errors of verdicts in markets without an edge, and planted edges found by hours of data: `verdictTable.js [SEEDS [WORLD...]]`. */
import { checksWithin, quoteVerdictOf, type DistanceProfile } from '../../backtest/index.ts';
import { randomOf } from '../../src/core/index.ts';
import { FEE_BPS, NO_EDGE, plantedProfiles, type PlantedExecutions } from '../backtest/profile/plantedExecutions.ts';

const HOUR_MS = 3_600_000;
const HOURS = [2, 4, 8, 24, 72];
const NO_EDGES: Readonly<Record<string, Partial<PlantedExecutions>>> = {
  plain: {},
  informed: { informed: { share: 0.05, bps: 60 } },
  few: { perHour: 12 },
  days: { dayBps: 3, perHour: 30 },
};
const EDGES = [1, 2, 5, 10];

const [count = '20', ...names] = process.argv.slice(2);
const seeds = Array.from({ length: Number(count) }, (_, i) => i + 1);
const isAsked = (name: string): boolean => names.length === 0 || names.includes(name);
const share = (n: number): string => `${((100 * n) / seeds.length).toFixed(1)}%`;

const quotes = (profile: DistanceProfile, seed: number, error?: number): boolean =>
  quoteVerdictOf(profile, {
    ...{ feeBps: FEE_BPS, random: randomOf(seed) },
    ...(error !== undefined && { error }),
  }).quote;

/** Returns the hours of the check that quotes; `null` if none does. */
function quotedAfter(seed: number, hours: number, truth: PlantedExecutions): number | null {
  const checks = checksWithin(hours * HOUR_MS);
  const profiles = plantedProfiles(
    seed,
    checks.map(({ atMs }) => atMs / HOUR_MS),
    truth,
  );
  const found = profiles.findIndex((profile, i) => quotes(profile, seed, checks[i]!.error));
  return found < 0 ? null : checks[found]!.atMs / HOUR_MS;
}

for (const [name, over] of Object.entries(NO_EDGES)) {
  if (!isAsked(name)) continue;
  const hours = name === 'days' ? 120 : 24;
  const truth = { ...NO_EDGE, ...over };
  const isQuoted = (seed: number): boolean =>
    name === 'days'
      ? quotes(plantedProfiles(seed, [hours], truth)[0]!, seed)
      : quotedAfter(seed, hours, truth) !== null;
  const wrong = seeds.filter(isQuoted).length;
  console.log(
    `no edge, ${name}, ${name === 'days' ? `one check after ${hours} h` : `checks on the way up to ${hours} h`}: quoted in ${wrong} of ${seeds.length} (${share(wrong)})`,
  );
}

for (const marginBps of EDGES) {
  if (!isAsked(`+${marginBps}`)) continue;
  const truth = { ...NO_EDGE, marginBps, curvatureBps: 3 };
  const found = HOURS.map(() => 0);
  const after: number[] = [];
  for (const seed of seeds) {
    plantedProfiles(seed, HOURS, truth).forEach((profile, i) => {
      if (quotes(profile, seed)) found[i]!++;
    });
    const hours = quotedAfter(seed, HOURS.at(-1)!, truth);
    if (hours !== null) after.push(hours);
  }
  const median = after.sort((a, b) => a - b)[Math.floor((after.length - 1) / 2)] ?? Number.NaN;
  console.log(
    `+${marginBps} bps: one check after ${HOURS.map((hours, i) => `${hours} h ${share(found[i]!)}`).join(', ')}; with checks on the way up to 72 h ${share(after.length)}, median ${median} h`,
  );
}
