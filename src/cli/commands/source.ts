/** What a command works on: the configuration, the recording, the exchange and the key, found and cleaned up the same way for all. */
import { readSecrets } from '../../config.ts';
import type { Config } from '../../config.ts';
import { Secret } from '../../exchange/index.ts';
import type { Clock } from '../../core/index.ts';
import type { Log } from '../../live/log.ts';
import { isStoredTape, openStoredTape, openTape } from '../../tape/index.ts';
import type { Tape } from '../../tape/index.ts';
import type { ReferenceTapes } from '../../app/backtest/externalReference.ts';
import type { OpenedTape } from '../../app/backtest/market.ts';
import type { VenueAccess } from '../../app/wiring/bot.ts';
import { FeesTooHigh, readConfig, readShipped, shippedConfig, UsageError } from '../../app/wiring/configFile.ts';
import type { Embedded } from '../../app/wiring/embedded.ts';
import { EXIT } from '../../app/messages/exits.ts';
import { logger } from '../terminal/logger.ts';
import { readSecretFile } from '../../app/wiring/secretFiles.ts';

export type Source = {
  readonly config?: string;
  readonly tape?: string;
  readonly book?: string;
  readonly speed: number;
  readonly seed?: number;
  readonly paper?: boolean;
};

/**
 * The configuration, its file and, with --tape, the recording; without -c the one that comes with Puntas for the recording's book. Rejects with
 * `UsageError` when they contradict each other, or one cannot be read.
 */
export async function chosen(
  options: Source & { readonly isBacktest?: boolean },
): Promise<{ config: Config; file: string; tape: Tape | null }> {
  if (options.paper && options.tape !== undefined)
    throw new UsageError('--tape is for the embedded exchange; --paper follows another one');
  const given = options.config === undefined ? null : readConfig(options.config);
  const market = given?.exchange.kind === 'embedded' ? given.exchange.market : null;
  const dir = options.tape ?? (market?.kind === 'tape' ? market.dir : undefined);
  const shipped = (name: string) => ({
    config: given ?? readShipped(name),
    file: options.config ?? shippedConfig(name),
  });
  if (dir === undefined || options.paper) return { ...shipped(options.paper ? 'paper' : 'sandbox'), tape: null };
  if (given?.exchange.kind === 'remote' && !options.isBacktest)
    throw new UsageError('--tape is for the embedded exchange; this configuration has a remote one');
  const tape = await tapeOf(dir, bookOf(given, options.book));
  return { ...shipped(nameFor(tape.instrument.symbol)), tape };
}

/** The book that is meant of several: the configuration's, or the one of --book. */
function bookOf(given: Config | null, asked: string | undefined): string | undefined {
  if (given !== null && asked !== undefined && asked !== given.book)
    throw new UsageError(`--book ${asked}: the configuration trades ${given.book}; leave one of them out`);
  return given?.book ?? asked;
}

/** The same where --tape is a stored tape, which is opened and not read; null where it is not. Throws `UsageError` as the other rejects. */
export function chosenStored(
  dir: string | undefined,
  path: string | undefined,
  book: string | undefined,
): { config: Config; file: string; tape: OpenedTape } | null {
  if (dir === undefined || !isStoredTape(dir)) return null;
  const given = path === undefined ? null : readConfig(path);
  const name = bookOf(given, book);
  const options = name === undefined ? {} : { book: name };
  try {
    const tape = openStoredTape(dir, options);
    const shipped = nameFor(tape.book);
    return { config: given ?? readShipped(shipped), file: path ?? shippedConfig(shipped), tape: { tape, options } };
  } catch (error) {
    throw error instanceof UsageError ? error : wrongTape(error);
  }
}

/** The standard configuration trades one of the books itself. */
const nameFor = (book: string): string => (readShipped('sandbox').book === book ? 'sandbox' : book);

/** One book of a recording. Every error rejects as `UsageError`; one of several books names --book. */
export const tapeOf = (dir: string, book?: string): Promise<Tape> =>
  openTape(dir, book === undefined ? {} : { book }).catch((error: unknown) => {
    throw wrongTape(error);
  });

/** Names the flag that chooses. */
function wrongTape(error: unknown): UsageError {
  const why = error instanceof Error ? error.message : String(error);
  return new UsageError(why.replace('; choose one of: ', '; choose one with --book, of: '));
}

/** The recordings behind `BOOK=DIR`, by their book. Rejects with `UsageError` on other text, a book given twice, and what cannot be read. */
export async function referenceTapes(given: readonly string[]): Promise<ReferenceTapes> {
  const tapes = new Map<string, Tape>();
  for (const text of given) {
    const [, book, dir] = /^([a-z0-9]{2,12}_[a-z0-9]{2,12})=(.+)$/s.exec(text) ?? [];
    if (book === undefined || dir === undefined)
      throw new UsageError(`--reference: expected BOOK=DIR, like btc_usd=tapes/btc_usd, found ${JSON.stringify(text)}`);
    if (tapes.has(book)) throw new UsageError(`--reference: ${book} is given twice`);
    tapes.set(book, await tapeOf(dir, book));
  }
  return tapes;
}

/**
 * Starts the embedded exchange when the configuration asks for it, hands over an address and a key, and cleans up. What `work` resolves to is the
 * exit code. Rejects with `UsageError` on flags that a remote exchange has no use for, and without a key.
 */
export async function withVenue(
  config: Config,
  tape: Tape | null,
  options: Source,
  clock: Clock,
  work: (venue: VenueAccess, log: Log, seed: number, config: Config) => Promise<number>,
): Promise<void> {
  if (options.paper) return withPaper(config, options, clock, work);
  let embedded: Embedded | null = null;
  try {
    let venue: VenueAccess;
    if (config.exchange.kind === 'embedded') {
      const { startEmbedded } = await import('../../app/wiring/embedded.ts');
      embedded = await startEmbedded(config, clock, {
        tape,
        port: config.exchange.port,
        portFrom: 'exchange.port',
        ...seedOf(options),
      });
      const { origin, key, secret, born } = embedded;
      const streamUrl = origin.replace(/^http/, 'ws');
      venue = { restUrl: `${origin}/api`, streamUrl, key, secret, speed: options.speed, born };
    } else {
      if (options.seed !== undefined)
        throw new UsageError('--seed is for the embedded exchange; a remote one rolls its own dice');
      if (options.speed !== 1)
        throw new UsageError('--speed is for the embedded exchange; a remote one keeps its own time');
      const { restUrl, streamUrl, rfqUrl, webhookUrl } = config.exchange;
      venue = {
        ...remoteVenue(restUrl),
        ...(streamUrl === undefined ? {} : { streamUrl }),
        ...(rfqUrl === undefined ? {} : { rfqUrl }),
        ...(webhookUrl === undefined ? {} : { webhookUrl }),
      };
    }
    const log = logger(config.log.level, [venue.secret.reveal(), venue.key]);
    if (embedded) log.info({ url: embedded.origin }, `embedded exchange at ${embedded.origin}`);
    const seed = embedded?.seed ?? Math.floor(Math.random() * 2 ** 31);
    process.exitCode = await work(venue, log, seed, config);
  } finally {
    await embedded?.stop();
  }
}

/** The same on paper: the work gets the configuration that it runs with. */
async function withPaper(
  config: Config,
  options: Source,
  clock: Clock,
  work: (venue: VenueAccess, log: Log, seed: number, config: Config) => Promise<number>,
): Promise<void> {
  if (options.speed !== 1)
    throw new UsageError('--speed is for the embedded exchange; a followed one keeps its own time');
  const { banner, onPaper, openPaper } = await import('../../app/wiring/paper.ts');
  const plain = logger(config.log.level, []);
  plain.warn({}, banner(config));
  const log = onPaper(plain);
  const seed = options.seed ?? Math.floor(Math.random() * 2 ** 31);
  const onBroken = (error: unknown) =>
    queueMicrotask(() => {
      throw error;
    });
  const paper = await openPaper(config, clock, { log, seed, onBroken });
  try {
    process.exitCode = await work(paper.venue, log, seed, paper.config);
  } catch (error) {
    if (!(error instanceof FeesTooHigh)) throw error;
    throw new UsageError([
      error.message,
      `these are the fees of an account that has traded ${config.paper.volume30d} in 30 days (paper.volume30d), as a new one with money would pay them${error.tier === null ? '' : `: ${error.tier}`}`,
      'to go on, widen the spread as said; or see how it does in another tier, with a higher paper.volume30d in the YAML (docs/paper.md)',
    ]);
  } finally {
    await paper.stop();
  }
}

/**
 * The same for who only reads the market: no key is read, none is needed. The exit code is left to `work`. Rejects with `UsageError` on --speed with a
 * remote exchange.
 */
export async function withMarket(
  config: Config,
  tape: Tape | null,
  options: Source,
  clock: Clock,
  work: (addresses: { readonly restUrl: string; readonly streamUrl?: string }, seed: number) => Promise<void>,
): Promise<void> {
  const { exchange } = config;
  if (exchange.kind === 'remote') {
    if (options.speed !== 1)
      throw new UsageError('--speed is for the embedded exchange; a remote one keeps its own time');
    const { restUrl, streamUrl } = exchange;
    const addresses = { restUrl: restAddress(restUrl), ...(streamUrl === undefined ? {} : { streamUrl }) };
    return work(addresses, Math.floor(Math.random() * 2 ** 31));
  }
  const { startEmbedded } = await import('../../app/wiring/embedded.ts');
  const embedded = await startEmbedded(config, clock, {
    tape,
    port: exchange.port,
    portFrom: 'exchange.port',
    ...seedOf(options),
  });
  try {
    const { origin, seed } = embedded;
    await work({ restUrl: `${origin}/api`, streamUrl: origin.replace(/^http/, 'ws') }, seed);
  } finally {
    await embedded.stop();
  }
}

/** The exchange of a configuration, with the key of the environment. Throws `UsageError` when the key is missing, or could be shown to anybody. */
export function remoteVenue(address: string): VenueAccess {
  // Node takes any certificate then: whoever stands in between reads the key and answers in the name of the exchange.
  if (process.env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0')
    throw new UsageError(
      'NODE_TLS_REJECT_UNAUTHORIZED=0 is set in the environment: any server could pass for the exchange, and read the key; take it away (unset NODE_TLS_REJECT_UNAUTHORIZED), and name the certificate of a proxy of your own in NODE_EXTRA_CA_CERTS',
    );
  const read = readSecrets(process.env, readSecretFile, text => new Secret(text));
  if (!read.ok) throw new UsageError(read.errors);
  for (const name of ['PUNTAS_API_KEY', 'PUNTAS_API_SECRET']) delete process.env[name];
  return { restUrl: restAddress(address), key: read.secrets.apiKey, secret: read.secrets.apiSecret, speed: 1 };
}

const restAddress = (address: string): string =>
  new URL(address).pathname === '/' ? `${address.replace(/\/$/, '')}/api` : address;

/**
 * The first SIGINT, SIGTERM or SIGHUP (a terminal that is closed) stops cleanly, at the end of the start when it came during the start; a second one leaves at once and says
 * what that may mean.
 */
export function signalsToStop(
  leaving = 'leaving without verifying; orders may be left on the exchange',
  code: number = EXIT.leftOrders,
): { tell(stop: (why: string) => void): void } {
  let asked: string | null = null;
  let stop: ((why: string) => void) | null = null;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (asked !== null) {
        console.error(`second ${signal}: ${leaving}`);
        process.exit(code);
      }
      asked = signal;
      stop?.(signal);
    });
  }
  return {
    tell: call => {
      stop = call;
      if (asked !== null) call(asked);
    },
  };
}

/** To be spread into options: without --seed there is no key, so that the configuration's own seed holds. */
export const seedOf = ({ seed }: Source): { readonly seed?: number } => (seed === undefined ? {} : { seed });
