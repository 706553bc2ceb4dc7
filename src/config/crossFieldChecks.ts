/**
 * Cross-field checks: whether the keys of a configuration fit together, and whether its spreads cover the account's
 * fees.
 */
import { counted, legsOf, pairOf, moneyOf, textOfError } from '../core/index.ts';
import { currencyOf, fairValueReachBps, kindOf, limitedCall, type StrategyKind } from '../../strategies/index.ts';
import { IDLE_RULES, idleProblems } from './idleKeys.ts';
import type { Problem } from './problems.ts';
import {
  externalReferenceOf,
  feedIndexOf,
  placeText,
  readsPerMinute,
  sourceLegs,
  SOURCE_DEFAULTS,
  staleAfterMsMin,
  type SourceConfig,
  type SourceFrom,
} from './sections/reference.ts';
import { marketBooksOf, namedBooksOf, recordedBooksOf } from './sections/exchange.ts';
import { isOnThisMachine } from './sections/values.ts';
import type { Config } from './schema.ts';
import type { StrategyConfig } from './sections/strategy.ts';

/**
 * Returns problems between the keys of a configuration. With `venues`, the allowed values of `exchange.venue`, also
 * checks this key; the first is the default.
 */
export function crossProblems(config: Config, venues?: readonly string[]): readonly Problem[] {
  return CHECKS.flatMap(check => {
    try {
      return check(config, venues);
    } catch (error) {
      if (error instanceof InvalidValue) return [];
      throw error;
    }
  });
}

/** Thrown if a check reads a value that is invalid in the file. Another problem already reports the value. */
class InvalidValue extends Error {}

/**
 * Returns a copy of the configuration for the checks. A check that reads a value at or below one of these paths reports
 * no problem.
 */
export function withoutValues(config: Config, paths: readonly (readonly PropertyKey[])[]): Config {
  const copy = structuredClone(config);
  const isBelow = (path: readonly PropertyKey[]) =>
    paths.some(above => above.length < path.length && above.every((step, i) => step === path[i]));
  for (const path of paths.filter(one => !isBelow(one))) {
    let at: Record<PropertyKey, unknown> = copy;
    let [first, ...rest] = path;
    while (rest.length > 0 && first !== undefined && isSection(at[first])) {
      at = at[first] as Record<PropertyKey, unknown>;
      [first, ...rest] = rest;
    }
    if (first === undefined) continue;
    const get = () => {
      throw new InvalidValue();
    };
    Object.defineProperty(at, first, { get, enumerable: true, configurable: true });
  }
  return copy;
}

/** Whether a value has keys or elements. */
export const isSection = (value: unknown): value is Record<PropertyKey, unknown> =>
  typeof value === 'object' && value !== null;

/**
 * Returns why the configured spreads lose money at this maker fee (in units of 10^-8, as from `rateCeil`); `null` if
 * the spreads cover the fee. For callers that have read the account's fees.
 */
export function edgeProblem(config: Config, makerRate: number): string | null {
  const { strategy } = config;
  const problem = ofStrategy(strategy, 'edgeProblem', kind => kind.edgeProblem(strategy, makerRate));
  return problem === null ? null : `strategy: ${problem}`;
}

/** Cross-field checks. Each returns the problems between several keys. */
const CHECKS: readonly ((config: Config, venues?: readonly string[]) => readonly Problem[])[] = [
  config => strategyProblems(config),
  missingReference,
  missingTrades,
  referenceProblems,
  timingProblems,
  priceMoveProblems,
  hedgeProblems,
  rfqReferenceProblems,
  deskProblems,
  fittedProblems,
  exchangeProblems,
  elsewhereProblems,
  ...IDLE_RULES.map(rule => (config: Config) => idleProblems(rule, config)),
];

/** Finds strategies and parts of the fair value that need a reference price, if none is configured. */
function missingReference({ reference, strategy, fairValue, pull }: Config): readonly Problem[] {
  if (reference !== undefined) return [];
  const missing = (path: string[], who: string): Problem => ({
    path,
    message: `${who} needs a reference price; add reference: { books: [...] }`,
  });
  return [
    ...(kindOf(strategy).needsReference === true
      ? [missing(['strategy', 'file' in strategy ? 'file' : 'name'], `strategy ${strategy.name}`)]
      : []),
    ...(fairValue?.reference ? [missing(['fairValue', 'reference'], 'this part of the fair value')] : []),
    ...(pull?.leader
      ? [{ path: ['pull', 'leader'], message: 'needs a reference price; add reference: { books: [...] }' }]
      : []),
  ];
}

/**
 * Finds reference books that do not form a chain from the base to the quote currency of the traded book, unused feeds,
 * and a request budget that is too small.
 */
function referenceProblems(config: Config, venues?: readonly string[]): readonly Problem[] {
  const { reference: wanted, book } = config;
  const problems: Problem[] = [];
  if (config.fairValue?.reference?.leave !== undefined && wanted?.sources === undefined)
    problems.push({
      path: ['fairValue', 'reference', 'leave'],
      message: 'needs reference.sources, because fills are hedged at one of these sources; add reference.sources',
    });
  if (wanted === undefined) return problems;
  if (wanted.sources !== undefined) return [...sourceProblems(config, venues), ...publicBudgetProblems(config)];
  const fed = wanted.feeds.map(one => one.book ?? book);
  wanted.feeds.forEach((_, i) => {
    const name = fed[i] ?? '';
    const wrong = (message: string) => problems.push({ path: ['reference', 'feeds', i, 'book'], message });
    if (fed.indexOf(name) !== i) wrong(`two feeds give the price of ${name}; remove one of these feeds`);
    if (wanted.books?.includes(name) === false)
      wrong(`${name} is not in reference.books; add this book there, or remove the feed`);
    const sameness = name === book ? samenessOf(config, { urls: [wanted.feeds[i]?.url] }, venues) : null;
    if (sameness !== null) wrong(ownBook(`${book} of this feed`, sameness));
  });
  if (wanted.books === undefined && fed.length === 0)
    problems.push({ path: ['reference', 'books'], message: 'expected books, like [btc_usd, usd_mxn], or feeds' });
  const elsewhere = externalReferenceOf(config);
  if (problems.length === 0 && (elsewhere === null || elsewhere.read.includes(book))) {
    const found = (wanted.books ?? fed).join(', ');
    const message = `expected books other than ${book} that lead from ${pairOf(book).join(' to ')}, like [btc_usd, usd_mxn] for btc_mxn; found ${found}`;
    problems.push({ path: ['reference', wanted.books === undefined ? 'feeds' : 'books'], message });
  }
  return [...problems, ...publicBudgetProblems(config)];
}

/** Finds a budget of public requests that is too small for the reads of the book and of the reference. */
function publicBudgetProblems(config: Config): readonly Problem[] {
  const { timing, exchange } = config;
  const most = exchange.budgets.publicPerMinute;
  const perMinute = 60_000 / timing.bookPollMs + readsPerMinute(externalReferenceOf(config));
  if (perMinute <= most) return [];
  const keys =
    config.reference?.sources === undefined
      ? 'everyMs'
      : 'everyMs, and staleAfterMs of the sources with from: exchange';
  const message = `expected at most ${counted(most, 'public request')} per minute (budgets.publicPerMinute), found ${Math.ceil(perMinute)} with timing.bookPollMs ${timing.bookPollMs}; increase ${keys}`;
  return [{ path: ['reference', 'everyMs'], message }];
}

/**
 * Finds sources of the reference price whose books form no chain, that read the bot's own book, use unknown feeds, or
 * cannot reach `sourcesMin`. Also finds keys that have no effect beside sources.
 */
function sourceProblems(config: Config, venues?: readonly string[]): readonly Problem[] {
  const { reference: wanted, book, strategy, fairValue, elsewhere } = config;
  const { sources = [], books, feeds, sourcesMin, basis } = wanted!;
  const problems: Problem[] = [];
  const wrong = (path: readonly (string | number)[], message: string) =>
    problems.push({ path: ['reference', ...path], message });
  if (books !== undefined) wrong(['books'], 'has no effect, because reference.sources is set; remove books or sources');
  if (sourcesMin > sources.length)
    wrong(['sourcesMin'], `expected at most ${sources.length}, the number of sources, found ${sourcesMin}`);
  const used = new Set<number>();
  sources.forEach((source, i) => {
    const { name } = source;
    if (sources.findIndex(other => other.name === name) !== i)
      wrong(['sources', i, 'name'], `two sources have the name ${name}; rename one of them`);
    const legs = sourceLegs(source);
    const chain = legs.map(({ as }) => as);
    if (legsOf(book, chain) === null)
      wrong(
        ['sources', i, 'books'],
        `expected books that lead from ${pairOf(book).join(' to ')}, like [btc_usd, usd_mxn] for btc_mxn; found ${chain.join(', ')}`,
      );
    const young = legs.find(leg => leg.staleAfterMs < staleAfterMsMin(leg.from));
    if (young !== undefined)
      wrong(
        ['sources', i, 'staleAfterMs'],
        `expected at least ${staleAfterMsMin(young.from)} for prices from ${placeText(young.from)}, found ${young.staleAfterMs}; prices would be stale after one failed poll`,
      );
    for (const { key, message } of idleKeysOfSource(source, book)) wrong(['sources', i, key], message);
    const twin = sources.slice(0, i).find(other => booksRead(config, other) === booksRead(config, source));
    if (twin !== undefined && sourcesMin > 1)
      wrong(
        ['sources', i, 'books'],
        `${name} reads the same books from the same exchanges or feeds as ${twin.name}, so both give one price, but sourcesMin is ${sourcesMin}; change the key books or the key from of one of the two sources, or remove one of them`,
      );
    for (const leg of legs) {
      const { from } = leg;
      const isHere = from === 'exchange';
      const sameness =
        leg.book !== book ? null : isHere ? 'address' : samenessOf(config, placeOf(config, from, leg.book), venues);
      if (sameness !== null)
        wrong(['sources', i, 'books'], ownBook(isHere ? book : `${book} at ${placeText(from)}`, sameness));
      if (typeof from === 'object' && 'venue' in from && venues?.includes(from.venue) === false)
        wrong(
          ['sources', i, 'from'],
          `expected venue to be one of ${venues.join(', ')}, found ${JSON.stringify(from.venue)}`,
        );
      if (from === 'elsewhere' && elsewhere === undefined) wrong(['sources', i, 'from'], NO_ELSEWHERE);
      if (from !== 'feed' && !(typeof from === 'object' && 'feed' in from)) continue;
      const at = feedIndexOf(feeds, book, leg.book, from);
      used.add(at);
      const missing = from === 'feed' ? `the book ${leg.book}` : `the name ${from.feed}`;
      if (at < 0)
        wrong(
          ['sources', i, 'from'],
          `reference.feeds has no feed with ${missing}; add this feed, or change the key from`,
        );
      else if (from !== 'feed' && (feeds[at]!.book ?? book) !== leg.book)
        wrong(
          ['sources', i, 'from'],
          `the feed ${from.feed} gives the price of ${feeds[at]!.book ?? book}, not of ${leg.book}; correct the book or the feed`,
        );
    }
  });
  feeds.forEach((_, i) => {
    if (!used.has(i)) wrong(['feeds', i], 'no source uses this feed; add a source or remove the feed');
  });
  const hedgedAt = fairValue?.reference?.leave?.source;
  if (hedgedAt !== undefined && !sources.some(({ name }) => name === hedgedAt))
    problems.push({
      path: ['fairValue', 'reference', 'leave', 'source'],
      message: `expected the name of one of reference.sources, ${sources.map(({ name }) => name).join(', ')}, found ${hedgedAt}`,
    });
  if (basis === undefined) return problems;
  const twice = 'sets a second basis in addition to reference.basis; remove one of these two keys';
  if (fairValue?.reference?.basisMemory !== undefined)
    problems.push({ path: ['fairValue', 'reference', 'basisMemory'], message: twice });
  if ('basisMemory' in strategy && strategy.basisMemory !== undefined)
    problems.push({ path: ['strategy', 'basisMemory'], message: twice });
  return problems;
}

/** Finds keys of a source that have no effect. */
function idleKeysOfSource(
  source: SourceConfig,
  book: string,
): readonly { readonly key: string; readonly message: string }[] {
  const { amount, books } = source;
  const legs = sourceLegs(source);
  const [first] = legs;
  const isDivided =
    legsOf(
      book,
      legs.map(({ as }) => as),
    )?.[0]?.divides === true;
  const isFeed = first?.from === 'feed' || (typeof first?.from === 'object' && 'feed' in first.from);
  const [base] = pairOf(book);
  const why = isDivided
    ? `the amounts of the first book, ${first?.as}, are not in ${base}`
    : isFeed
      ? 'the first book is read from a feed, which gives no amounts'
      : null;
  const replaced = (['from', 'staleAfterMs', 'frozenAfterMs'] as const).filter(
    key =>
      source[key] !== SOURCE_DEFAULTS[key] && books.every(one => typeof one === 'object' && one[key] !== undefined),
  );
  return [
    ...(amount === undefined || why === null
      ? []
      : [{ key: 'amount', message: `has no effect, because ${why}; remove this key` }]),
    ...replaced.map(key => ({
      key,
      message: `has no effect, because each of the books sets its own ${key}; remove this key`,
    })),
  ];
}

/**
 * Returns as text the books that a source reads, each with the complete address of its exchange or feed. Sources with
 * equal texts have equal prices.
 */
function booksRead(config: Config, source: SourceConfig): string {
  const { exchange, reference, book: own } = config;
  const feeds = reference?.feeds ?? [];
  const legs = sourceLegs(source).map(({ book, from }) => {
    if (from === 'feed' || (typeof from === 'object' && 'feed' in from)) {
      const { url, file, price } = feeds[feedIndexOf(feeds, own, book, from)] ?? {};
      return [book, url, file, price];
    }
    // The REST address identifies an exchange: `elsewhere` equals an entry with that address, and a stream and polls
    // give the same book.
    const [url] =
      from === 'exchange' && exchange.kind === 'remote' ? [exchange.restUrl] : placeOf(config, from, book).urls;
    return [book, url ?? from];
  });
  return JSON.stringify(legs);
}

/** Reason why an exchange or feed counts as the traded exchange: an equal address, or only an equal name. */
type Sameness = 'address' | { readonly name: string };

const ownBook = (what: string, sameness: Sameness): string =>
  sameness === 'address'
    ? `${what} is the bot's own book, which contains the bot's orders; use another exchange or book`
    : `${what} counts as the bot's own book, which contains the bot's orders: both exchanges have the name ${sameness.name}, and one exchange can have several addresses; use another exchange or book`;

/** Name and addresses of an exchange or feed. Without addresses, the public API of the exchange is meant. */
type Place = { readonly name?: string | undefined; readonly urls: readonly (string | undefined)[] };

/** Returns name and addresses of the exchange or feed from which a book is read. */
function placeOf({ reference, elsewhere, book: own }: Config, from: SourceFrom, book: string): Place {
  if (from === 'exchange') return { urls: [] };
  if (from === 'elsewhere')
    return elsewhere?.kind === 'remote'
      ? { name: elsewhere.venue, urls: [elsewhere.restUrl, elsewhere.streamUrl] }
      : { urls: [] };
  if (from === 'feed' || 'feed' in from) {
    const feeds = reference?.feeds ?? [];
    return { urls: [feeds[feedIndexOf(feeds, own, book, from)]?.url] };
  }
  return 'ccxt' in from
    ? { name: from.ccxt, urls: [from.url] }
    : { name: from.venue, urls: [from.restUrl, from.streamUrl] };
}

/**
 * Returns why `place` counts as the traded exchange: it has the same host or, because an exchange may have several
 * hosts, the same name. Returns `null` if it is another exchange. ccxt and `exchange.venue` use the same names. Another
 * port of this machine is another exchange.
 */
function samenessOf({ exchange }: Config, place: Place, venues?: readonly string[]): Sameness | null {
  const traded: Place =
    exchange.kind === 'remote'
      ? { name: exchange.venue ?? venues?.[0], urls: [exchange.restUrl, exchange.streamUrl] }
      : { urls: [`http://127.0.0.1:${exchange.port}`] };
  const [own, there] = [urlsOf(traded), urlsOf(place)];
  if (there.some(url => own.some(other => hostOf(other) === hostOf(url)))) return 'address';
  const isNamed = place.name !== undefined && place.name === traded.name && ![...own, ...there].some(isOnThisMachine);
  return isNamed ? { name: place.name } : null;
}

const urlsOf = ({ urls }: Place): readonly URL[] => urls.flatMap(url => (url === undefined ? [] : [new URL(url)]));

/** Returns host and port; every name of this machine becomes 127.0.0.1. */
const hostOf = (url: URL): string => (isOnThisMachine(url) ? `127.0.0.1:${url.port || url.protocol}` : url.host);

/** Finds keys that need every public trade, if no stream is configured. */
function missingTrades({ fairValue, pull, exchange, strategy }: Config): readonly Problem[] {
  const hasStream = exchange.stream && (exchange.kind === 'embedded' || exchange.streamUrl !== undefined);
  if (hasStream) return [];
  const why = exchange.stream ? 'exchange.streamUrl is missing' : 'exchange.stream is false';
  const hearing = [
    ...(fairValue?.lastTrades ? [['fairValue', 'lastTrades']] : []),
    ...(pull?.print ? [['pull', 'print']] : []),
    ...(Number(ofStrategy(strategy, 'history', kind => kind.historyMs?.(strategy) ?? 0)) > 0
      ? [['strategy', 'file']]
      : []),
  ];
  return hearing.map(path => ({
    path,
    message: `needs the stream, which reports every trade, but ${why}; enable the stream, or remove ${path[0] === 'strategy' ? 'the function history from the file' : 'this key'}`,
  }));
}

function strategyProblems({ strategy, limits, book, fairValue, crossRates }: Config): readonly Problem[] {
  const isFairKnown = fairValue !== undefined || crossRates !== undefined;
  const asked = { ...limits, ...(isFairKnown && { fairValueBps: fairValueReachBps(fairValue) }) };
  const found = ofStrategy(strategy, 'limitProblems', kind =>
    kind
      .limitProblems(strategy, asked, book)
      .map(({ key, message }) => ({ path: ['strategy', key], message: String(message) })),
  );
  return typeof found === 'string' ? [{ path: ['strategy', 'file'], message: found }] : found;
}

/** Returns the result of a check of the strategy, or the error of a strategy file as text. */
function ofStrategy<T>(strategy: StrategyConfig, key: string, check: (kind: StrategyKind) => T): T | string {
  try {
    return check(kindOf(strategy, limitedCall));
  } catch (error) {
    if (error instanceof InvalidValue || !('code' in strategy)) throw error;
    return `${strategy.file}: ${key} failed: ${textOfError(error)}; correct the file`;
  }
}

function hedgeProblems(config: Config): readonly Problem[] {
  const { hedge, limits, book } = config;
  if (!hedge) return [];
  const problems: Problem[] = [...hedgeElsewhereProblems(config)];
  const demand = (holds: boolean, key: string, message: string) => {
    if (!holds) problems.push({ path: ['hedge', ...key.split('.')], message });
  };
  const own = hedge.routes?.via.filter(currency => pairOf(book).includes(currency)) ?? [];
  demand(own.length === 0, 'routes.via', `expected currencies other than those of ${book}, found ${own.join(', ')}`);
  if (hedge.band === undefined) {
    const [, minor] = pairOf(book);
    const { risk, flow, residual, carryBpsPerHour } = hedge;
    const isWhole = risk !== undefined && flow !== undefined;
    demand(isWhole, 'band', 'expected band, or risk and flow to compute the band');
    demand(
      risk === undefined || currencyOf(risk) === minor,
      'risk',
      `expected a sum in ${minor}, the quote currency of ${book}, found ${risk ?? ''}`,
    );
    demand(
      residual === undefined,
      'residual',
      'is computed because hedge.band is missing; remove this key, or set band too',
    );
    demand(
      carryBpsPerHour === 0,
      'carryBpsPerHour',
      'is computed because hedge.band is missing; remove this key, or set band too',
    );
    return problems;
  }
  const [band, residual, most] = [moneyOf(hedge.band), moneyOf(hedge.residual ?? '0'), moneyOf(limits.positionMax)];
  demand(residual < band, 'residual', `expected less than hedge.band (${hedge.band}), found ${hedge.residual ?? '0'}`);
  demand(band < most, 'band', `expected less than limits.positionMax (${limits.positionMax}), found ${hedge.band}`);
  return problems;
}

/** Text about a value `elsewhere` without the section that it refers to. */
const NO_ELSEWHERE =
  '"elsewhere" needs the section elsewhere; add that section with kind and book of the other exchange';

/**
 * Finds problems of hedges on the other exchange: the hedge route and its keys, the other exchange, the rate of its
 * currency.
 */
function hedgeElsewhereProblems({ hedge, elsewhere, exchange, reference, book, limits }: Config): readonly Problem[] {
  const isWay = hedge?.venues.includes('elsewhere') === true;
  const keys = hedge?.elsewhere;
  if (!isWay && keys === undefined) return [];
  const problems: Problem[] = [];
  const at = (path: readonly string[], message: string) => problems.push({ path: ['hedge', ...path], message });
  if (!isWay)
    at(
      ['elsewhere'],
      'has no effect without elsewhere in hedge.venues; add elsewhere to hedge.venues, or remove this key',
    );
  if (keys === undefined)
    at(['venues'], '"elsewhere" needs the keys of hedge.elsewhere; add hedge.elsewhere with driftMax and debtMax');
  if (elsewhere === undefined) {
    at(isWay ? ['venues'] : ['elsewhere'], NO_ELSEWHERE);
    return problems;
  }
  // Orders on a remote exchange would hedge play money, and a restart would forget these hedges with the account of the
  // embedded exchange.
  if (exchange.kind === 'embedded' && elsewhere.kind === 'remote')
    problems.push({
      path: ['elsewhere', 'kind'],
      message:
        'expected embedded, found remote; hedges of play money (exchange.kind: embedded) must not use real money',
    });
  const [[, here], [, there]] = [pairOf(book), pairOf(elsewhere.book)];
  const rated = here === there || (reference?.sources ?? []).some(source => isRate(sourceLegs(source), elsewhere.book));
  if (!rated)
    at(
      ['venues'],
      `"elsewhere" needs the value of ${there} in ${here}; add a source to reference.sources with books that lead from ${elsewhere.book} to ${here}, like books: [${elsewhere.book}, ${there}_${here}]`,
    );
  if (keys !== undefined && !(moneyOf(keys.debtMax) <= moneyOf(limits.positionMax)))
    at(['elsewhere', 'debtMax'], `expected at most limits.positionMax (${limits.positionMax}), found ${keys.debtMax}`);
  return problems;
}

/**
 * Whether a chain of books starts with `book` and has more books, which then give the value of the quote currency of
 * `book`.
 */
const isRate = (legs: readonly { readonly book: string }[], book: string): boolean =>
  legs.length > 1 && legs[0]?.book === book;

function fittedProblems({ paper: { fills, fittedFile } }: Config): readonly Problem[] {
  if (fills !== 'fitted' || fittedFile !== undefined) return [];
  return [
    { path: ['paper', 'fittedFile'], message: 'expected the file of puntas calibrate --fills, for fills: fitted' },
  ];
}

function deskProblems({ backtest: { desk } }: Config): readonly Problem[] {
  if (desk.delayMinMs <= desk.delayMaxMs) return [];
  const message = `expected at least backtest.desk.delayMinMs (${desk.delayMinMs}), found ${desk.delayMaxMs}`;
  return [{ path: ['backtest', 'desk', 'delayMaxMs'], message }];
}

/** Finds RFQ prices that no other key uses, or that become too old before the next read. */
function rfqReferenceProblems({ rfqReference }: Config): readonly Problem[] {
  if (!rfqReference) return [];
  const problems: Problem[] = [];
  if (rfqReference.thinBps === undefined && !rfqReference.capsSkew)
    problems.push({ path: ['rfqReference'], message: 'has no effect; set thinBps, or capsSkew: true' });
  if (!(rfqReference.staleAfterMs > rfqReference.everyMs))
    problems.push({
      path: ['rfqReference', 'staleAfterMs'],
      message: `expected more than rfqReference.everyMs (${rfqReference.everyMs}), found ${rfqReference.staleAfterMs}`,
    });
  return problems;
}

function timingProblems({ timing, exchange }: Config): readonly Problem[] {
  const problems: Problem[] = [];
  const demand = (holds: boolean, key: keyof Config['timing'], message: string) => {
    if (!holds) problems.push({ path: ['timing', key], message });
  };
  const { bookPollMs, privatePollMs, staleAfterMs, requestDelayMaxMs, tradeReportDelayMaxMs, shutdownMs } = timing;
  const { budgets, requestTimeoutMs } = exchange;
  demand(
    staleAfterMs > bookPollMs,
    'staleAfterMs',
    `expected more than bookPollMs (${bookPollMs}), found ${staleAfterMs}; every book would be stale before the next read of a book`,
  );
  demand(
    60_000 / bookPollMs <= budgets.publicPerMinute,
    'bookPollMs',
    `expected at least ${Math.ceil(60_000 / budgets.publicPerMinute)}, found ${bookPollMs}; reads at this interval would exceed budgets.publicPerMinute (${budgets.publicPerMinute})`,
  );
  // Each round needs two requests: open orders and trades of the account.
  demand(
    120_000 / privatePollMs <= budgets.privatePerMinute,
    'privatePollMs',
    `expected at least ${Math.ceil(120_000 / budgets.privatePerMinute)}, found ${privatePollMs}; reads of orders and trades at this interval would exceed budgets.privatePerMinute (${budgets.privatePerMinute})`,
  );
  demand(
    requestDelayMaxMs > requestTimeoutMs,
    'requestDelayMaxMs',
    `expected more than exchange.requestTimeoutMs (${requestTimeoutMs}), found ${requestDelayMaxMs}; a request may still be in flight after its timeout`,
  );
  demand(
    shutdownMs >= tradeReportDelayMaxMs,
    'shutdownMs',
    `expected at least tradeReportDelayMaxMs (${tradeReportDelayMaxMs}), found ${shutdownMs}; a stop of this duration would miss trades that are listed late`,
  );
  return problems;
}

/**
 * Finds a window of `limits.priceMove` that is too short: all its prices could expire while the book still counts as
 * fresh.
 */
function priceMoveProblems({ limits: { priceMove }, timing: { staleAfterMs } }: Config): readonly Problem[] {
  if (priceMove === undefined || priceMove.windowMs > staleAfterMs) return [];
  const message = `expected more than timing.staleAfterMs (${staleAfterMs}), found ${priceMove.windowMs}; every mid price in this window could expire before the next book`;
  return [{ path: ['limits', 'priceMove', 'windowMs'], message }];
}

/** Finds problems of the other exchange: its kind, its venue, its base currency and its opening balances. */
function elsewhereProblems({ elsewhere, exchange, book }: Config, venues?: readonly string[]): readonly Problem[] {
  if (elsewhere === undefined) return [];
  const problems: Problem[] = [];
  const at = (key: string, message: string) => problems.push({ path: ['elsewhere', key], message });
  const [base] = pairOf(book);
  if (pairOf(elsewhere.book)[0] !== base)
    at('book', `expected a book of ${base}, like ${base}_usdt, found ${elsewhere.book}`);
  if (elsewhere.kind === 'remote') {
    if (venues !== undefined && !venues.includes(elsewhere.venue))
      at('venue', `expected one of ${venues.join(', ')}, found ${JSON.stringify(elsewhere.venue)}`);
    return problems;
  }
  if (exchange.kind !== 'embedded')
    at('kind', 'expected remote, because exchange.kind is remote; found embedded, which needs exchange.kind: embedded');
  else if (exchange.market.kind !== 'flow')
    at(
      'kind',
      'embedded needs exchange.market: { kind: flow }; change exchange.market, or remove the section elsewhere',
    );
  for (const currency of pairOf(elsewhere.book)) {
    if (elsewhere.balances[currency] === undefined)
      at('balances', `expected an opening balance of ${currency} for book ${elsewhere.book}`);
  }
  return problems;
}

function exchangeProblems({ exchange, book }: Config, venues?: readonly string[]): readonly Problem[] {
  if (exchange.kind === 'remote') {
    const { venue } = exchange;
    if (venue === undefined || venues === undefined || venues.includes(venue)) return [];
    const message = `expected one of ${venues.join(', ')}, found ${JSON.stringify(venue)}`;
    return [{ path: ['exchange', 'venue'], message }];
  }
  const unfunded = pairOf(book)
    .filter(currency => exchange.balances[currency] === undefined)
    .map(currency => ({
      path: ['exchange', 'balances'],
      message: `expected an opening balance of ${currency} for book ${book}`,
    }));
  return [...unfunded, ...marketBookProblems({ exchange, book })];
}

/**
 * Finds `exchange.market.books` without a book besides the traded one, a second recording of the traded book, and fees
 * of the traded book that are set twice.
 */
function marketBookProblems({ exchange, book }: Pick<Config, 'exchange' | 'book'>): readonly Problem[] {
  if (recordedBooksOf(exchange)?.[book] !== undefined)
    return [
      {
        path: ['exchange', 'market', 'books', book],
        message: `${book} is the traded book, whose recording is exchange.market.dir; remove this entry`,
      },
    ];
  const books = namedBooksOf(exchange);
  if (books === undefined) return [];
  const path = ['exchange', 'market', 'books'];
  const names = Object.keys(books);
  if (names.every(name => name === book))
    return [
      {
        path,
        message: `expected a book other than ${book}, the traded book, like btc_usd: ${marketBooksOf(exchange) ? '{}' : '{ dir: … }'}; found ${names.length === 0 ? 'none' : `only ${book}`}; add a book, or remove this key`,
      },
    ];
  if (books[book]?.fees === undefined || exchange.kind !== 'embedded' || exchange.fees === undefined) return [];
  const message = `exchange.fees also sets the fees of ${book}, the traded book; remove one of these two keys`;
  return [{ path: [...path, book, 'fees'], message }];
}
