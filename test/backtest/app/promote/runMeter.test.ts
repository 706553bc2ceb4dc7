/** Measurements of a run for a promotion, beside sums that look at the complete history of the run. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RunMeter } from '../../../../backtest/app/promote/runMeter.ts';
import { money, signOf, type EngineEvent, type EngineNews, type Fill, type Side } from '../../../../src/core/index.ts';
import { ToyExchange } from '../../../core/toyExchange.ts';
import { plain } from '../../../core/market.ts';
import { runsOf } from '../../../many.ts';

const UNIT = 10n ** 18n;
const MINUTE_MS = 60_000;
/** Without what a float adds to a sum of money; 0 without its sign. */
const near = (sum: number): number => Math.round(sum * 1e6) / 1e6 + 0;

type FillDraw = {
  readonly side: Side;
  readonly lots: number;
  readonly fee: number;
  readonly feeIn: Fill['feeIn'];
  readonly lateMs: number;
  readonly isOwn: boolean;
};
const fillDraw: fc.Arbitrary<FillDraw> = fc.record({
  side: fc.constantFrom('buy', 'sell'),
  lots: fc.integer({ min: 1, max: 9 }),
  fee: fc.integer({ min: 0, max: 3 }),
  feeIn: fc.constantFrom('major', 'minor', 'other'),
  lateMs: fc.constantFrom(0, 400, 70_000),
  isOwn: fc.boolean(),
});
const stepDraw = fc.record({
  /** Time without a message, also longer than a fill waits for its markout. */
  ms: fc.constantFrom(0, 1, 200, 20_000, MINUTE_MS, 130_000),
  move: fc.integer({ min: -8, max: 8 }),
  empty: fc.constantFrom('bids', 'asks', null, null, null),
  fill: fc.option(fillDraw),
});

/** Everything that the meter sees of a run, in order: each input with the mid price and the quoted sides after it. */
type Seen = { readonly at: number; readonly mid: number; readonly hasBoth: boolean };

test('each fill of the bot is valued at the mid price in effect a minute after it, and each time at the quotes in effect', () => {
  fc.assert(
    fc.property(fc.array(stepDraw, { minLength: 1, maxLength: 25 }), steps => {
      const meter = new RunMeter(plain);
      const seen: Seen[] = [];
      const fills: { readonly fill: Fill; readonly input: number }[] = [];
      const hear = (news: EngineNews): void => meter.hear(news);
      const toy = new ToyExchange({ onNews: hear });
      toy.now = 1_700_000_000_000;
      meter.watch(toy.engine);
      const step = toy.engine.step.bind(toy.engine);
      let mid = Number.NaN;
      toy.engine.step = (event: EngineEvent) => {
        const commands = step(event);
        if (event.kind === 'book') {
          const [[bid] = [], [ask] = []] = [toy.bids[0], toy.asks[0]];
          if (bid !== undefined && ask !== undefined) mid = (bid + ask) / 2;
        }
        const open = toy.engine.book.liveOrders.filter(({ state }) => state === 'open' || state === 'partially filled');
        seen.push({ at: event.at, mid, hasBoth: new Set(open.map(({ side }) => side)).size === 2 });
        meter.see(event);
        return commands;
      };
      toy.open();
      let [price, last] = [1_000, 0];
      for (const { ms, move, empty, fill: draw } of steps) {
        price += move;
        toy.bids = empty === 'bids' ? [] : [[price - 10, 50]];
        toy.asks = empty === 'asks' ? [] : [[price + 10, 50]];
        if (draw !== null) {
          last = Math.max(last, toy.now - draw.lateMs);
          const fill: Fill = {
            ...{ tid: `${fills.length}`, id: draw.isOwn ? 'own' : null, oid: 'o', at: last, book: plain.symbol },
            ...{ side: draw.side, price: price as never, maker: true, feeIn: draw.feeIn },
            ...{ major: money(BigInt(draw.lots) * UNIT), minor: money(BigInt(draw.lots * price) * UNIT) },
            fee: money(BigInt(draw.fee) * UNIT),
          };
          if (draw.isOwn) fills.push({ fill, input: seen.length });
          meter.hear({ kind: 'fill', fill, level: null, gain: null });
        }
        toy.round(ms);
      }

      const net = new Map<number, { net: number; volume: number }>();
      let [judged, volume] = [0, 0];
      for (const { fill, input } of fills) {
        const due = seen.findIndex(({ at }, n) => n >= input && at >= fill.at + MINUTE_MS);
        const markout = due < 1 ? Number.NaN : seen[due - 1]!.mid;
        if (Number.isNaN(markout)) continue;
        const [lots, paid, fee] = [fill.major, fill.minor, fill.fee].map(sum => Number(sum / UNIT)) as [number, number, number]; // prettier-ignore
        const cost = fill.feeIn === 'major' ? fee * fill.price : fill.feeIn === 'minor' ? fee : 0;
        const block = Math.floor(fill.at / (2 * MINUTE_MS));
        const before = net.get(block) ?? { net: 0, volume: 0 };
        const gain = signOf(fill.side) * (markout * lots - paid) - cost;
        net.set(block, { net: before.net + gain, volume: before.volume + paid });
        judged++;
        volume += paid;
      }
      const passed = seen.slice(1).map(({ at }, i) => ({ ms: at - seen[i]!.at, hasBoth: seen[i]!.hasBoth }));
      const total = (of: typeof passed): number => of.reduce((sum, { ms }) => sum + ms, 0);
      const { volume: traded, blocks, ...rest } = meter.sums();
      const whole = blocks.map(sums => ({ net: near(sums.net), volume: near(sums.volume) }));
      expect({ ...rest, volume: near(traded), blocks: whole }).toEqual({
        ...{ from: seen[0]!.at, to: seen.at(-1)!.at, ms: total(passed), halts: [], midTicks: mid },
        bothMs: total(passed.filter(({ hasBoth }) => hasBoth)),
        ...{ fills: fills.length, judged, volume, blocks: [...net].sort(([a], [b]) => a - b).map(([, sums]) => sums) },
      });
    }),
    runsOf(1_000, 60),
  );
});

test('a halt counts unless the operator or the sentinel requested it', () => {
  for (const kind of ['halt', 'timer', 'trades'] as const) {
    const meter = new RunMeter(plain);
    meter.see({ kind: 'timer', at: 5 });
    meter.hear({ kind: 'halted', reason: 'why' });
    meter.see({ kind, at: 7 });
    meter.see({ kind: 'timer', at: 9 });
    expect(meter.sums().halts).toEqual(kind === 'halt' ? [] : [{ at: 7, reason: 'why' }]);
  }
});
