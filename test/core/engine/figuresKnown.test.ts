/** Proof of the figures: each missing piece of evidence by its words, while the bot runs and after its stop. */
import { describe, expect, it } from 'vitest';
import { moneyOf, type Order, type OrderState } from '../../../src/core/index.ts';
import { FiguresKnown, type EvidenceSources } from '../../../src/core/engine/figuresKnown.ts';
import { knownFigures } from '../../../src/core/engine/snapshot.ts';
import { sized } from '../../many.ts';
import { ToyExchange, quoteAround, type Fate } from '../toyExchange.ts';

const NOW = 1.7e12;
const STOPPED = NOW - 60_000;
const orderOf = (state: OrderState): Order => ({ id: 'o', state }) as Order;

type Account = EvidenceSources['account'];
const account = (changes: Partial<Account> = {}): Account => ({
  isOpen: true,
  differs: false,
  checked: null,
  differences: () => [],
  ...changes,
});
const sources = (changes: Partial<EvidenceSources> = {}): EvidenceSources => ({
  account: account(),
  fresh: { trades: NOW - 5_000 },
  orders: { live: [], areTradesMissing: false },
  regime: { unread: null },
  staleAfterMs: 5_000,
  ...changes,
});
const both = (why: string | null) => ({ trades: why, holdings: why });
const checkedAt = (at: number): Partial<Account> => ({ checked: { at } as never });
const different = () => [{ currency: 'btc' }] as never;

describe('the figures of a bot that runs', () => {
  it.each<readonly [string, Partial<EvidenceSources>, { trades: string | null; holdings: string | null }]>([
    ['all of it', {}, both(null)],
    ['no balances', { account: account({ isOpen: false }) }, both('the balances have not been read yet')],
    ['no trades', { fresh: { trades: -Infinity } }, both('the trades of the account have not been read yet')],
    [
      'old trades',
      { fresh: { trades: NOW - 5_001 } },
      both("the last read of the account's trades is more than 5 s old"),
    ],
    [
      'unlisted trades',
      { orders: { live: [], areTradesMissing: true } },
      both('the exchange does not list all trades of ended orders yet'),
    ],
    ['a difference', { account: account({ differs: true }) }, both('the balances differ from the ledger')],
    ['unread balances', { regime: { unread: 'no answer' } }, { trades: null, holdings: 'no answer' }],
    ['live orders', { orders: { live: [orderOf('open')], areTradesMissing: false } }, both(null)],
  ])('with %s', (_, changes, missing) => {
    expect(new FiguresKnown().missing(sources(changes), NOW)).toEqual(missing);
  });
});

describe('the figures of a bot that has stopped', () => {
  const after = (changes: Partial<EvidenceSources>, liveUntil: number | null = null) => {
    const evidence = new FiguresKnown();
    evidence.beforeEvent(STOPPED - 1, { live: [orderOf('open')] });
    evidence.stopped(STOPPED);
    // A second stop changes nothing.
    evidence.stopped(NOW);
    if (liveUntil !== null) evidence.beforeEvent(liveUntil, { live: [orderOf('open')] });
    evidence.beforeEvent(NOW, { live: [orderOf('closed-unsettled')] });
    return evidence.missing(sources(changes), NOW);
  };
  const read = (trades: number): Partial<EvidenceSources> => ({ fresh: { trades } });
  const NOT_COMPARED = 'the balances were not compared with the ledger';
  const UNREAD = 'the trades of the account could not be read';

  it.each<
    readonly [string, Partial<EvidenceSources>, number | null, { trades: string | null; holdings: string | null }]
  >([
    ['no balances', { account: account({ isOpen: false }) }, null, both('the balances have not been read yet')],
    ['no trades', read(-Infinity), null, both('the trades of the account have not been read yet')],
    ['trades from before the stop', read(STOPPED - 1), null, both(UNREAD)],
    ['trades from the stop on', read(STOPPED), null, { trades: null, holdings: NOT_COMPARED }],
    ['trades from before the end of the last order', read(STOPPED + 9), STOPPED + 10, both(UNREAD)],
    [
      'trades from the end of the last order on',
      read(STOPPED + 10),
      STOPPED + 10,
      { trades: null, holdings: NOT_COMPARED },
    ],
    [
      'an order whose trades are not listed',
      { orders: { live: [orderOf('closed-unsettled')], areTradesMissing: false } },
      null,
      both('the exchange does not list all trades of ended orders yet'),
    ],
    [
      'a comparison from before the stop',
      { account: account(checkedAt(STOPPED - 1)) },
      null,
      { trades: null, holdings: NOT_COMPARED },
    ],
    ['a comparison from the stop on', { account: account(checkedAt(STOPPED)), ...read(1) }, null, both(null)],
    [
      'a comparison from before the end of the last order',
      { account: account(checkedAt(STOPPED + 9)), ...read(1) },
      STOPPED + 10,
      both(UNREAD),
    ],
    [
      'a comparison that finds a difference',
      { account: account({ ...checkedAt(STOPPED), differences: different }) },
      null,
      both('the balances differ from the ledger'),
    ],
    [
      'a difference of before',
      { account: account({ differences: different, differs: true }) },
      null,
      { trades: null, holdings: NOT_COMPARED },
    ],
  ])('with %s', (_, changes, liveUntil, missing) => {
    expect(after(changes, liveUntil)).toEqual(missing);
  });
});

/** Whether an order in this state may still fill, for every state that there is. */
const MAY_FILL: Record<OrderState, boolean> = {
  ...{ intent: true, sending: true, open: true, 'partially filled': true, canceling: true, unknown: true },
  ...{ 'closed-unsettled': false, done: false },
};

it.each(Object.entries(MAY_FILL) as [OrderState, boolean][])(
  'after a stop an order that is %s is waited for, and evidence from before its end counts for nothing: %s',
  (state, mayFill) => {
    const evidence = new FiguresKnown();
    evidence.stopped(STOPPED);
    const live = [orderOf('closed-unsettled'), orderOf(state)];
    const seen = (at: number) => sources({ account: account(checkedAt(at)), fresh: { trades: at } });
    const isWaited = evidence.missing({ ...seen(NOW), orders: { live, areTradesMissing: false } }, NOW);
    expect(isWaited).toEqual(both(mayFill ? 'orders may still be open and could fill' : null));
    for (const at of [STOPPED + 5, STOPPED + 10]) evidence.beforeEvent(at, { live });
    expect(evidence.missing(seen(STOPPED + 9), NOW).trades === null).toBe(!mayFill);
    expect(evidence.missing(seen(STOPPED + 10), NOW)).toEqual(both(null));
  },
);

const ACTS = {
  fill: (toy: ToyExchange) => toy.live.slice(0, 1).forEach(({ id }) => toy.fill(id, 5)),
  'read trades and orders': (toy: ToyExchange) => toy.readPrivate(),
  'read balances': (toy: ToyExchange) => toy.readBalances(),
  answer: (toy: ToyExchange, cancels: Fate) => {
    toy.canLook = true;
    toy.fateOfCancel = () => cancels;
    toy.step({ kind: 'timer', at: toy.now });
  },
};
type Act = keyof typeof ACTS;
const historiesOf = (length: number): Act[][] =>
  length === 0
    ? [[]]
    : historiesOf(length - 1).flatMap(acts => (Object.keys(ACTS) as Act[]).map(act => [...acts, act]));

it('after a stop figures are exact only when no order is left and they have every fill, for every short history', () => {
  let [exact, late] = [0, 0];
  for (const acts of historiesOf(sized(4, 2)))
    for (const [placements, cancels] of [
      ['done', 'done'],
      ['done', 'done untold'],
      ['done untold', 'done'],
    ] as const) {
      const toy = new ToyExchange({ strategy: quoteAround(2) }).open();
      toy.fateOfPlace = () => placements;
      toy.canLook = placements === 'done';
      toy.rounds(1);
      toy.fateOfCancel = () => 'lost';
      toy.step({ kind: 'stop', at: toy.now });
      const happens = (act: Act, ms = 1_000): void => {
        toy.now += ms;
        ACTS[act](toy, cancels);
        const { known } = toy.engine.book.snapshot(toy.now);
        if (known.trades === null) return;
        const why = [placements, cancels, ...acts, 'then', act].join(', ');
        expect(toy.live, why).toEqual([]);
        expect(known.trades.inventory, why).toBe(moneyOf(`${toy.traded.lots}`));
        if (known.holdings === null) late++;
        else exact++;
        if (known.holdings !== null) expect(known.holdings.get('btc'), why).toBe(moneyOf(`${1e9 + toy.traded.lots}`));
      };
      for (const act of acts) happens(act);
      // As long as an order that is unknown needs, and the balances after it.
      for (let n = 0; n < 6; n++) happens(n % 2 === 0 ? 'answer' : 'read trades and orders', 5_000);
      happens('read balances');
      expect(toy.engine.book.snapshot(toy.now).known.unknown).toBeNull();
    }
  expect([exact > 0, late > 0]).toEqual([true, true]);
});

it('a figure is shown only where nothing of its evidence is missing, and the first reason is told', () => {
  const booked = { fills: 3, holdings: new Map(), inventory: 5n } as never;
  const trades = { fills: 3, inventory: 5n };
  expect(knownFigures(booked, both(null))).toEqual({ trades, holdings: new Map(), unknown: null });
  expect(knownFigures(booked, { trades: null, holdings: 'a' })).toEqual({ trades, holdings: null, unknown: 'a' });
  expect(knownFigures(booked, { trades: 'b', holdings: 'a' })).toEqual({ trades: null, holdings: null, unknown: 'b' });
});
