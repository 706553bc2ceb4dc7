import { mkdirSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { money, moneyOf, type HedgeRow } from '../../../src/core/index.ts';
import type { Hedger } from '../../../src/hedge/index.ts';
import { NumberedMailbox } from '../../../src/live/mailbox/mailbox.ts';
import type { MailMessage } from '../../../src/live/mailbox/kinds.ts';
import { applyPendingSettlements, settledWhy } from '../../../src/live/state/settlements.ts';
import { rowOf } from '../../hedge/hedgeRows.ts';
import { memoryLog } from '../../memoryLog.ts';
import { AT, Folders } from '../states.ts';

const folders = new Folders();
afterAll(() => folders.clear());

type Settle = MailMessage<'settle'>;
type Taken = ReturnType<Hedger['settleAs']>;

/** A statement about the hedge of this number. */
const said = (n: number): Settle => ({
  ...{ id: `h${n}`, as: n % 2 === 0 ? 'failed' : 'executed', by: `ann ${n}`, reason: `seen ${n}`, at: AT + n },
});

/** A mailbox with a statement for each number, and its call, with what it has left and has said. */
function called(
  count: number,
  run: { readonly hedger: Hedger | null; readonly kept?: readonly HedgeRow[] },
  disk: () => boolean,
) {
  const dir = folders.fresh();
  mkdirSync(dir);
  const box = new NumberedMailbox(dir, 'settle');
  for (let n = count - 1; n >= 0; n--) box.put(said(n));
  const { log, texts } = memoryLog();
  const waits: string[] = [];
  const connectivity = { say: (_: string, { id }: { readonly id: string }) => void waits.push(id) } as never;
  applyPendingSettlements(box, { hedger: run.hedger, kept: run.kept ?? [], persist: disk, log, connectivity });
  return { left: box.waiting().map(({ id }) => id), texts: texts(), waits };
}

const ignored = (n: number): string => `hedge h${n} is no longer open; the settlement by ann ${n} was ignored`;
const incomplete = (n: number): string =>
  `the settlement of hedge h${n} by ann ${n} lacks amounts and was ignored; settle the hedge again with all amounts`;

/** Expected mailbox and words; `judged` is the answer to each statement, in order. */
function modelOf(judged: readonly (Taken | 'waits')[], writes: readonly boolean[]) {
  const left: string[] = [];
  const texts: string[] = [];
  const waits: string[] = [];
  let written = 0;
  let isFull = false;
  judged.forEach((taken, n) => {
    const isKept = isFull || taken === 'waits' || taken === 'busy';
    if (!isFull && taken === 'waits') waits.push(`h${n}`);
    if (!isFull && taken === 'incomplete') texts.push(incomplete(n));
    if (!isFull && taken === 'not open') texts.push(ignored(n));
    if (!isKept) isFull = !writes[written++]!;
    if (isKept || isFull) left.push(`h${n}`);
  });
  return { left, texts, waits };
}
const writesDrawn = fc.array(fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, fc.constant(false)), {
  ...{ minLength: 4, maxLength: 4 },
});

test('of several settlements each has the answer of its own hedge, and none leaves its file before it is durable', () => {
  const answers = fc.array(fc.constantFrom<Taken>('settled', 'busy', 'not open', 'incomplete'), { maxLength: 4 });
  fc.assert(
    fc.property(answers, writesDrawn, (judged, writes) => {
      const asked: unknown[][] = [];
      const settleAs = (...of: unknown[]): Taken => {
        asked.push(of);
        return judged[Number(String(of[0]).slice(1))]!;
      };
      let written = 0;
      const found = called(judged.length, { hedger: { settleAs } as never }, () => writes[written++]!);
      expect(found).toEqual(modelOf(judged, writes));
      asked.forEach((of, n) => {
        const { id, as, by, reason } = said(n);
        expect(of).toEqual([id, as, `settled as ${as} by ${by}: ${reason}`, null]);
      });
    }),
    { numRuns: 40 },
  );
});

test('without a hedger a settlement waits only for its own open hedge, and is silent only about the hedge that it ended', () => {
  const kinds = ['open', 'ended by it', 'ended by another', 'absent'] as const;
  const answers = {
    open: 'waits',
    'ended by it': 'settled',
    'ended by another': 'not open',
    absent: 'not open',
  } as const;
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...kinds), { maxLength: 4 }), writesDrawn, (hedges, writes) => {
      const kept = hedges.flatMap((kind, n): HedgeRow[] => {
        const id = `h${n}`;
        if (kind === 'absent') return [];
        if (kind === 'open') return [rowOf({ id, state: 'unknown', acceptedAt: AT })];
        // Another settlement has ended it, whose words another hedge may have.
        return [rowOf({ id, state: 'failed', why: settledWhy(said(kind === 'ended by it' ? n : (n + 1) % 4)) })];
      });
      let written = 0;
      const found = called(hedges.length, { hedger: null, kept }, () => writes[written++]!);
      expect(found).toEqual(
        modelOf(
          hedges.map(kind => answers[kind]),
          writes,
        ),
      );
    }),
    { numRuns: 40 },
  );
});

test('of a settlement with amounts the hedger has all of them, also a fee of 0, and none when one is missing', () => {
  const whole = { base: moneyOf('1.5'), quote: moneyOf('150'), fee: money(0n), feeCurrency: 'usdt' };
  const names = Object.keys(whole) as (keyof typeof whole)[];
  for (const missing of [null, ...names]) {
    const dir = folders.fresh();
    mkdirSync(dir);
    const box = new NumberedMailbox(dir, 'settle');
    const some = Object.fromEntries(Object.entries(whole).filter(([name]) => name !== missing));
    box.put({ ...said(1), ...some });
    const amounts: unknown[] = [];
    const settleAs = (...of: unknown[]): Taken => {
      amounts.push(of[3]);
      return 'settled';
    };
    const { log } = memoryLog();
    const run = { hedger: { settleAs } as never, kept: [], persist: () => true, log, connectivity: {} as never };
    applyPendingSettlements(box, run);
    expect([missing, amounts]).toEqual([missing, [missing === null ? whole : null]]);
  }
});
