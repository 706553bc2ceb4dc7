/** Look-ups of an order on another exchange, and the evidence that they give over every history of their answers. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  moneyOf,
  OrderEvidence,
  type ElsewhereOrder,
  type OrderReport,
  type OwnTrade,
} from '../../../src/core/index.ts';
import { runsOf } from '../../many.ts';

const TIMES = { requestLifeMs: 30_000, listingDelayMs: 4_000 };
const SENT_AT = 10_000;
const CONCLUSIVE_FROM = 44_000;
/** A sale of 3. */
const ORDER: ElsewhereOrder = { id: 'mmh1x1', book: 'btc_mxn', side: 'sell', price: '1000', amount: '3' };

const tradeOf = (number: number, change: Partial<OwnTrade> = {}): OwnTrade => ({
  ...{ book: 'btc_mxn', side: 'sell', tid: `${number}`, oid: 'o1', createdAt: 0, price: '1000', major: '1' },
  ...{ minor: '1000', feeAmount: '0', feeCurrency: 'mxn', maker: false },
  ...change,
});
const reportOf = (change: Partial<OrderReport> = {}): OrderReport => ({
  ...{ book: 'btc_mxn', side: 'sell', oid: 'o1', originId: ORDER.id, type: 'limit', status: 'open', price: '1000' },
  ...{ originalAmount: '3', unfilledAmount: '3', createdAt: 0 },
  ...change,
});
const OTHERS = reportOf({ oid: 'o9', originId: 'another' });

/** Answers that contradict the order as it was sent. */
const WRONG: readonly { readonly reports: readonly OrderReport[]; readonly trades: readonly OwnTrade[] }[] = [
  { reports: [reportOf(), reportOf({ oid: 'o2' })], trades: [] },
  { reports: [reportOf({ side: 'buy' })], trades: [] },
  { reports: [reportOf({ book: 'btc_usd' })], trades: [] },
  { reports: [reportOf({ originalAmount: '2', unfilledAmount: '2' })], trades: [] },
  { reports: [], trades: [tradeOf(1), tradeOf(1)] },
  { reports: [], trades: [tradeOf(1, { side: 'buy' })] },
  { reports: [], trades: [tradeOf(1, { book: 'btc_usd' })] },
  { reports: [], trades: [1, 2, 3, 4].map(number => tradeOf(number)) },
];
/** Changes of the balances, and the amount that a sale at about 1000 must at least have to explain them. */
const MOVED = (
  [
    ['0', '0', 0],
    ['-3', '3000', 3],
    ['-1', '995', 1],
    ['-2', '2090', 2],
    ['-2', '4000', 2],
    ['-2', '4001', 0],
    ['-1', '500', 1],
    ['-1', '499', 0],
    ['-4', '4000', 4],
    ['3', '-3000', 0],
    ['-3', '0', 0],
    ['-1', '-1000', 0],
    ['0', '1000', 0],
  ] as const
).map(([base, quote, sold]) => ({ base: moneyOf(base), quote: moneyOf(quote), sold }));
const trades = fc.constantFrom<readonly number[]>([], [], [1], [1, 2], [2, 1], [1, 2, 3]);
const looks = fc.array(
  fc.record({
    /** Time since the look-up before it. The first one may be the first that is late enough. */
    afterMs: fc.constantFrom(0, 1, 500, 3_999, 4_000, 4_001, 9_000, 34_000),
    what: fc.oneof(
      { weight: 6, arbitrary: fc.record({ kind: fc.constant('absent' as const), trades }) },
      {
        weight: 3,
        arbitrary: fc.record({
          kind: fc.constant('listed' as const),
          status: fc.constantFrom<OrderReport['status']>(
            'queued',
            'open',
            'partially filled',
            'completed',
            'cancelled',
          ),
          filled: fc.integer({ min: 0, max: 3 }),
          trades,
        }),
      },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('wrong' as const), which: fc.nat(WRONG.length - 1) }) },
    ),
    isBesideOthers: fc.boolean(),
    moved: fc.oneof(
      { weight: 2, arbitrary: fc.constant(undefined) },
      { weight: 1, arbitrary: fc.constant(null) },
      { weight: 3, arbitrary: fc.constantFrom(...MOVED) },
    ),
  }),
  { minLength: 1, maxLength: 8 },
);

const before = fc.constantFrom('new' as const, 'accepted' as const, 'restored' as const);

test('an order that is not listed is proven by two look-ups alone: late, apart, equal, nothing else seen between them, and nothing seen before that they deny', () => {
  const cameUp = new Set<string>();
  fc.assert(
    fc.property(looks, fc.constantFrom(0, 33_999, 34_000), before, (history, firstMs, before) => {
      const wasAccepted = before !== 'new';
      const isRestored = before === 'restored';
      const evidence = new OrderEvidence(ORDER, SENT_AT, TIMES, { isAccepted: wasAccepted, isRestored });
      let isAccepted = wasAccepted;
      let most = 0;
      /** Late look-ups since the last one that showed anything else, each with the trades that it showed. */
      let absent: { readonly at: number; readonly seen: string }[] = [];
      let at = SENT_AT + firstMs;
      for (const { afterMs, what, isBesideOthers, moved } of history) {
        at += afterMs;
        const listed =
          what.kind === 'wrong'
            ? WRONG[what.which]!
            : {
                reports:
                  what.kind === 'absent'
                    ? []
                    : [reportOf({ status: what.status, unfilledAmount: String(3 - what.filled) })],
                trades: what.trades.map(number => tradeOf(number)),
              };
        const reports = isBesideOthers ? [OTHERS, ...listed.reports] : listed.reports;
        const answer = { startedAt: at, reports, trades: listed.trades };
        const verdict = evidence.read(moved === undefined ? answer : { ...answer, moved });
        expect(evidence.isConclusive(at)).toBe(at >= CONCLUSIVE_FROM);

        if (what.kind === 'listed') most = Math.max(most, what.filled);
        if (what.kind !== 'wrong') most = Math.max(most, what.trades.length);
        if (what.kind === 'listed' || (what.kind === 'absent' && what.trades.length > 0)) isAccepted = true;
        expect(evidence.isAccepted).toBe(isAccepted);
        // Answers before a restart may have shown more.
        const least = isRestored ? 3 : most;
        const denies =
          what.kind === 'absent' &&
          (what.trades.length < least ||
            (isAccepted && most === 0) ||
            moved === null ||
            (moved?.sold ?? 0) > what.trades.length);

        const isAbsent = what.kind === 'absent' && at >= CONCLUSIVE_FROM && !denies;
        const seen = [...(what.kind === 'absent' ? what.trades : [])].sort().join();
        const now = { at, seen };
        absent = isAbsent ? [...absent.filter(each => each.seen === seen), now] : [];
        expect(evidence.isDeciding).toBe(isAbsent);

        const sum = BigInt(listed.trades.length) * moneyOf('1');
        const ended = { kind: 'ended', filled: sum, trades: listed.trades };
        if (what.kind === 'absent') {
          const isProven = absent.some(each => at - each.at >= TIMES.listingDelayMs);
          if (!isProven) expect(verdict.kind).toBe('unknown');
          else expect(verdict).toEqual(sum === 0n ? { kind: 'not placed' } : ended);
        } else if (what.kind === 'wrong' || what.status === 'queued') expect(verdict.kind).toBe('unknown');
        else if (what.status !== 'completed' && what.status !== 'cancelled') expect(verdict.kind).toBe('live');
        else if (
          what.filled < most ||
          what.trades.length !== what.filled ||
          (what.status === 'completed' && what.filled < 3)
        )
          expect(verdict.kind).toBe('unknown');
        else expect(verdict).toEqual(ended);
        cameUp.add(`${what.kind} ${verdict.kind}`);
      }
    }),
    {
      ...runsOf(20_000, 500),
      // Seen in the book between two look-ups that do not list it.
      examples: [
        [
          [
            { afterMs: 0, what: { kind: 'absent', trades: [] }, isBesideOthers: false, moved: undefined },
            {
              afterMs: 4_000,
              what: { kind: 'listed', status: 'open', filled: 0, trades: [] },
              isBesideOthers: false,
              moved: undefined,
            },
            { afterMs: 4_000, what: { kind: 'absent', trades: [] }, isBesideOthers: false, moved: undefined },
          ],
          34_000,
          'new',
        ],
        // Never placed.
        [
          [
            { afterMs: 0, what: { kind: 'absent', trades: [] }, isBesideOthers: false, moved: undefined },
            { afterMs: 4_000, what: { kind: 'absent', trades: [] }, isBesideOthers: false, moved: MOVED[0] },
          ],
          34_000,
          'new',
        ],
        // Listed as filled before its trades are; the clock of the exchange then jumps back, and it lists nothing.
        [
          [
            {
              afterMs: 0,
              what: { kind: 'listed', status: 'completed', filled: 3, trades: [] },
              isBesideOthers: false,
              moved: undefined,
            },
            { afterMs: 34_000, what: { kind: 'absent', trades: [] }, isBesideOthers: false, moved: undefined },
            { afterMs: 4_000, what: { kind: 'absent', trades: [] }, isBesideOthers: false, moved: undefined },
          ],
          0,
          'new',
        ],
      ],
    },
  );
  const absent = ['absent ended', 'absent not placed', 'absent unknown'];
  const listed = ['listed ended', 'listed live', 'listed unknown'];
  expect([...cameUp].toSorted()).toEqual([...absent, ...listed, 'wrong unknown']);
});
