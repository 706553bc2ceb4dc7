/** `puntas doctor`: checks all requirements of a live bot in advance, with a remedy for each finding. */
import { sleep, type Clock, type Observation, type VenueClient } from '../../core/index.ts';
import { ccxtIdsOf, type Config } from '../../config.ts';
import { readBookRow, readRules } from '../../live/loop/opening.ts';
import type { Log } from '../../live/log.ts';
import { openHedgeOf } from '../../live/state/stateSummary.ts';
import { clockFinding } from './clockFinding.ts';
import { balancesThere, previewNow, type PreviewNow } from './previewNow.ts';
import { storedStateOf } from './storedState.ts';
import type { WhichBot } from '../../messages/ownCommand.ts';
import type { RunOptions } from '../run/runOptions.ts';
import type { Tape } from '../../tape/index.ts';
import { clientBesideBot, clientOf, marketStreamOf, publicClientOf, type VenueAccess } from '../../wiring/bot.ts';
import { sourceAccessOf } from '../../wiring/feeds.ts';
import { FeesTooHigh } from '../../wiring/usageError.ts';
import { remoteAccess, remoteElsewhere, withVenue } from '../../wiring/venueAccess.ts';
import { venueOf } from '../../wiring/venueRegistry.ts';
import { balanceFindings, bookFindings, budgetFindings, feeFindings, feesTooHigh, keyFindings } from './account.ts';
import { ccxtFindings } from './ccxt.ts';
import { ClockGap, SET_CLOCK } from '../../messages/clockGap.ts';
import { checkElsewhere, clockProblemThere, openPlace, type OpenPlace } from './elsewhere.ts';
import { encryptionFindings } from './encryption.ts';
import { strategyFileFindings } from './ownStrategy.ts';
import { checkAborted, finding, type Finding } from './finding.ts';
import { alive, diskFindings, environmentFindings, portFindings, sentinelFinding, stateFindings } from './machine.ts';
import { planTrial, tryOrder } from './trialOrder.ts';

const { pass, warn, fail } = finding;

export type DoctorOptions = {
  readonly config: Config;
  readonly which: WhichBot;
  readonly clock: Clock;
  readonly seed: number;
  readonly version: string;
  /** Opens a log of the given level with the secrets masked. */
  readonly openLog: (level: string, secrets: readonly string[]) => Log;
  /** Called with each finding as soon as it is known. */
  readonly tell: (found: Finding) => void;
  /**
   * Asks the operator for permission before the order is placed; receives the description of the order. If absent, no
   * order is placed.
   */
  readonly mayOrder?: (what: string) => Promise<boolean>;
  readonly onStarted: RunOptions['onStarted'];
  /** Opens the recordings that an embedded exchange replays; empty for the built-in market. */
  readonly openMarket?: () => Promise<readonly Tape[]>;
};

export type Diagnosis = {
  readonly findings: readonly Finding[];
  /** Ids of orders that may still be live on the exchange. */
  readonly left: readonly string[];
};

/**
 * Runs all checks of `puntas doctor`. A check that cannot run also gives a finding. Problems outside the program never
 * cause a rejection.
 */
export async function doctor(options: DoctorOptions): Promise<Diagnosis> {
  const { config, clock } = options;
  const findings: Finding[] = [];
  const tell = (found: Finding | readonly Finding[]): void => {
    for (const one of [found].flat()) {
      findings.push(one);
      options.tell(one);
    }
  };
  tell(
    pass(
      'configuration',
      `all keys of the configuration${'file' in config.strategy ? ', except those of the strategy file,' : ''} are valid (strategy ${config.strategy.name}, book ${config.book}, instance ${config.instance})`,
    ),
  );
  tell(strategyFileFindings(config, options.which.configFile));
  tell(environmentFindings(config, Object.keys(process.env)));
  tell(await stateFindings(config, options.which, clock));
  tell(diskFindings(config, clock));
  tell(await portFindings(config));
  tell(await sentinelFinding(config, clock));
  tell(ccxtFindings(ccxtIdsOf(config)));
  if (config.exchange.kind === 'embedded') {
    const left = await withEmbedded({ ...options, tell }).catch(
      (error: unknown) => (tell(checkAborted('exchange', error)), []),
    );
    return { findings, left };
  }
  tell(await encryptionFindings(config.exchange, clock.now()));
  const { restUrl } = config.exchange;
  const env = process.env;
  const isOpen = env['PUNTAS_API_KEY'] !== undefined || env['PUNTAS_API_SECRET'] !== undefined;
  let venue: VenueAccess;
  try {
    venue = remoteAccess(config.exchange);
    if (config.hedge?.elsewhere && config.elsewhere?.kind === 'remote')
      venue = { ...venue, elsewhere: remoteElsewhere(config.elsewhere) };
  } catch (error) {
    tell(checkAborted('key', error));
    await withoutKey({ ...options, tell }, venueOf(config).restUrl(restUrl));
    return { findings, left: [] };
  }
  tell(
    isOpen
      ? warn(
          'secrets',
          'the API key is in environment variables, which /proc and docker inspect show',
          'store key and secret in files (chmod 600), and name these files in PUNTAS_API_KEY_FILE and PUNTAS_API_SECRET_FILE',
        )
      : pass('secrets', 'only this user can read the files that contain the key and the secret'),
  );
  const other = venue.elsewhere ? [venue.elsewhere.secret.reveal(), venue.elsewhere.key] : [];
  const log = options.openLog('error', [venue.secret.reveal(), venue.key, ...other]);
  return { findings, left: await withKey({ ...options, tell }, venue, log) };
}

/** Starts the embedded exchange with its configured market for `withKey`. Rejects if the market cannot be read. */
async function withEmbedded(options: Asking): Promise<readonly string[]> {
  const { config, clock, openLog } = options;
  const tapes = (await options.openMarket?.()) ?? [];
  return withVenue(config, tapes, { speed: 1, openLog }, clock, (venue, log) => withKey(options, venue, log));
}

type Asking = Omit<DoctorOptions, 'tell'> & { readonly tell: (found: Finding | readonly Finding[]) => void };

/** Checks only the public part of the exchange, because the key is missing or invalid. */
async function withoutKey({ config, clock, seed, tell }: Asking, restUrl: string): Promise<void> {
  const gap = new ClockGap();
  const onRequest = (seen: Observation) => gap.hear(seen, clock.now());
  const client = publicClientOf(config, restUrl, clock, seed, { onRequest });
  try {
    await readBookRow(client, config.book);
    tell(pass('exchange', `the exchange answers and lists ${config.book}`));
    tell(clockFinding(gap));
  } catch (error) {
    tell(checkAborted('exchange', error));
  } finally {
    await client.close();
  }
}

/** Runs all checks that need the key. Resolves to the ids of orders that may be live. */
async function withKey(options: Asking, venue: VenueAccess, log: Log): Promise<readonly string[]> {
  const { config, clock, seed, tell } = options;
  const gap = new ClockGap();
  const onRequest = (seen: Observation) => gap.hear(seen, clock.now());
  const client = clientBesideBot(clientOf(config, venue, clock, seed, { onRequest }), { config, clock });
  const place = await openPlace(options, venue);
  const there = place !== null && 'client' in place ? place : null;
  try {
    const problems = () => ({
      here: gap.nonceProblem(venueOf(config)),
      there: config.hedge?.elsewhere ? clockProblemThere(config, [gap, ...(there ? [there.gap] : [])]) : null,
    });
    let seen: PreviewNow | null = null;
    try {
      await readBookRow(client, config.book);
      tell(pass('exchange', `the exchange answers and lists ${config.book}`));
      const problem = problems();
      if (problem.here === null)
        seen = await accountFindings(options, client, venue, problem.there === null ? there : null);
      else tell(fail('key', problem.here, SET_CLOCK));
    } catch (error) {
      tell(checkAborted('exchange', error));
    }
    tell(clockFinding(gap));
    const hasFile = 'file' in config.strategy;
    tell(budgetFindings(config, hasFile ? null : (seen?.preview.levels.length ?? 0)));
    tell(await streamFinding(options, venue));
    const problem = problems();
    // A wrong clock, a running bot or an open hedge bars trial orders on both exchanges, so all three are checked
    // before the first trial order.
    const barred = options.mayOrder ? await orderBarred(config, clock, problem.here ?? problem.there) : null;
    const mayOrder = barred === null ? options.mayOrder : undefined;
    await checkElsewhere({ ...options, mayOrder }, venue, client, { place, clockProblem: problem.there });
    if (barred !== null) tell(barred);
    if (!mayOrder) return [];
    if (seen !== null) return await orderFinding(options, venue, log, seen, mayOrder);
    tell(
      fail(
        'order',
        'trial order not sent: the required data could not be read',
        'fix the findings above, then run puntas doctor again',
      ),
    );
    return [];
  } finally {
    await client.close();
    await there?.client.close();
  }
}

async function accountFindings(
  options: Asking,
  client: VenueClient,
  venue: VenueAccess,
  place: OpenPlace | null,
): Promise<PreviewNow | null> {
  const { config, clock, tell } = options;
  let seen: PreviewNow;
  try {
    const rules = await readRules(client, config.book);
    tell(await keyFindings(client, config.instance));
    // If these balances cannot be read, `checkElsewhere` reports the error.
    const there = place && (await balancesThere(config, place.client, clock).catch(() => null));
    seen = await previewNow(config, client, rules, clock, {
      ...sourceAccessOf(venue, client),
      ...{ venue, there, stored: await storedStateOf(config, venue, clock) },
    });
    // The quotes of a strategy file are unknown here; `strategyFileFindings` reports this.
    const isKnown = ({ check }: Finding) =>
      !('file' in config.strategy) || (check !== 'quotes' && check !== 'balances');
    tell(bookFindings(rules, seen).filter(isKnown));
    tell(balanceFindings(seen).filter(isKnown));
    tell(feeFindings(rules, seen));
    return seen;
  } catch (error) {
    tell(error instanceof FeesTooHigh ? feesTooHigh(error) : checkAborted('account', error));
    return null;
  }
}

const STREAM_WITHIN_MS = 5_000;

/** Checks whether the stream of the book opens. Without a stream, the bot polls books. */
async function streamFinding({ config, clock, seed }: Asking, venue: VenueAccess): Promise<Finding> {
  const check = 'stream';
  const client = clientOf(config, venue, clock, seed);
  const stream = marketStreamOf(config, venue, clock, seed, client);
  if (stream === undefined)
    return warn(
      check,
      `no stream is configured; the bot polls the book every ${config.timing.bookPollMs} ms`,
      'set exchange.streamUrl',
    );
  const opened = new AbortController();
  let why = `no message within ${STREAM_WITHIN_MS / 1_000} s`;
  stream.start(news => {
    if (news.kind === 'up') opened.abort();
    if (news.kind === 'down' || news.kind === 'fault') why = news.reason;
  });
  await sleep(clock, STREAM_WITHIN_MS, opened.signal);
  stream.close();
  await client.close();
  if (opened.signal.aborted) return pass(check, `the stream opens and sends the book ${config.book}`);
  return warn(check, `the stream does not open (${why}), so the bot would poll the book`, 'check exchange.streamUrl');
}

async function orderFinding(
  options: Asking,
  venue: VenueAccess,
  log: Log,
  seen: PreviewNow,
  mayOrder: (what: string) => Promise<boolean>,
): Promise<readonly string[]> {
  const { tell } = options;
  const plan = planTrial(seen);
  if ('check' in plan) {
    tell(plan);
    return [];
  }
  if (!(await mayOrder(plan.text))) {
    tell(
      warn(
        'order',
        `trial order not sent; you declined this order: ${plan.text}`,
        'to place the trial order, run puntas doctor with --order --yes',
      ),
    );
    return [];
  }
  const tried = await tryOrder(plan, { ...options, venue, log });
  tell(tried.finding);
  return tried.left;
}

/**
 * Returns a finding if no trial order may be sent; `null` otherwise. Reasons: the clock is far ahead (`clockProblem`),
 * the bot is running, or a hedge is open. Trial orders run without a hedger, so an open hedge would not be completed.
 */
async function orderBarred(
  { state: { dir } }: Config,
  clock: Clock,
  clockProblem: string | null,
): Promise<Finding | null> {
  // A trial order stores its nonces, and every later nonce must be higher, even after the clock is corrected.
  if (clockProblem !== null) return fail('order', `trial order not sent: ${clockProblem}`, SET_CLOCK);
  if (alive(dir, 'bot') !== null)
    return warn(
      'order',
      'trial order not sent: the bot is running, and its orders show that the key may place orders',
      'to place a trial order, stop the bot first',
    );
  try {
    const open = await openHedgeOf(dir, clock);
    if (open === null) return null;
    return warn(
      'order',
      `trial order not sent: hedge ${open} is still open`,
      'start the bot, which completes the hedge; puntas hedges shows the progress',
    );
  } catch (error) {
    return checkAborted('order', error);
  }
}
