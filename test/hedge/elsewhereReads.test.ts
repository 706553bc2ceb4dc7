/** Reads of the balances on the other exchange: when each is due, how old the balances count, and what a stop may say. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { moneyOf, textOfMoney, VirtualClock, type Money, type Outcome } from '../../src/core/index.ts';
import { ElsewhereReads } from '../../src/hedge/elsewhereReads.ts';
import { TwoToyExchanges } from '../core/twoToyExchanges.ts';
import { memoryLog } from '../memoryLog.ts';

type Balances = Outcome<readonly { currency: string; total: string; locked: string; available: string }[]>;
const SOON_MS = 2_000;
const EVERY_MS = 10_000;
const UNREAD_MS = 60_000;

/** Reads of an exchange that answers after `latencyMs` with the true balances of that time; `hedge` is the state of the hedges. */
function reads() {
  const clock = new VirtualClock();
  const { log } = memoryLog();
  const two = new TwoToyExchanges();
  two.toy.open();
  const [opened, from] = [two.toy.now, clock.elapsed()];
  const time = () => opened + clock.elapsed() - from;
  const state = { fails: false, latencyMs: 10, hedge: 0, rate: moneyOf('18.25') as Money | null };
  const started: number[] = [];
  const ended: number[] = [];
  const compared: boolean[] = [];
  let explained = 0;
  const answer = (): Balances => {
    ended.push(clock.elapsed());
    if (state.fails) return { kind: 'unknown', reason: 'no answer' };
    const rows = [...two.truth].map(([currency, sum]) => {
      const total = textOfMoney(sum);
      return { currency, total, locked: '0', available: total };
    });
    return { kind: 'done', value: rows };
  };
  const place = {
    name: 'binance',
    client: {
      balances: () => {
        started.push(clock.elapsed());
        return new Promise<Balances>(resolve => clock.after(state.latencyMs, () => resolve(answer())));
      },
    },
  };
  const elsewhereReads = new ElsewhereReads({
    run: { clock, log, time, step: event => void two.toy.engine.step(event) },
    engine: two.toy.engine,
    place,
    currencies: ['btc', 'usdt'],
    hedgeState: () => String(state.hedge),
    rate: () => state.rate,
    ...{ firstHedges: () => undefined, unusable: () => null, onUnread: () => undefined },
    onQuiet: () => void explained++,
    onCompared: agrees => void compared.push(agrees),
  });
  return { clock, two, state, started, ended, compared, elsewhereReads, explained: () => explained };
}

test('a read is due soon after a failure, a difference, a new rate or a change of the hedges, also one during the last read, and else at its interval', async () => {
  const turn = fc.record({
    fails: fc.boolean(),
    differs: fc.boolean(),
    hedges: fc.constantFrom('before', 'during', null, null),
    hasRate: fc.constantFrom(true, true, true, false),
    latencyMs: fc.integer({ min: 10, max: 900 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { minLength: 2, maxLength: 8 }), async turns => {
      const { clock, two, state, started, ended, compared, elsewhereReads, explained } = reads();
      const usdt = two.truth.get('usdt')!;
      let isSoon = true;
      let last = -Infinity;
      for (const { fails, differs, hedges, hasRate, latencyMs } of turns) {
        Object.assign(state, { fails, latencyMs });
        if (hedges === 'before') state.hedge++;
        // A rate that becomes known makes a read due; one that is lost does not.
        const isNewRate = state.rate === null && hasRate;
        state.rate = hasRate ? moneyOf('18.25') : null;
        const isFirst = two.toy.engine.elsewhere?.view.isOpen !== true;
        two.truth.set('usdt', (usdt + (differs && !isFirst ? 10n ** 18n : 0n)) as Money);
        const due = last + (isSoon || isNewRate || hedges === 'before' ? SOON_MS : EVERY_MS);
        const [before, explains] = [started.length, explained()];
        while (started.length === before && clock.elapsed() < Math.max(due, 0) + 1_000) {
          void elsewhereReads.readWhenDue();
          await clock.advance(0);
          if (started.length === before) await clock.advance(100);
        }
        expect(started.length).toBe(before + 1);
        last = started.at(-1)!;
        expect(last).toBeGreaterThanOrEqual(due);
        expect(last).toBeLessThanOrEqual(Math.max(due, 0) + 100);
        if (hedges === 'during') state.hedge++;
        await clock.advance(latencyMs);
        expect(ended.length).toBe(started.length);
        const quiet = hedges !== 'during';
        // Each quiet read is one comparison, also the one that opens the ledger.
        expect(compared.splice(0)).toEqual(fails || !quiet ? [] : [isFirst || !differs]);
        // Transfers explain differences of quiet reads only.
        expect(explained() - explains).toBe(!fails && quiet ? 1 : 0);
        const { view } = two.toy.engine.elsewhere!;
        const isCompared = view.isReconciled && view.checked !== null && view.differences().length === 0;
        isSoon = fails || !quiet || !isCompared;
      }
    }),
    { numRuns: 20 },
  );
});

test('no hedge is sent there from a minute after the start of the last read that succeeded', async () => {
  const read = fc.record({
    fails: fc.boolean(),
    latencyMs: fc.integer({ min: 10, max: 70_000 }),
    pauseMs: fc.integer({ min: 100, max: 70_000 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(read, { minLength: 2, maxLength: 8 }), async all => {
      const { clock, state, elsewhereReads } = reads();
      let readAt = clock.elapsed();
      for (const { fails, latencyMs, pauseMs } of all) {
        Object.assign(state, { fails, latencyMs });
        const startedAt = clock.elapsed();
        void elsewhereReads.read();
        await clock.advance(latencyMs);
        if (!fails) readAt = startedAt;
        expect(elsewhereReads.unread !== null).toBe(clock.elapsed() - readAt > UNREAD_MS);
        await clock.advance(pauseMs);
        expect(elsewhereReads.unread !== null).toBe(clock.elapsed() - readAt > UNREAD_MS);
        if (fails && elsewhereReads.unread !== null) expect(elsewhereReads.unread).toMatch(/: no answer$/);
      }
    }),
    { numRuns: 30 },
  );
});

test('a stop says that the balances there match only after a quiet read without a difference, and nothing without any quiet read', async () => {
  const answer = fc.constantFrom('equal', 'differs', 'fails', 'hedge');
  await fc.assert(
    fc.asyncProperty(fc.array(answer, { minLength: 10, maxLength: 10 }), async answers => {
      const { clock, two, state, ended, elsewhereReads } = reads();
      const usdt = two.truth.get('usdt')!;
      await Promise.all([elsewhereReads.read(), clock.advance(100)]);
      const before = ended.length;
      let match: boolean | null | undefined;
      void elsewhereReads.match().then(found => (match = found));
      for (let n = 0; n < 200 && match === undefined; n++) {
        const next = answers[ended.length - before];
        state.fails = next === 'fails';
        if (next === 'hedge') state.hedge++;
        two.truth.set('usdt', (usdt + (next === 'differs' ? 10n ** 18n : 0n)) as Money);
        const was = ended.length;
        for (let ms = 0; ms < 600 && ended.length === was; ms += 5) {
          if (next === 'hedge') state.hedge++;
          await clock.advance(5);
        }
      }
      await clock.advance(1_000);
      const last = answers.slice(0, ended.length - before);
      expect(match).toBe(last.at(-1) === 'equal' ? true : last.includes('differs') ? false : null);
      expect(last.slice(0, -1)).not.toContain('equal');
    }),
    { numRuns: 20 },
  );
});
