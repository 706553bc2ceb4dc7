/** Checks of executions: the smallest amount is bought and sold, with exact fees and balances. */
import {
  money,
  moneyOf,
  textOfAmount,
  textOfMoney,
  textOfPrice,
  type Balance,
  type BookFee,
  type Money,
  type OwnTrade,
  type Price,
  type Side,
} from '../../core/index.ts';
import type { Endpoints } from '../rest/endpoints.ts';
import { judged, valueIn, type Checks } from './checks.ts';
import { EIGHTH, heldOf, lotsFor, type CheckOrders } from './orderChecks.ts';
import type { CheckedMarket } from './publicChecks.ts';

const ONE = 10n ** 18n;
/** Divisor of the best price. The quotient is the distance of the limit price beyond the best price. */
const REACH_SHARE = 100n;

type TradeStage = {
  readonly client: Endpoints;
  readonly market: CheckedMarket;
  readonly own: CheckOrders;
  readonly checks: Checks;
  readonly fee: BookFee;
};

/** Checks a buy and then a sell of the smallest amount. */
export async function tradeChecks(stage: TradeStage): Promise<void> {
  await sideChecks(stage, 'buy');
  await sideChecks(stage, 'sell');
}

async function sideChecks({ client, market, own, checks, fee }: TradeStage, side: Side): Promise<void> {
  const { instrument } = market;
  const { major, minor } = instrument;
  const ask = moneyOf(market.ask);
  const best = side === 'buy' ? ask : moneyOf(market.bid);
  const limit = side === 'buy' ? best + best / REACH_SHARE : best - best / REACH_SHARE;
  const amount = textOfAmount(
    instrument,
    lotsFor(instrument, Number(moneyOf(market.bid) / instrument.tickMoney) as Price),
  );
  let before: readonly Balance[] = [];
  let trades: readonly OwnTrade[] = [];
  const isTraded = await checks.check(
    [`${side} at once`, 'public-facts 16.1', `${amount} executed as taker`],
    async () => {
      before = valueIn(await client.balances());
      const price = textOfPrice(instrument, Number(limit / instrument.tickMoney) as Price);
      const { oid } = valueIn(await own.place(side, { price, major: amount, timeInForce: 'immediate or cancel' }));
      trades = await checks.readUntil(
        async () => {
          const outcome = await client.orderTrades({ oid });
          // The exchange lists the trades of a matched order with a delay.
          return outcome.kind === 'refused' && RECORDS_LATER.includes(outcome.code)
            ? { kind: 'done', value: [] }
            : outcome;
        },
        rows => sumOf(rows, 'major') === moneyOf(amount),
      );
      const isRight = trades.every(trade => trade.side === side && !trade.maker && trade.book === instrument.symbol);
      return judged(
        `${textOfMoney(sumOf(trades, 'major'))} in ${trades.length} trades`,
        isRight && sumOf(trades, 'major') === moneyOf(amount),
      );
    },
  );
  if (!isTraded) return;
  const received = side === 'buy' ? 'major' : 'minor';
  const currency = side === 'buy' ? major : minor;
  await checks.check(
    [`fee of the ${side}`, 'public-facts 9.2', `${fee.taker} of the ${currency} received`],
    async () => {
      const isExact = trades.every(trade => {
        const wanted = (moneyOf(trade[received]) * moneyOf(fee.taker)) / ONE;
        const more = moneyOf(trade.feeAmount) - wanted;
        return trade.feeCurrency.toLowerCase() === currency && more < EIGHTH && more > -EIGHTH;
      });
      return judged(`${textOfMoney(sumOf(trades, 'feeAmount'))} ${currency}`, isExact);
    },
  );
  await checks.check([`balances after the ${side}`, 'public-facts 9.2', 'the trades, exactly'], async () => {
    const sign = side === 'buy' ? 1n : -1n;
    const fees = sumOf(trades, 'feeAmount');
    const wanted = {
      [major]: sign * sumOf(trades, 'major') - (side === 'buy' ? fees : 0n),
      [minor]: -sign * sumOf(trades, 'minor') - (side === 'sell' ? fees : 0n),
    };
    const changeOf = (now: readonly Balance[], name: string): bigint =>
      heldOf(now, name).total - heldOf(before, name).total;
    const isExact = (now: readonly Balance[]): boolean =>
      [major, minor].every(name => changeOf(now, name) === wanted[name]);
    const now = await checks.readUntil(() => client.balances(), isExact);
    return judged(
      [major, minor].map(name => `${name} ${textOfMoney(money(changeOf(now, name)))}`).join(', '),
      isExact(now),
    );
  });
  await checks.check([`own trades after the ${side}`, 'rest-api 4.1', 'the trades, by book and by id'], async () => {
    const [first] = trades;
    const listed = await checks.readUntil(
      () => client.userTrades({ book: instrument.symbol, limit: 100 }),
      rows => trades.every(({ tid }) => rows.some(row => row.tid === tid)),
    );
    const byId = valueIn(await client.userTradesByTid([first!.tid]));
    const isListed = trades.every(({ tid }) => listed.some(row => row.tid === tid));
    return judged(`${byId.length} by id`, isListed && byId.length === 1 && byId[0]!.price === first!.price);
  });
}

const RECORDS_LATER = ['0377', '0378'];

const sumOf = (trades: readonly OwnTrade[], field: 'major' | 'minor' | 'feeAmount'): Money =>
  money(trades.reduce((sum, trade) => sum + moneyOf(trade[field]), 0n));
