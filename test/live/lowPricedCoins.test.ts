/** Coins of very low and very high prices, from the first read to filled orders: their amounts, values and balances are exact all the way. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { instrumentOf, moneyOf, textOfMoney, VirtualClock, type BookRules, type Money } from '../../src/core/index.ts';
import { createVenue } from '../../src/sandbox/index.ts';
import { CALM, Trader } from '../sandbox/trader.ts';
import { inProcessStream } from '../../src/sandbox/stream/streamInProcess.ts';
import { sandboxConfig, started, type World } from './world.ts';

type Coin = {
  readonly rules: BookRules;
  /** Middle of the market, the amounts of the bot and of an ordinary public order, and one beyond every count. */
  readonly mid: string;
  readonly amount: string;
  readonly others: string;
  readonly huge: string;
};

const rulesOf = (
  book: string,
  tickSize: string,
  [minimumAmount, maximumAmount]: [string, string],
  maximumPrice: string,
) => ({
  ...{ book, tickSize, minimumAmount, maximumAmount, minimumPrice: tickSize, maximumPrice },
  ...{ minimumValue: '1', maximumValue: '1000000000000' },
});

const COINS: readonly Coin[] = [
  {
    rules: rulesOf('shib_mxn', '0.0000001', ['1000', '100000000000'], '1'),
    ...{ mid: '0.0002', amount: '120000000', others: '150000000.5', huge: '99000000000' },
  },
  {
    rules: rulesOf('pepe_usd', '0.0000000001', ['1000', '100000000000'], '0.001'),
    ...{ mid: '0.0000012345', amount: '123456789', others: '9876543210', huge: '90000000000' },
  },
  {
    rules: rulesOf('btc_idr', '1000', ['0.00000100', '600'], '900000000000000'),
    ...{ mid: '1600000000', amount: '0.01', others: '0.5', huge: '500' },
  },
  {
    rules: rulesOf('idr_mxn', '0.000000001', ['10000', '100000000000'], '1'),
    ...{ mid: '0.00115', amount: '200000000', others: '3000000000', huge: '99999999999' },
  },
];

function worldOf({ rules, amount, mid, others, huge }: Coin): World & { readonly maker: Trader } {
  const clock = new VirtualClock();
  const [major, minor] = rules.book.split('_') as [string, string];
  const stateDir = mkdtempSync(join(tmpdir(), 'puntas-coins-'));
  const venue = createVenue({ clock, seed: 5, switches: CALM, books: [rules] });
  const much = { [major]: '900000000000000', [minor]: '900000000000000' };
  const times = (text: string, by: bigint) => textOfMoney((moneyOf(text) * by) as Money);
  const account = venue.openAccount({
    balances: { [major]: times(amount, 100n), [minor]: '900000000000' },
    volume30d: {},
  });
  const maker = new Trader(venue, venue.openAccount({ balances: much, volume30d: {} }));
  const { tickMoney } = instrumentOf(rules);
  const price = (bps: number) => {
    const exact = (moneyOf(mid) * BigInt(10_000 + bps)) / 10_000n;
    return textOfMoney((exact - (exact % tickMoney)) as Money);
  };
  for (let n = 1; n <= 5; n++)
    for (const [side, away] of [
      ['buy', -1],
      ['sell', 1],
    ] as const)
      expect(maker.limit(rules.book, side, price(away * (100 + 20 * n)), n === 5 ? huge : others)).toHaveLength(16);
  const config = sandboxConfig({
    book: rules.book,
    exchange: { balances: much },
    strategy: {
      amount,
      levelAmountStep: '0',
      levels: 2,
      halfSpreadBps: 80,
      levelSpacingBps: 10,
      minEdgeBps: -1000,
      skew: { sizeRange: times(amount, 1000n) },
    },
    limits: {
      positionMax: times(amount, 50n),
      orderValueMax: '900000000000',
      drawdownMax: '900000000000',
      dayLossMax: '900000000000',
      collarBps: 500,
    },
    inventory: { target: times(amount, 100n) },
    state: { dir: stateDir },
  });
  return {
    ...{ clock, config, seed: 5, stateDir, maker },
    box: { exchange: venue, account, seed: 5, books: [], second: null, stop: () => venue.close() },
    other: () => maker,
    end: () => {
      venue.close();
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
}

describe.each(COINS)('$rules.book at $mid', coin => {
  test.each(['polls', 'the stream'] as const)('is quoted by %s, filled, and its ledger adds up', async way => {
    const world = worldOf(coin);
    const { clock, maker, box } = world;
    const running = await started(
      world,
      way === 'polls' ? {} : { stream: inProcessStream(box.exchange.stream, clock) },
    );
    await clock.advance(15_000);
    const { book } = coin.rules;
    const bot = new Trader(box.exchange, box.account);
    const open = () => bot.get<{ side: string; unfilled_amount: string }[]>('GET', `/api/v3/open_orders?book=${book}`);
    expect(open().map(({ unfilled_amount }) => moneyOf(unfilled_amount))).toEqual(Array(4).fill(moneyOf(coin.amount)));
    for (const side of ['buy', 'sell']) maker.place({ book, side, type: 'market', major: coin.amount });
    await clock.advance(20_000);
    const { summary, left, failure } = await running.stop();
    world.end();
    expect({
      left,
      failure,
      refused: summary.orders.refused,
      ledger: summary.ledgerMatches,
      fills: summary.fills,
    }).toEqual({
      ...{ left: [], failure: null, refused: 0, ledger: true, fills: 2 },
    });
  });
});
