/** Configuration for the best book of a scout: one level per side at the best distance, within small limits. */
import { stringify } from 'yaml';
import { bpsText, type ScoutedBook, type Scouting } from '../../index.ts';
import { eightDecimals, fourDigits, quotingAt } from '../../../strategies/index.ts';
import { flowMarketOf, loadConfig, marketBooksOf, marketModelOf, type Config } from '../../../src/config.ts';
import { counted, cyclesOf, pairOf, type BookRules, type FeeTier } from '../../../src/core/index.ts';
import { feesOf } from '../../../src/sandbox/index.ts';
import type { VenueFees } from '../backtest/backtest.ts';
import type { Scouted } from './scout.ts';

const ORDERS_PER_SIDE = 10;
/** Maximum loss before a halt, as a share of the account's value. */
const LOSS_SHARE = 0.02;

/**
 * Text of a configuration. `note` is a warning if its fees apply in a backtest but not in other runs; otherwise `null`.
 */
export type ScoutConfig = { readonly text: string; readonly note: string | null };

/** Returns valid YAML; `null` if quoting pays in no book. Throws an Error if the YAML is invalid, which is a bug. */
export function scoutConfig({ scouting, found }: Scouted, config: Config): ScoutConfig | null {
  const [best] = scouting.books;
  const about = best && found.get(best.name);
  if (best === undefined || about === undefined || !best.verdict.quote) return null;
  const charge = chargeOf(best, about.tiers, config, scouting.fees);
  const uncharged = isEmbedded(config, about.path) ? ONLY_BACKTEST : about.tiers.length === 0 ? NO_PAPER_REBATE : null;
  const note = charge.hasRebate ? uncharged : null;
  const text = [...heading(scouting, best, note), stringify(configOf(best, about, config, charge)).trimEnd(), ''].join(
    '\n',
  );
  const loaded = loadConfig(text, best.name);
  if (!loaded.ok) throw new Error(`the configuration of ${best.name} is invalid: ${loaded.errors.join('; ')}`);
  return { text, note };
}

const ONLY_BACKTEST =
  'Only puntas backtest uses the fees in backtest.fees. puntas check and puntas run use the fees of the embedded exchange, which pays no rebate, and can reject the spreads of this configuration.';

const NO_PAPER_REBATE =
  'Paper trading pays no rebate: paper.fees charges 0 instead, so puntas check can refuse these spreads.';

/** Whether the written configuration has an embedded exchange; always true for a recording at `path`. */
const isEmbedded = ({ exchange }: Config, path: string | null): boolean =>
  path !== null || exchange.kind === 'embedded';

function heading(
  { looked }: Scouting,
  { book, seconds, feeBps, minor, verdict }: ScoutedBook,
  note: string | null,
): readonly string[] {
  if (!verdict.quote) return [];
  const { value, low, high } = verdict.netPerHour;
  const [net, from, to] = [value, low, high].map(x => fourDigits(x));
  return [
    `# Written by puntas scout from ${counted(Math.round(seconds / 60), 'minute')} of ${book} at ${looked}.`.replaceAll(
      /[\r\n]/g,
      ' ',
    ),
    `# At a maker fee of ${bpsText(feeBps)} bps, expected net ${net} ${minor} per hour (90%: ${from} to ${to}), with each fill valued at the mid price 60 s later.`,
    ...(note === null ? [] : [`# ${note}`]),
    '# Read docs/scout.md, check every limit below, and run the configuration on paper first.',
    '',
  ];
}

/**
 * Account settings that result in the measured fee. `volume30d`: volume of the tier with this fee, or of the nearest
 * tier. `fees`: the measured fees. `isListed`: whether the embedded exchange charges these fees at `volume30d`.
 * `hasRebate`: whether a fee is negative, which only a backtest supports.
 */
type Charge = {
  readonly volume30d: string;
  readonly fees: VenueFees;
  readonly isListed: boolean;
  readonly hasRebate: boolean;
};

function chargeOf(
  { book, feeBps }: ScoutedBook,
  tiers: readonly FeeTier[],
  config: Config,
  asked: Scouting['fees'],
): Charge {
  const volume30d = volumeOf(config, tiers, feeBps, asked);
  const at = tiers.find(({ maker }) => 1e4 * Number(maker) <= feeBps + 1e-9) ?? tiers.at(-1);
  const isTier = at !== undefined && Math.abs(1e4 * Number(at.maker) - feeBps) < 1e-6;
  const maker = isTier ? at.maker : (feeBps / 1e4).toFixed(8);
  const taker = at?.taker ?? maker;
  const own = feesOf(pairOf(book)[1]).tiers.find(({ volume }) => Number(volume30d) <= Number(volume));
  const isListed = own !== undefined && Number(own.maker) === Number(maker) && Number(own.taker) === Number(taker);
  return { volume30d, fees: { maker, taker }, isListed, hasRebate: Number(maker) < 0 || Number(taker) < 0 };
}

function configOf(
  best: ScoutedBook,
  {
    rules,
    path,
    tiers,
  }: { readonly rules: BookRules; readonly path: string | null; readonly tiers: readonly FeeTier[] },
  config: Config,
  { volume30d, fees, isListed, hasRebate }: Charge,
): object {
  const { book, major, minor, mid, orderValue, verdict, feeBps } = best;
  const account = isListed || hasRebate ? { volume30d } : { fees };
  const distance = verdict.quote ? verdict.distanceBps : 0;
  const price = mid ?? 1;
  const least = Math.max(Number(rules.minimumAmount), (1.1 * Number(rules.minimumValue)) / price);
  // Adds one unit of the eighth decimal place, so that rounding down does not go below the minimum amount.
  const amount = Math.max(least + 1e-8, (orderValue ?? 0) / price);
  const full = ORDERS_PER_SIDE * amount;
  const balances = { [major]: eightDecimals(2 * full), [minor]: eightDecimals(2 * full * price) };
  const loss = eightDecimals(LOSS_SHARE * 2 * full * price);
  return {
    book,
    instance: 'scout',
    exchange: exchangeOf(config, book, path, { balances, ...account }),
    ...(hasRebate && isEmbedded(config, path) && { backtest: { fees } }),
    strategy: quotingAt(distance, feeBps, eightDecimals(amount)),
    markouts: {},
    limits: {
      positionMax: eightDecimals(full),
      orderValueMax: eightDecimals(2 * amount * price),
      ordersMax: 4,
      collarBps: Math.min(5_000, Math.ceil(Math.max(200, 3 * distance))),
      drawdownMax: loss,
      dayLossMax: loss,
    },
    ...(config.exchange.kind === 'remote' &&
      path === null && { paper: { balances, ...(tiers.length > 0 ? { volume30d } : { fees: withoutRebate(fees) }) } }),
    state: { dir: `./state-${book}` },
  };
}

/** Returns the fees with 0 in place of a rebate. */
const withoutRebate = ({ maker, taker }: VenueFees): VenueFees => ({
  maker: Number(maker) < 0 ? '0' : maker,
  taker: Number(taker) < 0 ? '0' : taker,
});

/**
 * Returns an embedded exchange that replays `path`, or if `path` is `null`, the exchange that was measured. `book`: the
 * book that the written configuration trades; its fees are in `account`.
 */
function exchangeOf({ exchange, book: traded }: Config, book: string, path: string | null, account: object): object {
  if (path !== null) return { kind: 'embedded', market: { kind: 'tape', dir: path }, ...account };
  if (exchange.kind === 'remote') return exchange;
  const { seed, engineDelayMs } = exchange;
  const books = marketBooksOf(exchange);
  const { fees: _own, ...best } = books?.[book] ?? {};
  const others = { ...books, [traded]: { ...(exchange.fees && { fees: exchange.fees }), ...books?.[traded] } };
  const shared = books && { books: { ...others, [book]: best } };
  return {
    kind: 'embedded',
    seed,
    engineDelayMs,
    market: { ...marketModelOf(exchange), ...(shared && commonOf(exchange, Object.keys(shared.books))), ...shared },
    ...(shared && { volume30d: exchange.volume30d }),
    ...account,
  };
}

/**
 * Returns the settings that all live books of the market share: the correlation and, if three of `books` form a cycle,
 * the arbitrageur.
 */
function commonOf(exchange: Config['exchange'], books: readonly string[]): object {
  const { correlation, arbitrageur } = flowMarketOf(exchange) ?? {};
  return {
    ...(correlation !== undefined && { correlation }),
    ...(arbitrageur && cyclesOf(books).length > 0 && { arbitrageur }),
  };
}

/**
 * Returns a 30-day volume in the first tier whose maker fee is at most the assumed fee; with `--fees config`, the
 * configured volume if it is in this tier. If there is no such tier, the volume is in the last tier.
 */
function volumeOf({ exchange, paper }: Config, tiers: readonly FeeTier[], feeBps: number, asked: string): string {
  const found = tiers.findIndex(({ maker }) => 1e4 * Number(maker) <= feeBps + 1e-9);
  const i = found < 0 ? tiers.length - 1 : found;
  const known = exchange.kind === 'embedded' ? exchange.volume30d : paper.volume30d;
  if (asked === 'config' && i === tiers.findIndex(({ volume }) => Number(known) <= Number(volume))) return known;
  const below = tiers[i - 1];
  return below === undefined ? '0' : String(Math.floor(Number(below.volume)) + 1);
}
