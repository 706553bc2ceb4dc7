/** Setup and cleanup of the exchange and the API key of a command. */
import { readSecrets, type Config, type ElsewhereSettings, type KeyPrefix, type RemoteSettings } from '../config.ts';
import { Secret, type Clock } from '../core/index.ts';
import type { Log } from '../live/log.ts';
import type { AccountPurpose } from '../sandbox/index.ts';
import type { Tape } from '../tape/index.ts';
import type { VenueAccess } from './bot.ts';
import { newPause, type ElsewhereAccess } from './elsewhere/access.ts';
import { FeesTooHigh, UsageError } from './usageError.ts';
import type { Embedded } from './embedded.ts';
import { refuseOpenInspector, refuseUncheckedCertificates } from './safeProcess.ts';
import { readSecretFile } from './secretFiles.ts';
import { venueNamed, venueOf } from './venueRegistry.ts';

export type VenueChoice = {
  /** Multiple of real time at which the embedded exchange runs; 1 for other exchanges. */
  readonly speed: number;
  /**
   * Random seed of the embedded exchange or of paper trading. If absent, the embedded exchange uses the configured
   * seed, and paper trading a random one.
   */
  readonly seed?: number;
  readonly paper?: boolean;
  /** Whether paper trading leaves its stored account unchanged. */
  readonly isReadOnly?: boolean;
  /** Step that moves an earlier paper account aside; absent if the account continues. */
  readonly setAside?: (purpose: AccountPurpose) => Promise<void>;
  /** Opens a log of the given level that masks the secrets. */
  openLog(level: string, secrets: readonly string[]): Log;
};

/**
 * Work that uses a venue. In paper trading, the work receives the configuration of the run, which differs from the
 * configuration of the command.
 */
type VenueWork<T> = (venue: VenueAccess, log: Log, seed: number, config: Config) => Promise<T>;

/**
 * Runs `work` with address and key of the exchange. If configured, starts the embedded exchange before `work` and stops
 * it afterwards. Resolves to the result of `work`. Rejects with `UsageError` if there is no key.
 */
export async function withVenue<T>(
  config: Config,
  tapes: readonly Tape[],
  options: VenueChoice,
  clock: Clock,
  work: VenueWork<T>,
): Promise<T> {
  if (options.paper) return withPaper(config, options, clock, work);
  let embedded: Embedded | null = null;
  try {
    let venue: VenueAccess;
    if (config.exchange.kind === 'embedded') {
      const { startEmbedded } = await import('./embedded.ts');
      embedded = await startEmbedded(config, clock, {
        tapes,
        port: config.exchange.port,
        portFrom: 'exchange.port',
        ...(options.seed === undefined ? {} : { seed: options.seed }),
      });
      const { origin, key, secret, born, elsewhere } = embedded;
      const streamUrl = origin.replace(/^http/, 'ws');
      venue = {
        restUrl: `${origin}/api`,
        streamUrl,
        key,
        secret,
        speed: options.speed,
        born,
        ...(elsewhere && { elsewhere }),
      };
    } else venue = remoteAccess(config.exchange);
    if (config.elsewhere?.kind === 'remote') venue = { ...venue, elsewhere: remoteElsewhere(config.elsewhere) };
    const other = venue.elsewhere ? [venue.elsewhere.secret.reveal(), venue.elsewhere.key] : [];
    const log = options.openLog(config.log.level, [venue.secret.reveal(), venue.key, ...other]);
    if (embedded) log.info({ url: embedded.origin }, `embedded exchange at ${embedded.origin}`);
    if (embedded?.elsewhere)
      log.info({ url: embedded.elsewhere.restUrl }, `second embedded exchange at ${embedded.elsewhere.restUrl}`);
    const seed = embedded?.seed ?? Math.floor(Math.random() * 2 ** 31);
    return await work(venue, log, seed, config);
  } finally {
    await embedded?.stop();
  }
}

/**
 * Runs `work` as `withVenue` does, but on paper: `work` receives the configuration of paper trading instead of
 * `config`.
 */
async function withPaper<T>(config: Config, options: VenueChoice, clock: Clock, work: VenueWork<T>): Promise<T> {
  const { banner, onPaper, openPaper } = await import('./paper.ts');
  const plain = options.openLog(config.log.level, []);
  plain.warn({}, banner(config));
  const log = onPaper(plain);
  const seed = options.seed ?? Math.floor(Math.random() * 2 ** 31);
  const onBroken = (error: unknown) =>
    queueMicrotask(() => {
      throw error;
    });
  const paper = await openPaper(config, clock, {
    ...{ log, seed, onBroken },
    ...(options.isReadOnly === undefined ? {} : { isReadOnly: options.isReadOnly }),
    ...(options.setAside === undefined ? {} : { setAside: options.setAside }),
  });
  try {
    return await work(paper.venue, log, seed, paper.config);
  } catch (error) {
    if (!(error instanceof FeesTooHigh) || !paper.hasTiers) throw error;
    throw new UsageError([
      error.message,
      `the fees above are the fees of an account with a 30-day volume of ${config.paper.volume30d} (paper.volume30d)${error.tier === null ? '' : `: ${error.tier}`}`,
      'to continue, widen the spread as described above, or set a higher paper.volume30d in the YAML for a lower fee tier (docs/paper.md)',
    ]);
  } finally {
    await paper.stop();
  }
}

/** Runs `work` as `withVenue` does, for market data only, without a key. */
export async function withMarket(
  config: Config,
  tapes: readonly Tape[],
  { seed, allBooks = false }: { readonly seed?: number; readonly allBooks?: boolean },
  clock: Clock,
  work: (addresses: { readonly restUrl: string; readonly streamUrl?: string }, seed: number) => Promise<void>,
): Promise<void> {
  const { exchange } = config;
  if (exchange.kind === 'remote') {
    const { restUrl, streamUrl } = exchange;
    const addresses = { restUrl: venueOf(config).restUrl(restUrl), ...(streamUrl === undefined ? {} : { streamUrl }) };
    return work(addresses, Math.floor(Math.random() * 2 ** 31));
  }
  const { startEmbedded } = await import('./embedded.ts');
  const embedded = await startEmbedded(config, clock, {
    tapes,
    port: exchange.port,
    portFrom: 'exchange.port',
    allBooks,
    ...(seed === undefined ? {} : { seed }),
  });
  try {
    const { origin } = embedded;
    await work({ restUrl: `${origin}/api`, streamUrl: origin.replace(/^http/, 'ws') }, embedded.seed);
  } finally {
    await embedded.stop();
  }
}

/**
 * Whether the environment names a key of the exchange, even an invalid key. Call `hasKey` before the key is read,
 * because the read deletes the variables PUNTAS_API_KEY and PUNTAS_API_SECRET.
 */
export const hasKey = (): boolean =>
  ['PUNTAS_API_KEY', 'PUNTAS_API_KEY_FILE', 'PUNTAS_API_SECRET', 'PUNTAS_API_SECRET_FILE'].some(
    name => process.env[name] !== undefined,
  );

/** Returns the access to a remote exchange as `remoteVenue` does, with all configured addresses. */
export const remoteAccess = (exchange: RemoteSettings): VenueAccess => ({
  ...remoteVenue(exchange),
  ...(exchange.streamUrl !== undefined && { streamUrl: exchange.streamUrl }),
  ...(exchange.rfqUrl !== undefined && { rfqUrl: exchange.rfqUrl }),
  ...(exchange.webhookUrl !== undefined && { webhookUrl: exchange.webhookUrl }),
});

/**
 * Returns the access to the configured exchange with the key from the environment.
 * @throws UsageError if the key is missing, or if other users can read its file.
 */
export function remoteVenue({ venue, restUrl }: Pick<RemoteSettings, 'venue' | 'restUrl'>): VenueAccess {
  return { restUrl: venueNamed(venue).restUrl(restUrl), ...keyFromEnvironment('PUNTAS'), speed: 1 };
}

/**
 * Returns the access to the other exchange with its key from the environment.
 * @throws UsageError as `remoteVenue` does.
 */
export function remoteElsewhere(settings: Extract<ElsewhereSettings, { kind: 'remote' }>): ElsewhereAccess {
  const { venue, book, restUrl, streamUrl } = settings;
  return {
    venue,
    book,
    restUrl: venueNamed(venue).restUrl(restUrl),
    ...(streamUrl !== undefined && { streamUrl }),
    ...keyFromEnvironment('PUNTAS_ELSEWHERE'),
    pause: newPause(),
  };
}

function keyFromEnvironment(prefix: KeyPrefix): { readonly key: string; readonly secret: Secret } {
  refuseUncheckedCertificates(process.env);
  refuseOpenInspector();
  const read = readSecrets(process.env, readSecretFile, text => new Secret(text), prefix);
  if (!read.ok) throw new UsageError(read.errors);
  for (const name of ['API_KEY', 'API_SECRET']) delete process.env[`${prefix}_${name}`];
  return { key: read.secrets.apiKey, secret: read.secrets.apiSecret };
}
