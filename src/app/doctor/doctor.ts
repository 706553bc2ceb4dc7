/** `puntas doctor`: checks all requirements of a live bot in advance, with a remedy for each finding. */
import { sleep, type Clock, type Observation, type VenueClient } from '../../core/index.ts';
import { booksOf, booksText, ccxtIdsOf, symbolsOf, type Config } from '../../config.ts';
import { readBookRow, readRules } from '../../live/loop/opening.ts';
import type { Log } from '../../live/log.ts';
import { openHedgeOf } from '../../live/state/stateSummary.ts';
import { clockFinding } from './clockFinding.ts';
import { balancesThere, previewNow, type PreviewNow } from './previewNow.ts';
import { storedStateOf, type StoredState } from './storedState.ts';
import type { WhichBot } from '../../messages/ownCommand.ts';
import type { RunOptions } from '../run/runOptions.ts';
import type { Tape } from '../../tape/index.ts';
import { clientBesideBot, clientOf, marketStreamOf, publicClientOf, type VenueAccess } from '../../wiring/bot.ts';
import { sourceAccessOf } from '../../wiring/feeds.ts';
import { FeesTooHigh } from '../../wiring/usageError.ts';
import { venueProblems } from '../../wiring/elsewhereHedging.ts';
import { remoteAccess, remoteElsewhere, withVenue } from '../../wiring/venueAccess.ts';
import { venueOf } from '../../wiring/venueRegistry.ts';
import { balanceFindings, bookFindings, budgetFindings, feeFindings, feesTooHigh, keyFindings } from './account.ts';
import { ccxtFindings } from './ccxt.ts';
import { capitalNeeded } from './checkBooks.ts';
import { ClockGap, SET_CLOCK } from '../../messages/clockGap.ts';
import { checkElsewhere, clockProblemThere, openElsewhere, type OpenElsewhere } from './elsewhere.ts';
import { encryptionFindings } from './encryption.ts';
import { strategyFileFindings } from './ownStrategy.ts';
import { checkAborted, finding, type Finding } from './finding.ts';
import { alive, diskFindings, environmentFindings, portFindings, sentinelFinding, stateFindings } from './machine.ts';
import { planTrial, tryOrder, type TrialPlan } from './trialOrder.ts';
import { recordIfPassed, trialRecordFindings } from './trialRecord.ts';

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
  const books = booksOf(config);
  tell(configurationFindings(config));
  books.forEach((book, i) =>
    tell(namedIfSeveral(books, book, strategyFileFindings(book, options.which.configFile, i))),
  );
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

/** Returns findings about the keys of the configuration: with each problem found here, the bot would not start. */
export function configurationFindings(config: Config): readonly Finding[] {
  const check = 'configuration';
  const problems = venueProblems(config);
  if (problems.length > 0)
    return problems.map(says => fail(check, says, 'change the configuration key that the message names'));
  const books = booksOf(config);
  const strategies = [...new Set(books.map(({ strategy }) => strategy.name))].join(', ');
  const except = books.some(({ strategy }) => 'file' in strategy) ? ', except those of the strategy file,' : '';
  const subject = `strategy ${strategies}, book ${booksText(config)}, instance ${config.instance}`;
  return [pass(check, `all keys of the configuration${except} are valid (${subject})`)];
}

/** Starts the embedded exchange with its configured market for `withKey`. Rejects if the market cannot be read. */
async function withEmbedded(options: Asking): Promise<readonly string[]> {
  const { config, clock, openLog } = options;
  const tapes = (await options.openMarket?.()) ?? [];
  return withVenue(config, tapes, { speed: 1, openLog }, clock, (venue, log) => withKey(options, venue, log));
}

/** Returns findings about one book, with its name if the account has several. */
const namedIfSeveral = (books: readonly Config[], { book }: Config, found: readonly Finding[]): readonly Finding[] =>
  books.length === 1 ? found : found.map(each => ({ ...each, says: `${book}: ${each.says}` }));

type Asking = Omit<DoctorOptions, 'tell'> & { readonly tell: (found: Finding | readonly Finding[]) => void };

/** Checks only the public part of the exchange, because the key is missing or invalid. */
async function withoutKey({ config, clock, seed, tell }: Asking, restUrl: string): Promise<void> {
  const gap = new ClockGap();
  const onRequest = (seen: Observation) => gap.hear(seen, clock.now());
  const client = publicClientOf(config, restUrl, clock, seed, { onRequest });
  try {
    for (const book of symbolsOf(config)) await readBookRow(client, book);
    tell(pass('exchange', `the exchange answers and lists ${booksText(config)}`));
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
  const stored = await storedStateOf(config, venue, clock);
  const place = await openElsewhere(options, venue);
  const there = place !== null && 'client' in place ? place : null;
  try {
    const problems = () => ({
      here: gap.nonceProblem(venueOf(config)),
      there: config.hedge?.elsewhere ? clockProblemThere(config, [gap, ...(there ? [there.gap] : [])]) : null,
    });
    const books = booksOf(config);
    const previews: PreviewNow[] = [];
    try {
      for (const { book } of books) await readBookRow(client, book);
      tell(pass('exchange', `the exchange answers and lists ${booksText(config)}`));
      const problem = problems();
      if (problem.here === null)
        previews.push(
          ...(await accountFindings(options, client, venue, stored, problem.there === null ? there : null)),
        );
      else tell(fail('key', problem.here, SET_CLOCK));
    } catch (error) {
      tell(checkAborted('exchange', error));
    }
    tell(clockFinding(gap));
    const hasFile = books.some(({ strategy }) => 'file' in strategy);
    const levels = previews.reduce((sum, { preview }) => sum + preview.levels.length, 0);
    // Without the quotes of a book, the number of orders of several books is unknown.
    const isUnknown = hasFile || (books.length > 1 && previews.length < books.length);
    tell(budgetFindings(books, isUnknown ? null : levels));
    tell(await Promise.all(books.map(book => streamFinding({ ...options, config: book }, venue))));
    const problem = problems();
    // A wrong clock, a running bot or an open hedge bars trial orders on both exchanges, so all three are checked
    // before the first trial order.
    const barred = options.mayOrder ? await orderBarred(config, clock, problem.here ?? problem.there) : null;
    const mayOrder = barred === null ? options.mayOrder : undefined;
    await checkElsewhere({ ...options, mayOrder }, venue, client, { place, clockProblem: problem.there });
    if (barred !== null) tell(barred);
    const isRead = previews.length === books.length;
    if (mayOrder && !isRead)
      tell(
        fail(
          'order',
          'trial order not sent: the required data could not be read',
          'fix the findings above, then run puntas doctor again',
        ),
      );
    const left = mayOrder && isRead ? await orderFindings(options, venue, log, previews, mayOrder) : [];
    tell(trialRecordFindings(config, venue, options.which, stored));
    return left;
  } finally {
    await client.close();
    await there?.client.close();
  }
}

/** Checks the key once, and what each book needs. Resolves to the previews of the books that could be read. */
async function accountFindings(
  options: Asking,
  client: VenueClient,
  venue: VenueAccess,
  stored: StoredState,
  place: OpenElsewhere | null,
): Promise<readonly PreviewNow[]> {
  const { config, clock, tell } = options;
  const books = booksOf(config);
  const previews: PreviewNow[] = [];
  // Findings about the account, which each preview repeats.
  const told = new Set<string>();
  for (const [i, book] of books.entries()) {
    const tellOf = (found: readonly Finding[]): void => tell(namedIfSeveral(books, book, found));
    try {
      const rules = await readRules(client, book.book);
      if (i === 0) tell(await keyFindings(client, book.instance));
      // If these balances cannot be read, `checkElsewhere` reports the error.
      const there = place && (await balancesThere(book, place.client, clock, stored).catch(() => null));
      const seen = await previewNow(book, client, rules, clock, {
        ...sourceAccessOf(venue, client),
        ...{ venue, there, stored },
      });
      // The quotes of a strategy file are unknown here; `strategyFileFindings` reports this.
      const isKnown = ({ check }: Finding) =>
        !('file' in book.strategy) || (check !== 'quotes' && check !== 'balances');
      tellOf(bookFindings(rules, seen).filter(isKnown));
      const balances = balanceFindings(seen).filter(isKnown);
      const ofAccount = balances.filter(({ check, says }) => check === 'inventory' && !told.has(says));
      for (const { says } of ofAccount) told.add(says);
      tell(ofAccount);
      tellOf(balances.filter(({ check }) => check !== 'inventory'));
      tellOf(feeFindings(rules, seen));
      previews.push(seen);
    } catch (error) {
      tellOf(error instanceof FeesTooHigh ? feesTooHigh(error) : [checkAborted('account', error)]);
    }
  }
  if (books.length > 1) tell(capitalFindings(previews, books.length));
  return previews;
}

/** Compares what the quotes of all books need together with the balances. */
function capitalFindings(previews: readonly PreviewNow[], books: number): readonly Finding[] {
  const check = 'capital';
  if (previews.length < books)
    return [
      warn(
        check,
        'not checked, because a book could not be read',
        'fix the findings above, then run puntas doctor again',
      ),
    ];
  const { lines, missing } = capitalNeeded(
    previews.map(({ riskContext, preview, balances }) => ({
      ...{ instrument: riskContext.instrument, balances },
      levels: preview.levels.map(({ level }) => level),
    })),
  );
  return missing.length === 0
    ? [pass(check, `the quotes of all books together need ${lines.join(', ')}`)]
    : missing.map(says => fail(check, says, 'deposit the difference, or lower strategy.amount of a book'));
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

/**
 * Tries an order in each book, one after another, if the operator permits them. Resolves to the ids of orders that may
 * be live; after such an order, no other book is tried.
 */
async function orderFindings(
  options: Asking,
  venue: VenueAccess,
  log: Log,
  previews: readonly PreviewNow[],
  mayOrder: (what: string) => Promise<boolean>,
): Promise<readonly string[]> {
  const books = booksOf(options.config);
  const plans: { readonly plan: TrialPlan; readonly tell: (found: Finding) => void }[] = [];
  for (const [i, book] of books.entries()) {
    const tell = (found: Finding): void => options.tell(namedIfSeveral(books, book, [found]));
    const plan = planTrial(previews[i]!, previews.toSpliced(i, 1));
    if ('check' in plan) tell(plan);
    else plans.push({ plan, tell });
  }
  if (plans.length === 0) return [];
  const what = plans.map(({ plan }) => plan.text).join('; ');
  if (!(await mayOrder(what))) {
    options.tell(
      warn(
        'order',
        `trial order not sent; you declined this order: ${what}`,
        'to place the trial order, run puntas doctor with --order --yes',
      ),
    );
    return [];
  }
  const found: Finding[] = [];
  for (const { plan, tell } of plans) {
    const tried = await tryOrder(plan, { ...options, venue, log });
    tell(tried.finding);
    if (tried.left.length > 0) return tried.left;
    found.push(tried.finding);
  }
  options.tell(recordIfPassed(options, venue, 'exchange', found));
  return [];
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
