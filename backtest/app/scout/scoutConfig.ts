/** Configuration for the best book of a scout: one level per side at the best distance, within small limits. */
import { stringify } from 'yaml';
import { bpsText, type ScoutedBook, type Scouting } from '../../index.ts';
import { eightDecimals, fourDigits, quotingAt } from '../../../strategies/index.ts';
import { loadConfig, type Config } from '../../../src/config.ts';
import type { BookRules, FeeTier } from '../../../src/core/index.ts';
import type { Scouted } from './scout.ts';

const ORDERS_PER_SIDE = 10;
/** Maximum loss before a halt, as a share of the account's value. */
const LOSS_SHARE = 0.02;

/** Returns valid YAML; `null` if quoting pays in no book. Throws an Error if the YAML is invalid, which is a bug. */
export function scoutConfig({ scouting, found }: Scouted, config: Config): string | null {
  const [best] = scouting.books;
  const about = best && found.get(best.name);
  if (best === undefined || about === undefined || !best.verdict.quote) return null;
  const text = [...heading(scouting, best), stringify(configOf(best, about, config, scouting.fees)).trimEnd(), ''].join(
    '\n',
  );
  const loaded = loadConfig(text, best.name);
  if (!loaded.ok) throw new Error(`the configuration of ${best.name} is invalid: ${loaded.errors.join('; ')}`);
  return text;
}

function heading({ looked }: Scouting, { book, seconds, feeBps, minor, verdict }: ScoutedBook): readonly string[] {
  if (!verdict.quote) return [];
  const { value, low, high } = verdict.netPerHour;
  const [net, from, to] = [value, low, high].map(x => fourDigits(x));
  return [
    `# Written by puntas scout from ${Math.round(seconds / 60)} minutes of ${book} at ${looked}.`.replaceAll(
      /[\r\n]/g,
      ' ',
    ),
    `# At a maker fee of ${bpsText(feeBps)} bps, expected net ${net} ${minor} per hour (95%: ${from} to ${to}), with each fill valued at the mid price 60 s later.`,
    '# Read docs/scout.md, check every limit below, and run the configuration on paper first.',
    '',
  ];
}

function configOf(
  best: ScoutedBook,
  {
    rules,
    path,
    tiers,
  }: { readonly rules: BookRules; readonly path: string | null; readonly tiers: readonly FeeTier[] },
  config: Config,
  fees: string,
): object {
  const { book, major, minor, mid, orderValue, verdict, feeBps } = best;
  const { book: own, exchange } = config;
  // The profit was measured at the fees that the configuration sets.
  const isConfigured = fees === 'config';
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
    exchange: {
      ...exchangeOf(config, { path, balances, volume30d: volumeOf(config, tiers, feeBps, fees) }),
      ...(isConfigured && exchange.kind === 'embedded' && exchange.fees && book === own && { fees: exchange.fees }),
    },
    ...(isConfigured && path !== null && config.backtest.fees && { backtest: { fees: config.backtest.fees } }),
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
      path === null && { paper: { balances, volume30d: config.paper.volume30d } }),
    state: { dir: `./state-${book}` },
  };
}

/** Returns an embedded exchange that replays `path`, or if `path` is `null`, the exchange that was measured. */
function exchangeOf(
  { exchange }: Config,
  own: {
    readonly path: string | null;
    readonly balances: Readonly<Record<string, string>>;
    readonly volume30d: string;
  },
): object {
  const { path, balances, volume30d } = own;
  if (path !== null) return { kind: 'embedded', market: { kind: 'tape', dir: path }, balances, volume30d };
  if (exchange.kind === 'remote') return exchange;
  const { seed, engineDelayMs } = exchange;
  return { kind: 'embedded', seed, engineDelayMs, market: { kind: 'flow' }, balances, volume30d };
}

/**
 * Returns a 30-day volume in the first tier whose maker fee is at most the assumed fee. If there is no such tier, the
 * volume is beyond all tiers.
 */
function volumeOf({ exchange }: Config, tiers: readonly FeeTier[], feeBps: number, fees: string): string {
  const i = tiers.findIndex(({ maker }) => 1e4 * Number(maker) <= feeBps + 1e-9);
  if (fees === 'config' && exchange.kind === 'embedded' && i === tiers.length - 1) return exchange.volume30d;
  const below = tiers[(i < 0 ? tiers.length : i) - 1];
  return below === undefined ? '0' : String(Math.floor(Number(below.volume)) + 1);
}
