/** Checks of executions: the smallest amount is bought and sold, with exact fees and balances. */
import {
  counted,
  money,
  moneyOf,
  moneyOfValue,
  textOfAmount,
  textOfMoney,
  textOfPrice,
  valueOf,
  type Amount,
  type Balance,
  type BookFee,
  type Money,
  type OwnTrade,
  type Price,
  type Side,
} from '../../../core/index.ts';
import type { Endpoints } from '../rest/endpoints.ts';
import { judged, skipped, valueIn, type Checks } from './checks.ts';
import { EIGHTH, heldOf, lotsFor, missingFunds, type CheckOrders } from './orderChecks.ts';
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

/**
 * Buys the smallest amount that can be sold again after the fee. Sells the bought amount, even after the operator's
 * stop, and checks that less than a lot remains.
 */
export async function tradeChecks(stage: TradeStage): Promise<void> {
  const { client, market, own, checks } = stage;
  const { instrument } = market;
  const { major, lotMoney } = instrument;
  const smallest = lotsFor(instrument, Number(moneyOf(market.bid) / instrument.tickMoney) as Price);
  const sentBefore = own.sent.length;
  const buy = await sideChecks(stage, 'buy', lotsWithFee(smallest, moneyOf(stage.fee.taker)));
  const isSent = own.sent.length > sentBefore;
  const bought = isSent ? await boughtBy(buy, stage) : money(0n);
  const lots = Number((bought ?? 0n) / lotMoney) as Amount;
  if (lots > 0) await sideChecks(stage, 'sell', lots);
  else
    await checks.check(['sell at once', 'public-facts 16.1', 'the bought amount, executed as taker'], () =>
      Promise.resolve(skipped(bought === null ? 'the bought amount is not known' : 'nothing was bought')),
    );
  if (!isSent) return;
  await checks.check(
    ['the bought amount is sold', 'rest-api 4.9', `less than one lot of ${major} remains`],
    async () => {
      const changeIn = (now: readonly Balance[]): Money => totalChange(now, buy.before, major);
      const change = changeIn(
        await checks.readUntil(
          () => client.balances(),
          now => changeIn(now) < lotMoney,
        ),
      );
      return judged(`${textOfMoney(change)} ${major} more than before`, change < lotMoney);
    },
    true,
  );
}

/** Returns the change of the total balance of a currency. */
const totalChange = (now: readonly Balance[], before: readonly Balance[], currency: string): Money =>
  money(heldOf(now, currency).total - heldOf(before, currency).total);

/** Returns an amount of which `lots` remain after a fee in the bought currency. */
const lotsWithFee = (lots: Amount, rate: Money): Amount => Number((BigInt(lots) * ONE) / (ONE - rate) + 1n) as Amount;

/**
 * Returns the amount that a buy added to the balance, capped at the order's amount, or at the amount of its trades
 * after the fee if they are complete. If the balance cannot be read, returns the amount of complete trades after the
 * fee, or `null` if trades are missing.
 */
async function boughtBy({ before, trades, amount, isWhole }: SideTrades, stage: TradeStage): Promise<Money | null> {
  const { major } = stage.market.instrument;
  const net = isWhole ? sumOf(trades, 'major') - feesIn(trades, major) : amount;
  const changeIn = (now: readonly Balance[]): Money => totalChange(now, before, major);
  try {
    const change = changeIn(
      await stage.checks.readUntil(
        () => stage.client.balances(),
        now => changeIn(now) >= net,
      ),
    );
    return money(change <= 0n ? 0n : change < net ? change : net);
  } catch {
    return isWhole ? money(net) : null;
  }
}

const feesIn = (trades: readonly OwnTrade[], currency: string): bigint =>
  sumOf(
    trades.filter(({ feeCurrency }) => feeCurrency.toLowerCase() === currency),
    'feeAmount',
  );

/** Balances before an order, its trades, and its amount. `isWhole`: whether the trades add up to the amount. */
type SideTrades = {
  readonly before: readonly Balance[];
  readonly trades: readonly OwnTrade[];
  readonly amount: Money;
  readonly isWhole: boolean;
};

async function sideChecks(
  { client, market, own, checks, fee }: TradeStage,
  side: Side,
  lots: Amount,
): Promise<SideTrades> {
  const { instrument } = market;
  const { major, minor } = instrument;
  const ask = moneyOf(market.ask);
  const best = side === 'buy' ? ask : moneyOf(market.bid);
  const limit = side === 'buy' ? best + best / REACH_SHARE : best - best / REACH_SHARE;
  const amount = textOfAmount(instrument, lots);
  let before: readonly Balance[] = [];
  let trades: readonly OwnTrade[] = [];
  const isTraded = await checks.check(
    [`${side} at once`, 'public-facts 16.1', `${amount} executed as taker`],
    async () => {
      before = valueIn(await client.balances());
      const ticks = Number(limit / instrument.tickMoney) as Price;
      const missing =
        side === 'buy' ? missingFunds(before, minor, moneyOfValue(instrument, valueOf(ticks, lots))) : null;
      if (missing !== null) return skipped(missing);
      const price = textOfPrice(instrument, ticks);
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
        `${textOfMoney(sumOf(trades, 'major'))} in ${counted(trades.length, 'trade')}`,
        isRight && sumOf(trades, 'major') === moneyOf(amount),
      );
    },
    // The bought amount is sold even after the operator's stop.
    side === 'sell',
  );
  const done = { before, trades, amount: moneyOf(amount), isWhole: sumOf(trades, 'major') === moneyOf(amount) };
  if (!isTraded) return done;
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
  await checks.check(
    [`balances after the ${side}`, 'public-facts 9.2', 'changed by exactly the trades and their fees'],
    async () => {
      const sign = side === 'buy' ? 1n : -1n;
      const fees = sumOf(trades, 'feeAmount');
      const wanted = {
        [major]: sign * sumOf(trades, 'major') - (side === 'buy' ? fees : 0n),
        [minor]: -sign * sumOf(trades, 'minor') - (side === 'sell' ? fees : 0n),
      };
      const isExact = (now: readonly Balance[]): boolean =>
        [major, minor].every(name => totalChange(now, before, name) === wanted[name]);
      const now = await checks.readUntil(() => client.balances(), isExact);
      return judged(
        [major, minor].map(name => `${name} ${textOfMoney(totalChange(now, before, name))}`).join(', '),
        isExact(now),
      );
    },
  );
  await checks.check(
    [
      `own trades after the ${side}`,
      'rest-api 4.1',
      'the trades of the book include all trades of the order, and a look-up by trade id returns the first of them',
    ],
    async () => {
      const [first] = trades;
      const listed = await checks.readUntil(
        () => client.userTrades({ book: instrument.symbol, limit: 100 }),
        rows => trades.every(({ tid }) => rows.some(row => row.tid === tid)),
      );
      const byId = valueIn(await client.userTradesByTid([first!.tid]));
      // A trade of the account with itself has two rows.
      const isFirst =
        byId.length > 0 &&
        byId.every(({ tid, price }) => tid === first!.tid && moneyOf(price) === moneyOf(first!.price));
      const isListed = trades.every(({ tid }) => listed.some(row => row.tid === tid));
      return judged(`${byId.length} by id`, isListed && isFirst);
    },
  );
  return done;
}

const RECORDS_LATER = ['0377', '0378'];

const sumOf = (trades: readonly OwnTrade[], field: 'major' | 'minor' | 'feeAmount'): Money =>
  money(trades.reduce((sum, trade) => sum + moneyOf(trade[field]), 0n));
