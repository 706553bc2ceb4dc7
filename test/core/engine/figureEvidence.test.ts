/** Proof of the figures: each missing piece of evidence by its words, while the bot runs and after its stop. */
import { describe, expect, it } from 'vitest';
import type { Order, OrderState } from '../../../src/core/index.ts';
import { FigureEvidence, type EvidenceSources } from '../../../src/core/engine/figureEvidence.ts';
import { knownFigures } from '../../../src/core/engine/snapshot.ts';

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
    ['old trades', { fresh: { trades: NOW - 5_001 } }, both('the trades of the account could not be read')],
    [
      'unlisted trades',
      { orders: { live: [], areTradesMissing: true } },
      both('the trades of ended orders are not all listed'),
    ],
    ['a difference', { account: account({ differs: true }) }, both('the balances differ from the ledger')],
    ['unread balances', { regime: { unread: 'no answer' } }, { trades: null, holdings: 'no answer' }],
    ['live orders', { orders: { live: [orderOf('open')], areTradesMissing: false } }, both(null)],
  ])('with %s', (_, changes, missing) => {
    expect(new FigureEvidence().missing(sources(changes), NOW)).toEqual(missing);
  });
});

describe('the figures of a bot that has stopped', () => {
  const after = (changes: Partial<EvidenceSources>, liveUntil: number | null = null) => {
    const evidence = new FigureEvidence();
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
    [
      'orders that may be live',
      { orders: { live: [orderOf('closed-unsettled'), orderOf('unknown')], areTradesMissing: false } },
      null,
      both('orders may still be open and fill'),
    ],
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
      both('the trades of ended orders are not all listed'),
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

it('a figure is shown only where nothing of its evidence is missing, and the first reason is told', () => {
  const booked = { fills: 3, holdings: new Map(), inventory: 5n } as never;
  const trades = { fills: 3, inventory: 5n };
  expect(knownFigures(booked, both(null))).toEqual({ trades, holdings: new Map(), unknown: null });
  expect(knownFigures(booked, { trades: null, holdings: 'a' })).toEqual({ trades, holdings: null, unknown: 'a' });
  expect(knownFigures(booked, { trades: 'b', holdings: 'a' })).toEqual({ trades: null, holdings: null, unknown: 'b' });
});
