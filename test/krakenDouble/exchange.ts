/**
 * Exchange behind the double of Kraken: accounts, orders and trades on the matching engine of the embedded exchange.
 * Knows no HTTP; endpoints that break a rule throw a `KrakenRefusal` with Kraken's text.
 */
import {
  instrumentOf,
  moneyOf,
  textOfMoney,
  type Amount,
  type Instrument,
  type Money,
  type Price,
  type Side,
} from '../../src/core/index.ts';
import { MatchingBook } from '../../src/sandbox/matching/matching.ts';

export class KrakenRefusal extends Error {}

/** Pair of the double, with Kraken's three names and the name on its version 2 stream. */
export type DoublePair = {
  readonly id: string;
  readonly altname: string;
  readonly wsname: string;
  readonly symbol: string;
  readonly base: readonly [id: string, altname: string];
  readonly quote: readonly [id: string, altname: string];
  readonly priceDecimals: number;
  readonly instrument: Instrument;
  readonly minimum: string;
  readonly book: MatchingBook;
};

type DoubleOrder = {
  readonly txid: string;
  readonly owner: string;
  readonly pair: DoublePair;
  readonly side: Side;
  readonly price: Price;
  readonly amount: Amount;
  readonly clientId: string | undefined;
  readonly oflags: string;
  readonly engineId: number;
  readonly openedAt: number;
  filled: Amount;
  cost: Money;
  fee: Money;
  status: 'open' | 'closed' | 'canceled';
  closedAt: number;
  readonly trades: string[];
};

export type DoubleTrade = {
  readonly txid: string;
  readonly order: DoubleOrder;
  readonly number: number;
  readonly at: number;
  readonly price: Price;
  readonly amount: Amount;
  readonly cost: Money;
  readonly fee: Money;
  readonly maker: boolean;
};

export type PublicPrint = {
  readonly pair: DoublePair;
  readonly number: number;
  readonly at: number;
  readonly price: Price;
  readonly amount: Amount;
  readonly takerSide: Side;
};

type Fields = Readonly<Record<string, string>>;

const PERCENT = { taker: '0.26', maker: '0.16' } as const;
const rateOf = (kind: keyof typeof PERCENT): bigint => moneyOf(PERCENT[kind]) / 100n;
const ONE = 10n ** 18n;
const PAGE = 50;
/** Costs and fees are listed with five decimals. */
const COST_UNIT = 10n ** 13n;
/** Decimals of balances, by the exchange's id of the currency. */
export const BALANCE_DECIMALS: Readonly<Record<string, number>> = { XXBT: 10, XXDG: 8, ZUSD: 4 };
const rounded = (value: bigint): Money => (((value + COST_UNIT / 2n) / COST_UNIT) * COST_UNIT) as Money;

export class KrakenExchange {
  readonly pairs: readonly DoublePair[];
  readonly orders: DoubleOrder[] = [];
  readonly trades: DoubleTrade[] = [];
  readonly prints: PublicPrint[] = [];
  /** Time from which an order and a trade are listed after they happened, in ms. */
  readonly listedAfterMs = { orders: 0, trades: 0 };
  /** Direction in which a cost or a fee is rounded to the decimals of the balance that it changes. */
  rounding: 'nearest' | 'up' | 'down' = 'nearest';
  /** Called after each change of a book or print. */
  changed: (() => void) | undefined;
  readonly #owners: string[] = ['house'];
  readonly #money = new Map<string, Map<string, Money>>();
  readonly #byEngineId = new Map<MatchingBook, Map<number, DoubleOrder>>();
  readonly #roundedOff = new Map<string, Money>();
  readonly #now: () => number;
  #numbers = 0;

  /** `now` in epoch ms. */
  constructor(now: () => number) {
    this.#now = now;
    this.pairs = [
      this.#pair('XXBTZUSD', 'XBTUSD', 'XBT/USD', 'BTC/USD', ['XXBT', 'XBT'], ['ZUSD', 'USD'], 1, '0.0001'),
      this.#pair('XDGUSD', 'XDGUSD', 'XDG/USD', 'DOGE/USD', ['XXDG', 'XDG'], ['ZUSD', 'USD'], 7, '40'),
    ];
  }

  #pair(
    ...[id, altname, wsname, symbol, base, quote, priceDecimals, minimum]: [
      ...[string, string, string, string],
      ...[readonly [string, string], readonly [string, string], number, string],
    ]
  ): DoublePair {
    const instrument = instrumentOf({
      ...{
        book: symbol.toLowerCase().replace('/', '_'),
        tickSize: `0.${'1'.padStart(priceDecimals, '0')}`,
        lotSize: '0.00000001',
      },
      ...{ minimumAmount: minimum, maximumAmount: '90000000', minimumPrice: '0.0000001', maximumPrice: '99999999' },
      ...{ minimumValue: '0.5', maximumValue: '99999999999' },
    });
    const book = new MatchingBook({
      // Only placements execute. Their own id in the engine is known afterwards, so the executions are kept until then.
      executed: (maker, _makerOwner, _taker, _takerOwner, price, amount) => this.#early!.push([maker, price, amount]),
      prevented: () => undefined,
    });
    this.#byEngineId.set(book, new Map());
    return { id, altname, wsname, symbol, base, quote, priceDecimals, instrument, minimum, book };
  }

  /** Opens an account with balances by the exchange's ids of currencies. */
  open(owner: string, balances: Readonly<Record<string, string>>): void {
    this.#owners.push(owner);
    this.#money.set(owner, new Map(Object.entries(balances).map(([id, text]) => [id, moneyOf(text)])));
  }

  pairNamed(name: string | undefined): DoublePair {
    const pair = this.pairs.find(({ id, altname, wsname }) => [id, altname, wsname].includes(name ?? ''));
    if (!pair) throw new KrakenRefusal('EQuery:Unknown asset pair');
    return pair;
  }

  /** Places an order of the other traders, which have unlimited funds. */
  house(side: Side, price: string, amount: string, altname = 'XBTUSD'): string {
    const fields = { pair: altname, type: side, ordertype: 'limit', price, volume: amount };
    return this.addOrder('house', fields).txid[0]!;
  }

  /** Cancels every order of the other traders. */
  clear(): void {
    for (const { owner, status, txid } of this.orders)
      if (owner === 'house' && status === 'open') this.cancelOrder('house', { txid });
  }

  addOrder(owner: string, fields: Fields): { readonly txid: string[]; readonly descr: { readonly order: string } } {
    const pair = this.pairNamed(fields['pair']);
    const { instrument, book } = pair;
    const { type: side, ordertype, price: priceText = '0', volume = '', oflags = '', timeinforce = 'GTC' } = fields;
    if (side !== 'buy' && side !== 'sell') throw new KrakenRefusal('EGeneral:Invalid arguments:type');
    if (ordertype !== 'limit') throw new KrakenRefusal('EGeneral:Invalid arguments:ordertype');
    const amount = units<Amount>(volume, 8, 'volume');
    const price = units<Price>(priceText, pair.priceDecimals, 'price');
    const clientId = fields['cl_ord_id'];
    const isUuid = clientId !== undefined && /^[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}$/.test(clientId);
    if (clientId !== undefined && !isUuid && clientId.length > 18)
      throw new KrakenRefusal('EGeneral:Invalid arguments:cl_ord_id');
    const isOpenId = this.orders.some(order => order.status === 'open' && order.clientId === clientId);
    if (clientId !== undefined && isOpenId) throw new KrakenRefusal('EOrder:Duplicate order');
    if (amount < units<Amount>(pair.minimum, 8, 'minimum')) throw new KrakenRefusal('EOrder:Order minimum not met');
    const value = rounded(BigInt(price) * BigInt(amount) * instrument.tickLotMoney);
    if (value < moneyOf('0.5')) throw new KrakenRefusal('EOrder:Cost minimum not met');
    const isPost = oflags.split(',').includes('post');
    if (isPost && book.crosses(side, price)) throw new KrakenRefusal('EOrder:Post only order');
    const needed = side === 'buy' ? value + (value * rateOf('taker')) / ONE : BigInt(amount) * instrument.lotMoney;
    const currency = side === 'buy' ? pair.quote[0] : pair.base[0];
    if (owner !== 'house' && needed > this.balance(owner, currency) - this.held(owner, currency))
      throw new KrakenRefusal('EOrder:Insufficient funds');
    const txid = this.#nextId('O');
    const at = this.#now();
    const early: (readonly [maker: number, price: Price, amount: Amount])[] = [];
    this.#early = early;
    const how = timeinforce === 'IOC' ? 'IOC' : isPost ? 'postOnly' : 'GTC';
    const engineId = book.place(side, price, amount, how, this.#owners.indexOf(owner), at);
    this.#early = undefined;
    const rested = book.rested > 0;
    const order: DoubleOrder = {
      ...{ txid, owner, pair, side, price, amount, clientId, oflags, engineId, openedAt: at, trades: [] },
      ...{ filled: 0 as Amount, cost: 0n as Money, fee: 0n as Money, status: 'open', closedAt: 0 },
    };
    this.orders.push(order);
    this.#byEngineId.get(book)!.set(engineId, order);
    for (const [maker, tradePrice, tradeAmount] of early) this.#trade(book, maker, order, tradePrice, tradeAmount);
    if (order.filled < amount && !rested) this.#end(order, 'canceled');
    this.changed?.();
    return { txid: [txid], descr: { order: `${side} ${volume} ${pair.altname} @ limit ${priceText}` } };
  }

  /** Executions of the order that is being placed; undefined between placements. */
  #early: (readonly [maker: number, price: Price, amount: Amount])[] | undefined;

  #trade(book: MatchingBook, makerId: number, taker: DoubleOrder, price: Price, amount: Amount): void {
    const maker = this.#byEngineId.get(book)!.get(makerId)!;
    const number = ++this.#numbers;
    const at = this.#now();
    const { pair } = taker;
    this.prints.push({ pair, number, at, price, amount, takerSide: taker.side });
    for (const order of [maker, taker]) {
      const cost = rounded(BigInt(price) * BigInt(amount) * pair.instrument.tickLotMoney);
      const fee = rounded((cost * rateOf(order === maker ? 'maker' : 'taker')) / ONE);
      const txid = this.#nextId('T');
      this.trades.push({ txid, order, number, at, price, amount, cost, fee, maker: order === maker });
      order.trades.push(txid);
      order.filled = (order.filled + amount) as Amount;
      order.cost = (order.cost + cost) as Money;
      order.fee = (order.fee + fee) as Money;
      const sign = order.side === 'buy' ? 1n : -1n;
      this.#add(order.owner, pair.base[0], sign * BigInt(amount) * pair.instrument.lotMoney);
      this.#add(order.owner, pair.quote[0], -sign * cost);
      this.#add(order.owner, pair.quote[0], -fee);
      if (order.filled === order.amount) this.#end(order, 'closed');
    }
  }

  #add(owner: string, currency: string, sum: bigint): void {
    const money = this.#money.get(owner);
    const unit = 10n ** BigInt(18 - BALANCE_DECIMALS[currency]!);
    const size = sum < 0n ? -sum : sum;
    const more = { nearest: unit / 2n, up: unit - 1n, down: 0n }[this.rounding];
    const booked = ((size + more) / unit) * unit;
    const change = sum < 0n ? -booked : booked;
    const name = `${owner} ${currency}`;
    this.#roundedOff.set(name, ((this.#roundedOff.get(name) ?? 0n) + sum - change) as Money);
    money?.set(currency, ((money.get(currency) ?? 0n) + change) as Money);
  }

  /** Returns what an account lost by rounding in a currency; negative for a gain. */
  roundedOff(owner: string, currency: string): Money {
    return this.#roundedOff.get(`${owner} ${currency}`) ?? (0n as Money);
  }

  #end(order: DoubleOrder, status: 'closed' | 'canceled'): void {
    order.status = status;
    order.closedAt = this.#now();
  }

  cancelOrder(owner: string, fields: Fields): { readonly count: number } {
    const { txid, cl_ord_id: clientId } = fields;
    if (txid === undefined && clientId === undefined) throw new KrakenRefusal('EGeneral:Invalid arguments:txid');
    const own = this.orders.filter(order => order.owner === owner && order.status === 'open');
    const found = own.find(order => (txid === undefined ? order.clientId === clientId : order.txid === txid));
    if (!found) throw new KrakenRefusal('EOrder:Unknown order');
    found.pair.book.cancel(found.engineId);
    this.#end(found, 'canceled');
    this.changed?.();
    return { count: 1 };
  }

  balance(owner: string, currency: string): Money {
    return this.#money.get(owner)?.get(currency) ?? (0n as Money);
  }

  /** Sum that open orders hold in a currency. */
  held(owner: string, currency: string): bigint {
    return this.orders
      .filter(order => order.owner === owner && order.status === 'open')
      .map(({ pair, side, price, amount, filled }) => {
        const left = BigInt(amount - filled);
        if (side === 'buy')
          return pair.quote[0] === currency ? left * BigInt(price) * pair.instrument.tickLotMoney : 0n;
        return pair.base[0] === currency ? left * pair.instrument.lotMoney : 0n;
      })
      .reduce((sum, each) => sum + each, 0n);
  }

  balancesOf(owner: string): Record<string, { readonly balance: string; readonly hold_trade: string }> {
    const held = [...this.#money.get(owner)!].filter(([, sum]) => sum !== 0n);
    return Object.fromEntries(
      held.map(([id, sum]) => [
        id,
        { balance: textOfMoney(sum), hold_trade: textOfMoney(rounded(this.held(owner, id))) },
      ]),
    );
  }

  openOrders(owner: string, { cl_ord_id: clientId, trades }: Fields) {
    const open = this.#listed(owner).filter(({ status }) => status === 'open');
    const some = open.filter(order => clientId === undefined || order.clientId === clientId);
    return { open: this.#rows(some, trades) };
  }

  closedOrders(owner: string, fields: Fields) {
    const { cl_ord_id: clientId, start, ofs = '0', trades } = fields;
    const since = start === undefined ? -Infinity : Number(start) * 1_000;
    const all = this.#listed(owner)
      .filter(order => order.status !== 'open' && order.closedAt > since)
      .filter(order => clientId === undefined || order.clientId === clientId)
      .sort((a, b) => b.closedAt - a.closedAt || (a.txid < b.txid ? 1 : -1));
    return { closed: this.#rows(all.slice(Number(ofs), Number(ofs) + PAGE), trades), count: all.length };
  }

  queryOrders(owner: string, { txid = '', trades }: Fields) {
    const ids = txid.split(',');
    const own = this.#listed(owner).filter(({ txid: id }) => ids.includes(id));
    if (own.length === 0) throw new KrakenRefusal('EOrder:Unknown order');
    return this.#rows(own, trades);
  }

  #rows(orders: readonly DoubleOrder[], trades: string | undefined) {
    const listed = new Set(trades === 'true' ? this.#listedTrades().map(({ txid }) => txid) : []);
    return Object.fromEntries(orders.map(order => [order.txid, orderRow(order, listed)]));
  }

  #listed(owner: string): DoubleOrder[] {
    const until = this.#now() - this.listedAfterMs.orders;
    return this.orders.filter(order => order.owner === owner && order.openedAt <= until);
  }

  #listedTrades(): DoubleTrade[] {
    const until = this.#now() - this.listedAfterMs.trades;
    return this.trades.filter(({ at }) => at <= until);
  }

  tradesHistory(owner: string, { start, ofs = '0' }: Fields) {
    const since = start === undefined ? -Infinity : Number(start) * 1_000;
    const all = this.#listedTrades()
      .filter(trade => trade.order.owner === owner && trade.at > since)
      .reverse();
    const rows = all.slice(Number(ofs), Number(ofs) + PAGE).map(trade => [trade.txid, tradeRow(trade)] as const);
    return { trades: Object.fromEntries(rows), count: all.length };
  }

  queryTrades(owner: string, { txid = '' }: Fields) {
    const ids = txid.split(',');
    const own = this.#listedTrades().filter(({ txid: id, order }) => order.owner === owner && ids.includes(id));
    return Object.fromEntries(own.map(trade => [trade.txid, tradeRow(trade)]));
  }

  tradeVolume({ pair }: Fields) {
    const fee = (kind: keyof typeof PERCENT) =>
      Object.fromEntries(
        (pair ?? '').split(',').map(name => [
          this.pairNamed(name).id,
          {
            ...{ fee: `${PERCENT[kind]}00`, minfee: '0.1000', maxfee: '0.2600', nextfee: '0.2400' },
            nextvolume: '50000.0000',
          },
        ]),
      );
    const fees = pair === undefined ? {} : { fees: fee('taker'), fees_maker: fee('maker') };
    return { currency: 'ZUSD', volume: '123.4567', ...fees };
  }

  #nextId(letter: 'O' | 'T'): string {
    const digits = (this.orders.length + this.trades.length + 1).toString(36).toUpperCase().padStart(6, '0');
    return `${letter}DOUBL-${digits.slice(0, 5)}-${digits.slice(5)}${this.trades.length}`;
  }
}

/** Parses decimal text to whole units of 10^-decimals. */
function units<T extends number>(text: string, decimals: number, field: string): T {
  const [whole = '', fraction = ''] = text.split('.');
  if (!/^\d+$/.test(whole) || !/^\d*$/.test(fraction)) throw new KrakenRefusal(`EGeneral:Invalid arguments:${field}`);
  if (fraction.slice(decimals).replace(/0+$/, '') !== '')
    throw new KrakenRefusal(field === 'price' ? 'EOrder:Invalid price' : `EGeneral:Invalid arguments:${field}`);
  return Number(whole + fraction.slice(0, decimals).padEnd(decimals, '0')) as T;
}

/** Formats whole units of 10^-decimals with all decimals. */
export function decimalText(count: number, decimals: number): string {
  const digits = String(count).padStart(decimals + 1, '0');
  return decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

const secondsOf = (ms: number): number => ms / 1_000;

/** `listed`: ids of the trades that the row may contain. */
function orderRow(order: DoubleOrder, listed: ReadonlySet<string>) {
  const { pair, side, amount, filled, clientId, oflags, openedAt, closedAt, status, cost, fee } = order;
  const trades = order.trades.filter(txid => listed.has(txid));
  const price = decimalText(order.price, pair.priceDecimals);
  return {
    ...{ refid: null, userref: 0, ...(clientId === undefined ? {} : { cl_ord_id: clientId }), status },
    ...{ opentm: secondsOf(openedAt), starttm: 0, expiretm: 0 },
    descr: {
      ...{ pair: pair.altname, type: side, ordertype: 'limit', price, price2: '0', leverage: 'none' },
      ...{ order: `${side} ${decimalText(amount, 8)} ${pair.altname} @ limit ${price}`, close: '' },
    },
    ...{
      vol: decimalText(amount, 8),
      vol_exec: decimalText(filled, 8),
      cost: textOfMoney(cost, 5),
      fee: textOfMoney(fee, 5),
    },
    ...{ price, stopprice: '0.00000', limitprice: '0.00000', misc: '', oflags: oflags === '' ? 'fciq' : oflags },
    ...(status === 'open'
      ? {}
      : { closetm: secondsOf(closedAt), reason: status === 'canceled' ? 'User requested' : null }),
    ...(trades.length > 0 ? { trades } : {}),
  };
}

function tradeRow({ order, at, price, amount, cost, fee, number, maker }: DoubleTrade) {
  const { pair, side, txid } = order;
  return {
    ...{ ordertxid: txid, postxid: 'TKH2SE-M7IF5-CFI7LT', pair: pair.id, time: secondsOf(at), type: side },
    ...{ ordertype: 'limit', price: decimalText(price, pair.priceDecimals), cost: textOfMoney(cost, 5) },
    ...{ fee: textOfMoney(fee, 5), vol: decimalText(amount, 8), margin: '0.00000', misc: '', trade_id: number, maker },
  };
}
