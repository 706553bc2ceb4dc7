/** Replays of a comparison: each run has the replay of its own bot, fees, model and start, and none is replayed twice. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Replays, startsOf, type Planned } from '../../../../backtest/app/compare/compareRuns.ts';
import type { ModelJob } from '../../../../backtest/app/backtest/backtestModel.ts';

const MONTH_MS = 30 * 86_400_000;
const BOTS = 3;
const TIERS = 4;
const MODELS = ['pessimistic', 'expected'] as const;
/** Tiers with an upper bound of the volume each; the two middle ones charge the same. */
const schedule = [100, 200, 300, 1e9].map((volume, i) => ({
  volume: String(volume),
  maker: ['0.005', '0.003', '0.003', '0.001'][i]!,
  taker: '0.006',
}));

/** A bot trades more the less it pays; at tiers below `runsFrom` it cannot run. */
const bot = fc.record({
  volumes: fc.array(fc.integer({ min: 1, max: 400 }), { minLength: TIERS, maxLength: TIERS }).map(all => {
    all.sort((a, b) => a - b);
    return all;
  }),
  runsFrom: fc.constantFrom(0, 0, 0, 1, 2, 3, TIERS),
});
const tier = fc.nat({ max: TIERS - 1 });
const step = fc.oneof(
  fc.record({ do: fc.constant('own' as const) }),
  fc.record({ do: fc.constant('models' as const), tier, name: fc.constantFrom('own', 'entry', 'best') }),
  fc.record({ do: fc.constant('starts' as const), tier, starts: fc.array(fc.nat({ max: 3 }), { maxLength: 3 }) }),
);

test('each run has the report of its own bot, fees, model and start, whatever was replayed before, and none is replayed twice', async () => {
  const bots = fc.array(bot, { minLength: BOTS, maxLength: BOTS });
  await fc.assert(
    fc.asyncProperty(bots, fc.array(step, { minLength: 1, maxLength: 5 }), async (drawn, steps) => {
      const planAt = (at: number, name = 'own'): readonly Planned[] =>
        drawn.map(({ runsFrom }, i) => {
          const account = at < runsFrom ? null : { fees: { tiers: [schedule[at]!], volume30d: '0' }, balances: {} };
          return { setup: { name: `bot ${i}`, config: { bot: i } }, tier: name, feeBps: 0, account } as never;
        });
      const replayed: ModelJob[] = [];
      const runner = {
        run: (jobs: readonly ModelJob[]) => {
          replayed.push(...jobs);
          const volumeOf = ({ config, fees }: ModelJob): number =>
            drawn[(config as unknown as { bot: number }).bot]!.volumes[schedule.indexOf(fees.tiers[0]!)]!;
          return Promise.resolve(jobs.map(job => ({ job, volume: { minor: String(volumeOf(job)) } })));
        },
      };
      const shared = { from: 0, to: MONTH_MS, seed: 7 };
      const tape = { shared, rows: { kind: 'memory' }, models: MODELS, runner, expected: 1, onProgress: () => null };
      const replays = new Replays(tape as never);
      type Job = Partial<ModelJob> | undefined;
      const isOf = (found: unknown, { setup, account }: Planned, wanted: readonly Job[]): void => {
        const { fees } = account ?? {};
        const jobs = account === null ? [] : wanted.map(job => ({ job: { config: setup.config, fees, ...job } }));
        expect(found).toMatchObject(jobs);
      };
      for (const one of steps) {
        if (one.do === 'models') {
          const planned = planAt(one.tier, one.name);
          const found = await replays.underModels(planned);
          planned.forEach((plan, i) =>
            isOf(
              found[i],
              plan,
              MODELS.map(model => ({ model, from: 0 })),
            ),
          );
        } else if (one.do === 'starts') {
          const planned = planAt(one.tier);
          const found = await replays.fromStarts(planned, one.starts);
          planned.forEach((plan, i) =>
            isOf(
              found[i],
              plan,
              one.starts.map(from => ({ model: 'expected', from })),
            ),
          );
        } else {
          const planned = await replays.atOwnTier(schedule, planAt);
          drawn.forEach(({ volumes, runsFrom }, i) => {
            // The best tier whose volume the bot reaches at its fees; without one, a tier at which it cannot run.
            const isReached = (at: number): boolean =>
              at >= runsFrom && (at === 0 || volumes[at]! > Number(schedule[at - 1]!.volume));
            const own = schedule.findLastIndex((_, at) => isReached(at));
            const { account } = planned[i]!;
            expect(account?.fees.tiers).toEqual(own < 0 ? undefined : [schedule[own]]);
          });
        }
      }
      const keys = replayed.map(({ config, fees, model, from }) => JSON.stringify([config, fees, model, from]));
      expect(new Set(keys).size).toBe(keys.length);
      for (const job of replayed) expect(job).toMatchObject({ to: MONTH_MS, seed: 7, csv: null });
    }),
    { numRuns: 100 },
  );
});

test('the starts are evenly spread from the first moment to the last, which is an hour later, or a quarter of a shorter span', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 2_000_000_000_000 }),
      fc.integer({ min: 0, max: 10 * 3_600_000 }),
      fc.integer({ min: 1, max: 50 }),
      (from, span, count) => {
        const starts = startsOf({ from, to: from + span }, count);
        const last = from + Math.min(3_600_000, span / 4);
        expect(starts).toHaveLength(count);
        expect(starts[0]).toBe(from);
        if (count > 1) expect(Math.abs(starts.at(-1)! - last)).toBeLessThan(1);
        const steps = starts.slice(1).map((start, i) => start - starts[i]!);
        expect(Math.max(...steps, 0) - Math.min(...steps, Infinity)).toBeLessThanOrEqual(1);
      },
    ),
  );
});
