/** Runs with a hedger on the embedded exchange, and what the exchange says became of them. */
import { moneyOf, type Money, type WireRequest } from '../../src/core/index.ts';
import { around } from '../sandbox/desk.ts';
import { worldOf, type World } from '../live/world.ts';

/** 0.08 btc more than wanted; a strategy that hardly quotes, so that only hedges move it. */
export const hedgedWorld = (seed: number, hedge: object = {}, btc = '1.58', others: object = {}): World =>
  worldOf(seed, {
    exchange: { balances: { btc, mxn: '2000000' } },
    strategy: { halfSpreadBps: 150, levels: 1 },
    timing: { requestDelayMaxMs: 20_000, tradeReportDelayMaxMs: 5_000 },
    hedge: { band: '0.05', costMaxBps: 100, ...hedge },
    ...others,
  });

export const held = ({ box }: World, currency = 'btc'): Money =>
  box.exchange.venue.accounts.get(box.account.id)!.total(currency);

/** What the exchange carried out. */
export const converted = ({ box }: World) =>
  box.exchange.venue.accounts
    .get(box.account.id)!
    .transfers.list()
    .filter(({ kind }) => kind === 'conversion');

export const isAccept = ({ method, target }: WireRequest): boolean =>
  (method === 'POST' && target.endsWith('/rfq/v1/conversions')) ||
  (method === 'PUT' && target.includes('/currency_conversions/'));

export const isTake = ({ method, body }: WireRequest): boolean =>
  method === 'POST' && body.includes('immediateorcancel');

/** Books against the dollar: 18.31 mxn each, and a btc that is dearer there by so many bps (cheaper, below zero). */
export function dollars({ box }: World, bps: number): void {
  const { engine } = box.exchange.venue.books.get('btc_mxn')!;
  const middle = (Number(engine.bestBid()) + Number(engine.bestAsk())) / 2;
  const { tickMoney } = box.exchange.venue.books.get('btc_mxn')!.instrument;
  const usdTick = box.exchange.venue.books.get('btc_usd')!.instrument.tickMoney;
  const inUsd = ((middle * Number(tickMoney)) / 18.31) * (1 + bps / 10_000);
  const ticks = Math.round(inUsd / Number(usdTick));
  around(box.exchange, 'usd_mxn', 18_300, 18_320);
  around(box.exchange, 'btc_usd', ticks - 1, ticks + 1);
}

export const WANTED = moneyOf('1.5');
