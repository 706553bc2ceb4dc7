/** Exchange of `puntas record --venue`: a registered exchange, or any exchange of ccxt. */
import { plainAddressProblem, type Config } from '../../config.ts';
import { installedCcxt, unknownId } from '../../ccxt/installed.ts';
import { readShipped } from '../../wiring/configFile.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { VENUES } from '../../wiring/venueRegistry.ts';
import type { RecordOptions } from './record.ts';

export type RecordedVenueFlags = {
  /** Name of a registered exchange, or `ccxt:` followed by the id of an exchange in ccxt. */
  readonly venue?: string;
  readonly url?: string;
  readonly streamUrl?: string;
  /** Whether to use the exchange's stream, if it has one. If false, books are polled. Default: true. */
  readonly stream?: boolean;
  readonly book?: string;
  readonly config?: string;
  readonly tape?: string;
};

export type RecordedVenue = Pick<RecordOptions, 'config' | 'ccxt'>;

const CCXT = 'ccxt:';
/**
 * Share of the published rate limit that a recorder uses; the remaining share is left to other programs with the same
 * IP address.
 */
const USED_SHARE = 0.9;

/**
 * Returns the exchange of --venue with the settings of the shipped paper configuration; `null` without --venue.
 * @throws UsageError for flags that contradict each other, an unknown exchange, and a missing ccxt.
 */
export function recordedVenue(flags: RecordedVenueFlags): RecordedVenue | null {
  const { venue, url, streamUrl, stream = true, book } = flags;
  if (venue === undefined) {
    if (url === undefined && streamUrl === undefined && stream) return null;
    throw new UsageError(
      '--url, --stream-url and --no-stream need --venue; with -c, set restUrl, streamUrl and stream in the exchange section of that file',
    );
  }
  if (flags.config !== undefined || flags.tape !== undefined)
    throw new UsageError('--venue cannot be combined with -c or --tape; remove --venue, or remove -c and --tape');
  if (book === undefined) throw new UsageError('--venue needs --book with the names of the books, like btc_usdt');
  check('--url', url, /^https?:$/, 'https://api.example.com');
  check('--stream-url', streamUrl, /^wss?:$/, 'wss://ws.example.com');
  const { exchange, ...shipped } = readShipped('paper');
  if (exchange.kind !== 'remote')
    throw new Error(`config/paper.yaml: exchange.kind: expected remote, found ${exchange.kind}; restore the file`);
  const config: Config = { ...shipped, book: book.split(',')[0]!, exchange: { ...exchange, stream } };
  if (venue.startsWith(CCXT)) {
    if (streamUrl !== undefined)
      throw new UsageError(
        '--stream-url: cannot be used with ccxt, where --url also replaces the stream address; omit --stream-url',
      );
    const id = venue.slice(CCXT.length);
    checkCcxt(id);
    return { config, ccxt: { id, ...(url === undefined ? {} : { url }) } };
  }
  const known = VENUES.find(({ name }) => name === venue);
  if (!known)
    throw new UsageError(
      `--venue: expected one of ${VENUES.map(({ name }) => name).join(', ')}, or ccxt:ID; found ${JSON.stringify(venue)}`,
    );
  if (url === undefined) throw new UsageError(`--venue ${venue} needs --url with the address of its REST interface`);
  const { streamUrl: _, ...rest } = exchange;
  const publicPerMinute = known.allows
    ? Math.floor(known.allows.public * USED_SHARE)
    : exchange.budgets.publicPerMinute;
  return {
    config: {
      ...config,
      exchange: {
        ...rest,
        ...{ stream, venue, restUrl: url, budgets: { ...exchange.budgets, publicPerMinute } },
        ...(streamUrl === undefined ? {} : { streamUrl }),
      },
    },
  };
}

function checkCcxt(id: string): void {
  const found = installedCcxt();
  const problem = found.kind === 'unusable' ? found.sentence : unknownId(id, found.ids);
  if (problem !== null) throw new UsageError(problem);
}

function check(flag: string, text: string | undefined, protocols: RegExp, example: string): void {
  const problem = text === undefined ? null : plainAddressProblem(text, protocols, example);
  if (problem !== null) throw new UsageError(`${flag}: ${problem}`);
}
