/** Prints what recorded prices foretell of each other, for the pairs among the public recordings: `npm run leaders`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import {
  basisMemoryFor,
  leaderIn,
  logSecondsOf,
  openTape,
  type Leader,
  type LogSeconds,
} from '../../src/tape/index.ts';

const DATA = process.env.PUNTAS_DATA ?? '../shared/data';
const HOUR = 3_600_000;

type Priced = readonly [at: number, price: number];

/** Cells of each line; of a file with a header its first line is one too. */
const csv = (...path: string[]): string[][] =>
  gunzipSync(readFileSync(join(DATA, ...path)))
    .toString()
    .trim()
    .split('\n')
    .map(line => line.split(','));

/** Each price holds until the next one, for ten minutes at most. Times ascend. */
function secondsOf(prices: readonly Priced[]): LogSeconds {
  const sorted = prices.filter(([at, price]) => at > 0 && price > 0).sort((a, b) => a[0] - b[0]);
  const from = Math.floor((sorted[0]?.[0] ?? 0) / 1_000);
  const values = new Float64Array(Math.floor((sorted.at(-1)?.[0] ?? 0) / 1_000) - from + 1).fill(Number.NaN);
  sorted.forEach(([at, price], i) => {
    const until = Math.min(sorted[i + 1]?.[0] ?? at, at + HOUR / 6);
    // At the end of each second up to the next price.
    for (let s = Math.floor(at / 1_000); s * 1_000 + 1_000 <= until; s++) values[s - from] = Math.log(price);
  });
  return { from, values };
}

/** Middles of a two-sided book that is not crossed. */
const middles = (rows: readonly (readonly [at: number, bid: number, ask: number])[]): LogSeconds =>
  secondsOf(rows.filter(([, bid, ask]) => ask > bid).map(([at, bid, ask]) => [at, (bid + ask) / 2]));

function dealer(name: string, pair: string, day: string): LogSeconds {
  const start = Date.parse(`${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}T00:00:00Z`);
  // FXCM tells New York's winter time.
  const shift = name === 'fxcm' ? 5 * HOUR : 0;
  return middles(
    csv('fx-oanda-fxcm-2014-05-two-venues-l1', `${name}_${pair}_${day}.csv.gz`).map(([ms, bid, ask]) => [
      start + shift + Number(ms),
      Number(bid),
      Number(ask),
    ]),
  );
}

// The first of the two days: they lie seven weeks apart.
const brazil = csv('btcbrl-2017-09-07_10-30-five-venues-bbo', 'btcbrl_2017-09-07_10-30_five_venues.csv.gz').filter(
  ([at]) => Number(at) < Date.parse('2017-09-09'),
);
const venue = (name: string): LogSeconds =>
  middles(brazil.filter(([, of]) => of === name).map(([at, , bid, ask]) => [Number(at), Number(bid), Number(ask)]));

const last = (name: string): LogSeconds =>
  secondsOf(
    csv('bitflyer-btcbox-btcjpy-2018-08-12-two-venues-last', `${name}JPY_2018-08-12_00-12.csv.gz`)
      .slice(1)
      .map(([text, price]) => [Date.parse(`${text?.replace(' ', 'T')}+09:00`), Number(price)]),
  );

const ETHBTC = 'binance-spot-2020-11-01-ethbtc-l2-trades';
const traded = (symbol: string): LogSeconds => {
  const text = gunzipSync(readFileSync(join(DATA, ETHBTC, `${symbol}_2020-11-01T09_trades.json.gz`))).toString();
  const rows = JSON.parse(text) as { readonly T: number; readonly p: string }[];
  return secondsOf(rows.map(({ T, p }) => [T, Number(p)]));
};

/** One divided by the other. */
function ratio(a: LogSeconds, b: LogSeconds): LogSeconds {
  return { from: a.from, values: a.values.map((value, i) => value - (b.values[i + a.from - b.from] ?? Number.NaN)) };
}

const n = (x: number): string => (Math.abs(x) < 0.005 ? '0.00' : x.toFixed(2));

function row(name: string, own: LogSeconds, leader: LogSeconds, ageS: number): void {
  const found: Leader = leaderIn(own, leader, { ageS, basisMemoryS: basisMemoryFor(own.values.length) });
  const cells = found.horizons.map(({ foretold: f }) =>
    f === null
      ? '-'
      : `${n(f.slope.value)} (${n(f.low)} to ${n(f.high)}), ${n(f.r)} / ${n(f.rLater)}${f.holds ? '' : ' no'}`,
  );
  console.log(
    `| ${name}, ${ageS} s old | ${(100 * found.moving).toFixed(0)} % | ${cells.join(' | ')} | ${n(found.weight)} |`,
  );
}

for (const [pair, day] of [
  ['eurusd', '20140513'],
  ['nzdusd', '20140515'],
] as const) {
  const [oanda, fxcm] = [dealer('oanda', pair, day), dealer('fxcm', pair, day)];
  for (const ageS of [0, 1, 3]) row(`${pair} of OANDA by FXCM`, oanda, fxcm, ageS);
  for (const ageS of [0, 1]) row(`${pair} of FXCM by OANDA`, fxcm, oanda, ageS);
}
const names = ['foxbit', 'mercado', 'negocieCoins', 'flowbtc', 'braziliex'];
for (const own of names.slice(0, 2))
  for (const other of names) if (other !== own) row(`${own} by ${other}`, venue(own), venue(other), 0);
const [bitflyer, btcbox] = [last('bitflyer'), last('btcbox')];
for (const ageS of [0, 1, 5]) row('BTCBox by bitFlyer', btcbox, bitflyer, ageS);
row('bitFlyer by BTCBox', bitflyer, btcbox, 0);
const tape = await openTape(join(DATA, ETHBTC), { book: 'eth_btc' });
const legs = ratio(traded('ETHUSDT'), traded('BTCUSDT'));
for (const ageS of [0, 1, 3]) row('eth_btc of Binance by eth_usdt / btc_usdt', logSecondsOf(tape), legs, ageS);
