/** One row of a list made strange at a time, at the client: every list and every field. The other rows stay, and the strange one is read as nothing else. */
import { describe, expect, it } from 'vitest';
import { isDecimalText, type Outcome, type UnreadableRow } from '../../../src/core/index.ts';
import { delivery } from '../../../src/exchange/bitso/wire/transactionEvents.ts';
import { streamFrame } from '../../../src/exchange/bitso/stream/streamFrames.ts';
import { asking, changed, leaves, REPLIES, valueAt, type Path } from './doorReplies.ts';
import { STRANGE } from './strange.ts';

/** Lists of a reply: where, and how its rows are found in what the client makes of it. */
const LISTS: readonly (readonly [name: string, at: Path, rowsOf: (value: never) => readonly unknown[]])[] = [
  ['available_books', ['payload'], rows => rows],
  ['trades', ['payload'], rows => rows],
  ['ohlc', ['payload'], rows => rows],
  ['balance', ['payload', 'balances'], rows => rows],
  ['fees', ['payload', 'fees'], ({ books }: { books: readonly unknown[] }) => books],
  ['fees', ['payload', 'deposit_fees'], ({ deposits }: { deposits: readonly unknown[] }) => deposits],
  ['open_orders', ['payload'], rows => rows],
  ['orders', ['payload'], rows => rows],
  ['user_trades', ['payload'], rows => rows],
  ['order_trades', ['payload'], rows => rows],
  ['RFQ pairs', ['pairs'], rows => rows],
  ['RFQ conversions', ['conversions'], ({ conversions }: { conversions: readonly unknown[] }) => conversions],
  ['ledger', ['payload'], rows => rows],
  ['webhook registration', ['webhooks'], ({ webhooks }: { webhooks: readonly unknown[] }) => webhooks],
];

const shown = (value: unknown): string =>
  JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'bigint' ? String(each) : each instanceof Map ? [...(each as Map<string, unknown>)] : each,
  );

/** Top-level fields whose values differ between what was read of the strange row and of the good one. */
function differing(read: unknown, good: unknown): readonly (readonly [string, unknown])[] {
  const [a, b] = [read as Record<string, unknown>, good as Record<string, unknown>];
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap(name =>
    shown(a[name]) === shown(b[name]) ? [] : [[name, a[name]] as const],
  );
}

/** Whether a row that was read says of its strange field what the field says: the same text, nothing where it says nothing, and no figure that it is not. */
function isFaithful(read: unknown, good: unknown, strange: unknown): boolean {
  return differing(read, good).every(([, value]) => {
    if (strange === undefined || strange === null || strange === '')
      return value === undefined || value === '' || isEmpty(value);
    if (typeof strange === 'string')
      return shown(value).toUpperCase().includes(strange.toUpperCase()) && !isDecimalText(value);
    return typeof value === 'boolean' && value === strange;
  });
}

const isEmpty = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

let tried = 0;
let named = 0;

describe.each(LISTS)('a list of %s (%j)', (name, at, rowsOf) => {
  const [, reply, call] = REPLIES.find(([of]) => of === name)!;
  const first = valueAt(reply, [...at, 0]);
  const fields = leaves(first);

  it('has fields to be made strange', () => {
    expect(fields.length).toBeGreaterThan(0);
  });

  it.each(STRANGE)(
    'with one row of which one field is %s keeps the others, and reads that one as nothing else',
    async (_, strange) => {
      // Three equal rows: the middle one is made strange.
      const three = changed(reply, at, [first, structuredClone(first), structuredClone(first)]);
      const good = await asking(three, call);
      if (good.kind !== 'done') throw new Error(shown(good));
      const [goodRow] = rowsOf(good.value as never);
      for (const field of fields) {
        const outcome: Outcome<unknown> = await asking(changed(three, [...at, 1, ...field], strange), call);
        const what = `${name} ${[...at, ...field].join('.')} = ${shown(strange)}`;
        tried++;
        if (outcome.kind !== 'done') throw new Error(`${what}: ${shown(outcome)}`);
        const rows = rowsOf(outcome.value as never);
        const unread = outcome.unreadable ?? [];
        if (unread.length > 0) {
          named++;
          expect(rows.map(shown), what).toEqual([goodRow, goodRow].map(shown));
          expect(
            unread.map(({ why }: UnreadableRow) => why.startsWith('row 2')),
            what,
          ).toEqual([true]);
        } else {
          expect(rows.length, what).toBe(3);
          expect([shown(rows[0]), shown(rows[2])], what).toEqual([shown(goodRow), shown(goodRow)]);
          expect(isFaithful(rows[1], goodRow, strange), `${what}: read as ${shown(rows[1])}`).toBe(true);
        }
      }
    },
  );

  it.each([
    ['null', null],
    ['a text', 'x'],
    ['a number', 1],
    ['a list', []],
  ])('with %s for a row keeps the others', async (_, strange) => {
    const outcome = await asking(changed(reply, at, [first, strange, first]), call);
    tried++;
    expect(outcome).toMatchObject({ kind: 'done', unreadable: [{ why: expect.stringMatching(/^row 2/) as string }] });
    if (outcome.kind === 'done') expect(rowsOf(outcome.value as never).length).toBe(2);
  });
});

describe('a list inside of what the exchange sends by itself', () => {
  const step = { step: 'SPEI_WITHDRAWAL', status: 'COMPLETE', id: 'x' };
  const bodyOf = (steps: readonly unknown[]) =>
    JSON.stringify({
      event: 'TRANSACTION',
      payload: {
        id: 'e1',
        type: 'ISSUANCE',
        status: 'FAILED',
        created_at: '2026-02-11T16:05:09Z',
        updated_at: '2026-02-11T16:05:09Z',
        issuance: {
          network: 'POLYGON',
          asset: 'MXN',
          amount: '1',
          method: 'SPEI',
          refund_status: 'COMPLETE',
          refund_steps: steps,
        },
      },
    });

  it.each(STRANGE)('keeps the other steps of a refund when a field of one is %s', (_, strange) => {
    for (const field of ['step', 'status', 'id']) {
      const read = delivery(bodyOf([step, { ...step, [field]: strange }, step]));
      tried++;
      if (read.kind !== 'transaction' || read.event.kind !== 'ISSUANCE') throw new Error(shown(read));
      const steps = read.event.refund!.steps;
      expect([steps[0], steps.at(-1)]).toEqual([step, step]);
      if (steps.length === 3) expect(isFaithful(steps[1], step, strange), shown(steps[1])).toBe(true);
      else named++;
    }
  });

  const trade = { i: 17, x: 1_790_000_000_000, r: '1500000', a: '0.1', v: '150000', t: 0, mo: 'a1', to: 'b1' };
  const frameOf = (payload: readonly unknown[]) => JSON.stringify({ type: 'trades', book: 'btc_mxn', payload });

  it.each(STRANGE)('keeps the other trades of a frame when a field of one is %s', (_, strange) => {
    const [good] = (streamFrame(frameOf([trade])) as Extract<ReturnType<typeof streamFrame>, { kind: 'trades' }>)
      .trades;
    for (const field of Object.keys(trade)) {
      const frame = streamFrame(frameOf([trade, { ...trade, [field]: strange }, trade]));
      tried++;
      if (frame.kind !== 'trades') throw new Error(shown(frame));
      expect([shown(frame.trades[0]), shown(frame.trades.at(-1))]).toEqual([shown(good), shown(good)]);
      if (frame.unreadable.length > 0) named++;
      else expect(isFaithful(frame.trades[1], good, strange), `${field} ${shown(frame.trades[1])}`).toBe(true);
    }
  });

  it('was tried with this many strange rows', () => {
    console.log(
      `strange rows at the client: ${tried} tried, ${named} named as unreadable, the others read as they are`,
    );
    expect(tried).toBeGreaterThan(1_000);
    expect(named).toBeGreaterThan(600);
  });
});
