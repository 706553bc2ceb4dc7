/** Proof by the balances in the recordings about a hedge of unknown outcome. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import Database from 'libsql';
import { afterAll, expect, test } from 'vitest';
import { hedgeEvidence, settleHedge } from '../../../src/app/inspect/settleHedge.ts';
import {
  money,
  moneyOf,
  sumOfCauses,
  textOfMoney,
  type HedgeRow,
  type HedgeState,
  type Millis,
  type PlacedOrder,
} from '../../../src/core/index.ts';
import { ledgerOf, textOfLedger } from '../../../src/live/recording/ledgerText.ts';
import { LineWriter } from '../../../src/live/recording/recording.ts';
import { readRecording, recorderIn, recordingsIn } from '../../../src/live/recording/recordings.ts';
import { realClock } from '../../../src/live/realClock.ts';
import { ledgerFileIn } from '../../../src/live/state/ledgerFile.ts';
import { sumOf } from '../../../src/live/state/rowChecksums.ts';
import { STATE_FILE } from '../../../src/live/state/stateFile.ts';
import { started, worldOf, type World } from '../../live/world.ts';
import { runsOf } from '../../many.ts';

const clock = realClock();
const worlds: World[] = [];
afterAll(() => worlds.forEach(world => world.end()));

/** Leaves the ledger of a run and removes its recordings; the sums of base and quote are those at a place. */
async function ledgerOnly(name?: string, [base, quote]: readonly [string, string] = ['btc', 'mxn']) {
  const world = worldOf(5, {}, name);
  worlds.push(world);
  const { config, stateDir: dir } = world;
  const running = await started(world);
  await world.clock.advance(3_000);
  await running.stop();
  const [{ run } = { run: 0 }] = recordingsIn(dir);
  const { setup } = readRecording(dir, run)!.of;
  clear(dir);
  const { causes } = (await ledgerFileIn(dir, clock))!;
  const heldOf = (currency: string): bigint => sumOfCauses(causes.get(currency)!);
  return { dir, config, setup, base: heldOf(base), quote: heldOf(quote) };
}
const clear = (dir: string): void => recordingsIn(dir).forEach(({ run }) => rmSync(join(dir, `run-${run}.rec`)));
const balance = (currency: string, sum: bigint) => {
  const total = textOfMoney(money(sum));
  return { currency, available: total, locked: '0', total };
};

const GAVE = moneyOf('0.08');
const GOT = moneyOf('120000');
const offer = (id: string): HedgeRow['offer'] => ({
  ...{ way: 'conversion', id, lifeMs: 5_000 },
  give: { currency: 'btc', amount: textOfMoney(GAVE) },
  get: { currency: 'mxn', amount: textOfMoney(GOT) },
});
const rowOf = (id: string, at: Millis, state: HedgeState, leg: 1 | 2 | null): HedgeRow => ({
  ...{ id, at, state, amount: '0.08', weighed: [], acceptedAt: null, conversionId: null, why: null },
  offer: state === 'requested' ? null : offer(id),
  ...(leg === null ? {} : { route: { via: 'usd', leg, holds: '1', worth: '1', least: '1', until: null } }),
});

/** States of a hedge, each with its leg, until nobody knows its outcome. */
const PATHS: readonly (readonly (readonly [HedgeState, 1 | 2 | null])[])[] = [
  [['requested', null], ['quoted', null], ['accepted', null], ['unknown', null]], // prettier-ignore
  [['requested', null], ['accepted', null]], // prettier-ignore
  [['requested', 1], ['accepted', 1], ['executing', 1], ['between', 1], ['accepted', 2], ['unknown', 2]], // prettier-ignore
];
/** Amounts that a read of the balances finds: the ledger's, those after the conversion, the ledger's of one currency only, or others. */
type Found = 'failed' | 'completed' | 'half' | null;
const step = fc.record({
  afterMs: fc.constantFrom(0, 1, 3_000, 100_000),
  what: fc.constantFrom<'hedge' | 'other' | 'read' | 'run'>('hedge', 'hedge', 'read', 'read', 'other', 'run'),
  found: fc.constantFrom<Found>('failed', 'completed', 'half', null),
});

test('balances are evidence only if those of both currencies were read after the last acceptance, in whichever run', async () => {
  const { dir, ...held } = await ledgerOnly();
  const { requestDelayMaxMs, tradeReportDelayMaxMs } = held.config.timing;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...PATHS),
      fc.array(step, { minLength: 4, maxLength: 14 }),
      fc.array(step, { maxLength: 2 }),
      async (path, steps, afterwards) => {
        clear(dir);
        let [at, run, done, other] = [1_700_000_000_000, 1, 0, 0];
        let acceptedAt = Infinity;
        const reads: { readonly at: Millis; readonly found: Found; readonly btc: bigint }[] = [];
        const writer = new LineWriter();
        let recorder = recorderIn(dir, { run, startedAt: at, setup: held.setup, format: 2 });
        const hedge = (id: string, [state, leg]: (typeof PATHS)[number][number]): void =>
          recorder.write([writer.input({ kind: 'hedge', at, row: rowOf(id, at, state, leg) })]);
        const rest = path.map(() => ({ afterMs: 7, what: 'hedge', found: null }) as const);
        for (const { afterMs, what, found } of [...steps, ...rest, ...afterwards]) {
          at += afterMs;
          if (what === 'run') {
            recorder.close();
            recorder = recorderIn(dir, { run: ++run, startedAt: at, setup: held.setup, format: 2 });
          } else if (what === 'hedge' && done < path.length) {
            if (path[done]![0] === 'accepted') acceptedAt = at;
            hedge('this', path[done++]!);
          } else if (what === 'other') {
            const [state, leg] = PATHS[0]![other++ % 3]!;
            hedge('other', [state, leg]);
          } else if (what === 'read') {
            const btc = found === 'completed' ? held.base - GAVE : found === null ? held.base + 1n : held.base;
            const mxn = found === 'completed' ? held.quote + GOT : found === 'failed' ? held.quote : held.quote + 1n;
            const balances = [balance('btc', btc), ...(found === 'half' ? [] : [balance('mxn', mxn)])];
            recorder.write([writer.input({ kind: 'balances', at: at + 5_000, startedAt: at, balances } as never)]);
            reads.push({ at, found, btc });
          }
        }
        recorder.close();
        const last = reads.at(-1);
        const shown = last !== undefined && last.at > acceptedAt && last.found !== 'half' ? last.found : null;
        const isProven = shown !== 'failed' || last!.at - acceptedAt >= requestDelayMaxMs + tradeReportDelayMaxMs;
        const says = isProven ? shown : null;
        const before = reads.findLast(one => one.at < acceptedAt);
        const text = (await hedgeEvidence(dir, 'this', clock)).join('\n');
        expect(text).toContain(
          says === null
            ? 'the balances do not show the outcome'
            : `outcome according to the balances: ${says === 'completed' ? 'executed' : 'failed'}`,
        );
        expect(text).toContain(
          `btc: exchange balance before the hedge: ${before === undefined ? 'not read' : textOfMoney(money(before.btc))}`,
        );
        if (says === null) return;
        const contrary = says === 'completed' ? 'failed' : 'executed';
        const ask = { id: 'this', as: contrary, reason: 'the contrary', by: 'ana' } as const;
        await expect(settleHedge(dir, ask, clock)).rejects.toThrow(`the balances contradict the outcome ${contrary}`);
      },
    ),
    {
      ...runsOf(1_000, 25),
      examples: [[PATHS[0]!, [], [{ afterMs: 3_000, what: 'read', found: 'half' }]]],
    },
  );
});

/** Order there that the same amounts belong to. */
const placed: PlacedOrder = {
  ...{ place: 'binance', account: 'an account', rate: '17' },
  order: { id: 'an-order', book: 'btc_usdt', side: 'sell', price: '1500000', amount: textOfMoney(GAVE) },
};
const THERE = { base: '0.08', quote: '120000', fee: '0 usdt' } as const;

test.each([
  ['a conversion', undefined, ['btc', 'mxn']],
  ['an order on the other exchange', 'elsewhere', ['btc@binance', 'usdt@binance']],
] as const)(
  'the true outcome of %s is never refused, whenever it was executed and the balances were read last; later the false one is',
  async (_, name, currencies) => {
    const { dir, config, setup, ...held } = await ledgerOnly(name, currencies);
    const { requestDelayMaxMs, tradeReportDelayMaxMs } = config.timing;
    const listedMs = config.hedge?.elsewhere?.listingDelayMs ?? tradeReportDelayMaxMs;
    const at = 1_700_000_000_000;
    const [base, quote] = currencies.map(currency => currency.split('@')[0]!);
    const isThere = name !== undefined;
    await fc.assert(
      fc.asyncProperty(
        fc.option(fc.integer({ min: 0, max: requestDelayMaxMs })),
        fc.integer({ min: 0, max: listedMs }),
        fc.oneof(
          fc.integer({ min: 1, max: 2 * (requestDelayMaxMs + listedMs) }),
          fc.integer({ min: 600_000 + listedMs, max: 900_000 }),
        ),
        async (executedAfter, listedAfter, readAfter) => {
          clear(dir);
          const writer = new LineWriter();
          const recorder = recorderIn(dir, { run: 1, startedAt: at, setup, format: 2 });
          const way = {
            ...offer('this')!,
            way: 'elsewhere',
            get: { currency: quote!, amount: textOfMoney(GOT) },
          } as const;
          const there = isThere ? { offer: way, elsewhere: placed } : {};
          const row = { ...rowOf('this', at, 'accepted', null), ...there };
          const isShown = executedAfter !== null && readAfter >= executedAfter + listedAfter;
          const balances = [
            balance(base!, isShown ? held.base - GAVE : held.base),
            balance(quote!, isShown ? held.quote + GOT : held.quote),
          ];
          const startedAt = at + readAfter;
          const read = {
            kind: 'balances',
            at: startedAt,
            startedAt,
            balances,
            ...(isThere ? { place: 'binance' } : {}),
          };
          recorder.write([writer.input({ kind: 'hedge', at, row }), writer.input(read as never)]);
          recorder.close();
          const settled = (as: 'executed' | 'failed') =>
            settleHedge(
              dir,
              { id: 'this', as, reason: 'seen there', by: 'ana', ...(isThere && as === 'executed' ? THERE : {}) },
              clock,
            );
          const [is, isNot] =
            executedAfter === null ? (['failed', 'executed'] as const) : (['executed', 'failed'] as const);
          expect((await settled(is)).at(-1)).toContain(`settle this as ${is}`);
          const isLate = readAfter >= 600_000 + listedMs;
          if (isShown || isLate)
            await expect(settled(isNot)).rejects.toThrow(
              `the balances contradict the outcome ${isNot}; ${isThere ? 'check the history of order an-order at binance' : 'a running bot'}`,
            );
        },
      ),
      {
        ...runsOf(500, 15),
        // Read 2 s after the acceptance, and executed a second later.
        examples: [[3_000, 0, 2_000]],
      },
    );
  },
);

test('an execution is accepted with the amount of its order history, rounded in any direction, and not with a worse one', async () => {
  const { dir, setup } = await ledgerOnly('elsewhere', ['btc@binance', 'usdt@binance']);
  const at = 1_700_000_000_000;
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1_000, max: 9_999_999 }),
      fc.integer({ min: 1, max: 8_000_000 }),
      fc.constantFrom('sell', 'buy'),
      fc.integer({ min: 5, max: 8 }),
      fc.boolean(),
      async (ticks, lots, side, decimals, isUp) => {
        clear(dir);
        const price = textOfMoney(money(BigInt(ticks) * 10n ** 16n));
        const base = money(BigInt(lots) * 10n ** 10n);
        const order = { ...placed.order, side, price } as const;
        const way = {
          ...offer('this')!,
          way: 'elsewhere',
          get: { currency: 'usdt', amount: textOfMoney(GOT) },
        } as const;
        const row = { ...rowOf('this', at, 'accepted', null), offer: way, elsewhere: { ...placed, order } };
        const recorder = recorderIn(dir, { run: 1, startedAt: at, setup, format: 2 });
        recorder.write([new LineWriter().input({ kind: 'hedge', at, row })]);
        recorder.close();
        const unit = 10n ** BigInt(18 - decimals);
        const exact = BigInt(ticks) * BigInt(lots) * 10n ** 8n;
        const count = (exact + (isUp ? unit - 1n : 0n)) / unit;
        const settled = (units: bigint) =>
          settleHedge(
            dir,
            {
              ...{
                id: 'this',
                as: 'executed',
                reason: 'seen there',
                by: 'ana',
                base: textOfMoney(base),
                fee: '0 usdt',
              },
              quote: `${units / 10n ** BigInt(decimals)}.${String(units % 10n ** BigInt(decimals)).padStart(decimals, '0')}`,
            },
            clock,
          );
        if (count === 0n) return;
        expect((await settled(count)).at(-1)).toContain('settle this as executed');
        const worse = side === 'sell' ? count - 3n : count + 3n;
        if (worse > 0n) await expect(settled(worse)).rejects.toThrow('--quote: expected at');
      },
    ),
    runsOf(300, 15),
  );
});

test('a balance that differs from the ledger by rounding shows that nothing was executed', async () => {
  const { dir, setup, config, base, quote } = await ledgerOnly('elsewhere', ['btc@binance', 'usdt@binance']);
  const db = new Database(join(dir, STATE_FILE));
  const { account, mark } = db.prepare('SELECT account, mark FROM marks').get() as { account: string; mark: string };
  const written = JSON.parse(mark) as { ledger: string };
  const ledger = ledgerOf(written.ledger);
  const roundings = new Map([['usdt@binance', { decimals: 4, amounts: 2 }]]);
  const changed = JSON.stringify({ ...written, ledger: textOfLedger({ ...ledger, roundings }) });
  db.prepare('UPDATE marks SET mark = ?, sum = ?').run(changed, sumOf(account, changed));
  db.close();
  const at = 1_700_000_000_000;
  const startedAt = at + 600_000 + config.hedge!.elsewhere!.listingDelayMs + 1;
  for (const [rest, isFailed] of [
    ['0.0002', true],
    ['-0.0002', true],
    ['0.00021', false],
  ] as const) {
    clear(dir);
    const way = { ...offer('this')!, way: 'elsewhere', get: { currency: 'usdt', amount: textOfMoney(GOT) } } as const;
    const row = { ...rowOf('this', at, 'accepted', null), offer: way, elsewhere: placed };
    const balances = [balance('btc', base), balance('usdt', quote + moneyOf(rest))];
    const writer = new LineWriter();
    const recorder = recorderIn(dir, { run: 1, startedAt: at, setup, format: 2 });
    const read = { kind: 'balances', at: startedAt, startedAt, balances, place: 'binance' };
    recorder.write([writer.input({ kind: 'hedge', at, row }), writer.input(read as never)]);
    recorder.close();
    const text = (await hedgeEvidence(dir, 'this', clock)).join('\n');
    expect(text).toContain(isFailed ? 'according to the balances: failed' : 'the balances do not show the outcome');
  }
});
