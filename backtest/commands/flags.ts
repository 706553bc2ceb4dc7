/**
 * Parsers for flags of research commands. They return a checked value, or throw an error that states the expected
 * format.
 */
import { InvalidArgumentError, type Command } from 'commander';
import type { QueueAddress } from '../app/queue/queueAddress.ts';
import type { FeesAsked } from '../app/scout/scout.ts';
import type { StoredFiles } from '../app/tapeStore/storedFiles.ts';
import { recordedTime } from '../../src/cli/terminal/flags.ts';
import type { Millis } from '../../src/core/index.ts';
import { HEDGE_LATENCY_MS } from '../index.ts';

/** Parses a drift in bps per hour, from -5000 to 5000; decimals are allowed. */
export function driftNumber(text: string): number {
  const n = Number(text);
  if (!(/^-?\d+(\.\d+)?$/.test(text) && Math.abs(n) <= 5_000))
    throw new InvalidArgumentError('expected a number of bps from -5000 to 5000.');
  return n;
}

const UNITS = { MB: 1e6, GB: 1e9, TB: 1e12 } as const;

/** Parses a size above 0, such as 500MB, 20GB or 1TB; returns bytes. */
export function sizeFlag(text: string): number {
  const [, digits, unit] = /^(\d+(?:\.\d+)?)(MB|GB|TB)$/.exec(text) ?? [];
  const bytes = Number(digits) * UNITS[unit as keyof typeof UNITS];
  if (!(bytes > 0 && bytes <= 1e15)) throw new InvalidArgumentError('expected a size like 500MB, 20GB or 1TB.');
  return bytes;
}

const SWEEP_MAX_MS = 60_000;
const SWEEP_MAX = 12;

/**
 * Parses up to twelve latencies in ms, each at most one minute, separated by commas. Returns them sorted and without
 * duplicates.
 */
export function sweepFlag(text: string): readonly number[] {
  const all = text.split(',').map(one => (/^\d+(\.\d+)?$/.test(one) ? Number(one) : Number.NaN));
  if (!(all.length <= SWEEP_MAX && all.every(ms => ms >= 0 && ms <= SWEEP_MAX_MS)))
    throw new InvalidArgumentError('expected up to twelve latencies in ms, like 0,25,100, each at most 60000.');
  return [...new Set(all)].sort((a, b) => a - b);
}

const FEES_MAX = 8;

/**
 * Parses up to eight fees in bps, separated by commas; negative for a rebate. Returns them in the given order and
 * without duplicates.
 */
export function feesFlag(text: string): readonly number[] {
  const all = text.split(',').map(one => (/^-?\d+(\.\d+)?$/.test(one) ? Number(one) : Number.NaN));
  if (!(all.length <= FEES_MAX && all.every(bps => Math.abs(bps) <= 1_000)))
    throw new InvalidArgumentError('expected up to eight fees in bps, like 4,10, from -1000 to 1000.');
  return [...new Set(all)];
}

/** Parses a maker and a taker fee as fractions, such as -0.0001,0.0005; negative for a rebate. */
export function venueFeesFlag(text: string): { readonly maker: string; readonly taker: string } {
  const [, maker, taker] = /^(-?0(?:\.\d{1,8})?),(-?0(?:\.\d{1,8})?)$/.exec(text) ?? [];
  if (maker === undefined || taker === undefined)
    throw new InvalidArgumentError('expected a maker and a taker fee as fractions, like -0.0001,0.0005.');
  return { maker, taker };
}

/** Adds the flag for fees of another exchange. */
export const venueFees = (command: Command): Command =>
  command.option(
    '--venue-fees <maker,taker>',
    'fees to use instead of the exchange fees (fractions), like -0.0001,0.0005',
    venueFeesFlag,
  );

/** Parses an interval of 50 to 60000 whole ms, like `decideEveryMs`. */
export function cadenceFlag(text: string): Millis {
  const n = Number(text);
  if (!(/^\d+$/.test(text) && n >= 50 && n <= 60_000))
    throw new InvalidArgumentError('expected a whole number of ms from 50 to 60000.');
  return n;
}

/** Parses the number of starts, from 1 to 60. */
export function startsFlag(text: string): number {
  if (!/^([1-9]|[1-5]\d|60)$/.test(text)) throw new InvalidArgumentError('expected a whole number from 1 to 60.');
  return Number(text);
}

/** Parses the share of a recording, from 0.05 to 0.9. */
export function partFlag(text: string): number {
  const share = Number(text);
  if (!(/^0?\.\d+$/.test(text) && share >= 0.05 && share <= 0.9))
    throw new InvalidArgumentError('expected a share from 0.05 to 0.9.');
  return share;
}

/** Parses the fees of a scout: a tier by name, or a maker fee in bps. */
export function tierOrFeeFlag(text: string): FeesAsked {
  if (text === 'config' || text === 'best' || text === 'entry') return text;
  const fee = Number(text);
  if (!(/^-?\d+(\.\d+)?$/.test(text) && Math.abs(fee) <= 1_000))
    throw new InvalidArgumentError('expected config, best, entry, or a maker fee in bps like 4.');
  return fee;
}

/** Parses a latency in ms, at most one minute. */
export function latencyMsFlag(text: string): number {
  const ms = Number(text);
  if (!(/^\d+(\.\d+)?$/.test(text) && ms <= 60_000))
    throw new InvalidArgumentError('expected milliseconds like 25, at most 60000.');
  return ms;
}

/** Flags of the recording of a hedge exchange. */
export type HedgeFlags = {
  readonly hedgeTape?: string;
  readonly hedgeBook?: string;
  readonly hedgeFee: number;
  readonly hedgeBack?: number;
  readonly hedgeLatencyMs: number;
};

/** Default taker fee of a hedge exchange, in bps: common for spot books of large exchanges. */
const HEDGE_FEE_BPS = 10;

/** Names of the flags of `hedgeFlags`. */
export const HEDGE_FLAGS = ['hedgeTape', 'hedgeBook', 'hedgeFee', 'hedgeLatencyMs'];

/** Adds the flags of the recording of a hedge exchange. */
export const hedgeFlags = (command: Command): Command =>
  command
    .option('--hedge-tape <path>', 'recording of the hedge exchange')
    .option('--hedge-book <book>', 'book in --hedge-tape')
    .option('--hedge-fee <bps>', 'hedge taker fee (bps)', hedgeFeeFlag, HEDGE_FEE_BPS)
    .option('--hedge-latency-ms <n>', 'hedge exchange latency each way (ms)', latencyMsFlag, HEDGE_LATENCY_MS);

/** Adds the flags of commands that value hedges without a hedger; a hedger has the cost in `hedge.elsewhere.backBps`. */
export const hedgeCostFlags = (command: Command): Command =>
  hedgeFlags(command).option('--hedge-back <bps>', 'moving money back (bps; default: from -c, or 0)', hedgeBackFlag);

/** Parses a fee in bps, from -1000 to 1000; negative for a rebate. */
function hedgeFeeFlag(text: string): number {
  const fee = Number(text);
  if (!(/^-?\d+(\.\d+)?$/.test(text) && Math.abs(fee) <= 1_000))
    throw new InvalidArgumentError('expected a fee in bps like 10, from -1000 to 1000.');
  return fee;
}

/** Parses a cost in bps, from 0 to 5000 like `hedge.elsewhere.backBps`. */
function hedgeBackFlag(text: string): number {
  const cost = Number(text);
  if (!(/^\d+(\.\d+)?$/.test(text) && cost <= 5_000))
    throw new InvalidArgumentError('expected a cost in bps like 5, from 0 to 5000.');
  return cost;
}

/** Adds the flags for start and end of trading in a recording. */
export const tradedTime = (command: Command): Command =>
  command
    .option('--since <time>', 'start of trading, like 2026-11-21 or 2026-11-21T12:00:00Z', recordedTime)
    .option('--until <time>', 'end of trading', recordedTime);

/**
 * Parses the queue flags of workers and studies. The modules for queues and stores are loaded only if needed. `tapes`
 * is the value of --tapes. Rejects with `UsageError` for an invalid address or store.
 */
export async function queueFlags(
  text: string,
  tapes: string | undefined,
): Promise<{ readonly address: QueueAddress; readonly store: StoredFiles | null }> {
  const [{ queueAddress }, { openTapeStore }, { readSecretFile }] = await Promise.all([
    import('../app/queue/queueAddress.ts'),
    import('../app/tapeStore/tapeStore.ts'),
    import('../../src/wiring/secretFiles.ts'),
  ]);
  return {
    address: queueAddress(text, process.env, readSecretFile),
    store: tapes === undefined ? null : openTapeStore(tapes, process.env),
  };
}
