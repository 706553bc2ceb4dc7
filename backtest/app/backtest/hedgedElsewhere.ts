/** Recording of the other exchange in a backtest: when it can serve the hedges there, and the accounts of both exchanges. */
import { moneyOf, textOfMoney, type Money } from '../../../src/core/index.ts';
import { externalReferenceOf, type Config } from '../../../src/config.ts';
import { KIND, midsOf, type Tape } from '../../../src/tape/index.ts';
import { rateSourcesOf } from '../../../src/wiring/elsewhereHedging.ts';
import { UsageError } from '../../../src/wiring/usageError.ts';
import { venueElsewhere } from '../../../src/wiring/venueRegistry.ts';
import {
  priceKindOf,
  type ExternalReferenceOptions,
  type HedgeTape,
  type ElsewhereExchangeOptions,
  type ReplayOptions,
} from '../../index.ts';
import { overlapProblem, type ReferenceTapes, type Span } from './hedgeRoutes.ts';

/**
 * Returns why hedges of a configuration cannot execute on a recording; `null` if they can. `hedge`: recording of the
 * other exchange, as in --hedge-tape.
 */
export function hedgeTapeProblem({ hedge: keys, elsewhere }: Config, { name, tape }: HedgeTape): string | null {
  if (keys?.elsewhere === undefined || elsewhere === undefined)
    return 'the configuration has no hedges on another exchange (hedge.elsewhere); remove the flag';
  if (tape.instrument.symbol !== elsewhere.book)
    return `expected the book ${elsewhere.book} (elsewhere.book), found ${name}; pass a recording of ${elsewhere.book}`;
  const kind = priceKindOf(tape);
  return kind === 'depth'
    ? null
    : `${name} has ${kind}, but hedges execute against levels with amounts; pass a recording with depth`;
}

/**
 * Returns why the recording of the other exchange has no effect or cannot serve a configuration, as text with its name;
 * `null` if every configuration with hedges there can use the recording.
 */
export function hedgeTapeProblemOf(
  configs: readonly { readonly name: string; readonly config: Config | null }[],
  hedge: HedgeTape,
): string | null {
  const hedging = configs.filter(({ config }) => config?.hedge?.elsewhere !== undefined);
  if (hedging.length === 0)
    return 'no configuration has hedges on another exchange (hedge.elsewhere); remove the flag, or pass such a configuration with -c';
  for (const { name, config } of hedging) {
    const problem = hedgeTapeProblem(config!, hedge);
    if (problem !== null) return `${name}: ${problem}`;
  }
  return null;
}

/** Throws a UsageError if there is a reason why hedges cannot execute on a recording. */
export function refuseHedgeTape(problem: string | null): void {
  if (problem !== null) throw new UsageError(`--hedge-tape: ${problem}`);
}

/** Returns the recordings of the reference price. The recording of the other exchange is one of them if it is needed. */
export function withHedgeTape(config: Config, tapes: ReferenceTapes, { tape }: HedgeTape): ReferenceTapes {
  const { symbol } = tape.instrument;
  const isUsed = externalReferenceOf(config)?.legs.some(({ book }) => book === symbol) === true;
  return isUsed && !tapes.has(symbol) ? new Map([...tapes, [symbol, tape]]) : tapes;
}

/** Accounts of a backtest on both exchanges. */
export type BothAccounts = {
  readonly balances: ReplayOptions['balances'];
  readonly otherExchange: ElsewhereExchangeOptions;
};

/**
 * Returns the accounts on both exchanges, given that on the bot's exchange; the reason why hedges cannot be simulated,
 * as text. An embedded exchange has the balances of its configuration. On a remote one, the account covers the position
 * limit in both currencies, but both exchanges share the target.
 */
export function bothAccountsOf(
  config: Config,
  balances: ReplayOptions['balances'],
  { tape, feeBps, latencyMs, name }: HedgeTape,
  span: Span,
  reference: ExternalReferenceOptions | undefined,
): BothAccounts | string {
  const { elsewhere, inventory, limits } = config;
  if (elsewhere === undefined) throw new Error('expected the section elsewhere in the configuration, found none');
  const late = overlapProblem(span, midsOf(tape));
  if (late !== null) return `${name} ${late}`;
  const { instrument } = tape;
  const { major, minor } = instrument;
  const names = rateSourcesOf(config);
  if (names !== null && !names.some(one => one === reference?.source))
    return `no rate of ${minor} is known; the first source of reference.sources must start with ${instrument.symbol} and continue through other books, and each of these books needs a recording (--reference BOOK=DIR)`;
  const other = {
    ...{ tape, latencyMs, taker: (feeBps / 10_000).toFixed(8) },
    isStreamed: elsewhere.stream && venueElsewhere(elsewhere).marketStream !== undefined,
  };
  const there = (base: string, quote: string) => ({ ...other, balances: { [major]: base, [minor]: quote } });
  if (elsewhere.kind === 'embedded')
    return { balances, otherExchange: there(elsewhere.balances[major] ?? '0', elsewhere.balances[minor] ?? '0') };
  const most = 2n * moneyOf(limits.positionMax);
  const text = (sum: bigint): string => textOfMoney(sum as Money);
  const quote = text((most * BigInt(firstTicksOf(tape)) * instrument.tickMoney) / 10n ** 18n);
  if (inventory.target === undefined) return { balances, otherExchange: there(text(most), quote) };
  const target = moneyOf(inventory.target);
  const half = target / 2n - ((target / 2n) % instrument.lotMoney);
  return { balances: { ...balances, [major]: text(target - half) }, otherExchange: there(text(half), quote) };
}

/** Returns the accounts as `bothAccountsOf` does. @throws UsageError with the reason why there are none. */
export function requireBothAccounts(...of: Parameters<typeof bothAccountsOf>): BothAccounts {
  const found = bothAccountsOf(...of);
  if (typeof found === 'string') throw new UsageError(`--hedge-tape: ${found}`);
  return found;
}

/** Returns the price of the first level of a recording, in ticks. */
const firstTicksOf = ({ columns: { kind, price } }: Tape): number =>
  price[kind.findIndex(k => k === KIND.level || k === KIND.add)]!;
