/**
 * `puntas init`: asks ten questions, reads fees and rules from the exchange, and writes a commented configuration.
 * Never overwrites a file.
 */
import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { stringify } from 'yaml';
import {
  describeTier,
  moneyOf,
  moneyOfValue,
  pairOf,
  priceFloor,
  rateCeil,
  instrumentOf,
  textOfMoney,
  type AvailableBook,
  type Clock,
  type Exchange,
  type Money,
  type Price,
  textOfError,
} from '../../core/index.ts';
import { plainLadder } from '../../../strategies/index.ts';
import { loadConfig, type Config } from '../../config.ts';
import { FLOW_PROFILES } from '../../sandbox/index.ts';
import { readBookRow, readOpening, readRules } from '../../live/loop/opening.ts';
import type { Rules } from '../../live/rules.ts';
import { createDurably, orNull, readRegularFile, TEXT_FILE } from '../../guard/index.ts';
import type { Log } from '../../live/log.ts';
import { check } from '../doctor/check.ts';
import { wrapped } from '../../messages/wrapped.ts';
import { clientOf, publicClientOf, type VenueAccess } from '../../wiring/bot.ts';
import { readShipped, shippedConfig } from '../../wiring/configFile.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { hasKey, remoteAccess, withVenue } from '../../wiring/venueAccess.ts';
import { venueOf } from '../../wiring/venueRegistry.ts';
import {
  addressProblem,
  amountQuestion,
  AS_FOUND,
  EMBEDDED,
  limitQuestions,
  LIVE,
  balanceWarning,
  placeQuestions,
  quoteQuestions,
  targetQuestion,
  twoDigits,
  type MarketRead,
  type InitQuestion,
  type QuestionName,
} from './initQuestions.ts';

export type InitOptions = {
  readonly file: string;
  /** Answers that flags give, by the name of the question. */
  readonly given: Readonly<Partial<Record<QuestionName, string>>>;
  /** Stream address, if the exchange is given by its address; if absent, books are polled. */
  readonly stream?: string;
  /**
   * Returns the answer to a question; an empty answer accepts the proposal. `null` instead of a function accepts every
   * proposal.
   */
  readonly ask: ((question: InitQuestion, problem: string | null) => Promise<string>) | null;
  readonly say: (line: string) => void;
  readonly clock: Clock;
  readonly seed: number;
  readonly openLog: (level: string, secrets: readonly string[]) => Log;
};

type Answers = Map<QuestionName, { readonly value: string; readonly from: string; readonly text: string }>;

/**
 * Writes the configuration. Resolves to the reason why the bot would not quote now, or to `null` if the bot would
 * quote.
 * @throws UsageError if the file exists or an answer is invalid.
 */
export async function init(options: InitOptions): Promise<string | null> {
  const { file, given } = options;
  if (existsSync(file)) throw new UsageError(`${file} already exists and is not overwritten; choose another file`);
  try {
    accessSync(dirname(resolve(file)), constants.W_OK);
  } catch (error) {
    throw unwritable(file, error);
  }
  const answers: Answers = new Map();
  const exchange = await answered(placeQuestions.exchange(), options, answers);
  if (options.stream !== undefined && (exchange === EMBEDDED || exchange === LIVE))
    throw new UsageError(
      `--stream: no effect on the exchange ${exchange}, which has its own stream; remove the flag, or pass the URL of an exchange with --exchange`,
    );
  if (exchange === EMBEDDED) {
    const book = await whichBook(Object.keys(FLOW_PROFILES), options, answers);
    const [major, minor] = pairOf(book);
    const base = readShipped('sandbox');
    if (base.exchange.kind !== 'embedded')
      throw new Error(
        `config/sandbox.yaml: exchange.kind: expected embedded, found ${base.exchange.kind}; restore the file`,
      );
    const balances = { [major]: worthOf(PLAY_MONEY, FLOW_PROFILES[book]?.startPrice ?? '1'), [minor]: PLAY_MONEY };
    const settings = { ...base.exchange, balances };
    return withVenue(
      { ...base, book, exchange: settings },
      [],
      { speed: 1, openLog: () => options.openLog('error', []) },
      options.clock,
      venue => asked(options, answers, { kind: 'embedded', balances }, venue, { ...base, book, exchange: settings }),
    );
  }
  const base = readShipped('live');
  if (base.exchange.kind !== 'remote')
    throw new Error(`config/live.yaml: exchange.kind: expected remote, found ${base.exchange.kind}; restore the file`);
  const { streamUrl, ...rest } = base.exchange;
  const stream = exchange === LIVE ? streamUrl : options.stream;
  const restUrl = exchange === LIVE ? rest.restUrl : exchange;
  const addresses = { kind: 'remote', restUrl, ...(stream !== undefined && { streamUrl: stream }) } as const;
  const wrong = addressProblem(addresses);
  if (wrong !== null) throw new UsageError(`--stream ${stream}: ${wrong}`);
  const settings = { ...rest, ...addresses };
  const config = { ...base, exchange: settings };
  const url = venueOf(config).restUrl(restUrl);
  const client = publicClientOf(config, url, options.clock, options.seed);
  try {
    const books = await client.availableBooks();
    if (books.kind !== 'done') await readBookRow(client, given.book ?? base.book);
    const names = books.kind === 'done' ? books.value.map(({ book }) => book) : [];
    const book = await whichBook(names, options, answers);
    return await asked(options, answers, addresses, hasKey() ? remoteAccess(settings) : client, { ...config, book });
  } finally {
    await client.close();
  }
}

const PLAY_MONEY = '2000000';

/** Returns the base amount that a quote amount buys at the price, to two digits. */
function worthOf(minor: string, price: string): string {
  const whole = (moneyOf(minor) * moneyOf('1')) / moneyOf(price);
  return textOfMoney(twoDigits(whole) as Money);
}

async function whichBook(names: readonly string[], options: InitOptions, answers: Answers): Promise<string> {
  const sorted = names.toSorted();
  if (options.ask !== null && options.given.book === undefined)
    options.say(`books of the exchange: ${sorted.join(', ')}`);
  return answered(placeQuestions.book(sorted), options, answers);
}

/**
 * Returns the answer to a question: the value of its flag, a valid answer from the prompt, or the proposal, which is
 * then printed.
 */
async function answered(question: InitQuestion, { given, ask, say }: InitOptions, answers: Answers): Promise<string> {
  const { name, proposal, text, why, problem } = question;
  const take = (value: string, from: string): string => {
    answers.set(name, { value, from, text });
    return value;
  };
  const flag = given[name];
  if (flag !== undefined) {
    const wrong = problem(flag);
    if (wrong !== null) throw new UsageError(`--${name} ${flag}: ${wrong}`);
    return take(flag, 'from your flag');
  }
  const proposed = `proposed: ${why}`;
  if (ask === null) {
    if (proposal === null) throw new UsageError(`--${name} is required: ${text}`);
    say(`--${name} ${proposal} (${proposed})`);
    return take(proposal, proposed);
  }
  for (let wrong: string | null = null; ;) {
    const said = await ask(question, wrong);
    if (said === '' && proposal !== null) return take(proposal, proposed);
    wrong = said === '' ? 'this question has no default; enter an answer' : problem(said);
    if (wrong === null) return take(said, 'your answer');
  }
}

/**
 * Asks the remaining questions and writes the configuration; resolves as `init` does. Without an API key, `venue` is a
 * client for public data only.
 */
async function asked(
  options: InitOptions,
  answers: Answers,
  exchange: object,
  venue: VenueAccess | Exchange,
  base: Config,
): Promise<string | null> {
  const { file, clock, seed, say } = options;
  const folder = dirname(resolve(file));
  const statesOf = (instance: string): readonly string[] =>
    [`state-${instance}`, `state-${instance}-paper`].map(name => join(folder, name)).filter(dir => existsSync(dir));
  const taken = instancesIn(folder);
  const instance = await answered(
    placeQuestions.instance(name => !taken.has(name) && statesOf(name).length === 0),
    options,
    answers,
  );
  for (const dir of statesOf(instance)) say(`${dir} already exists; the new bot continues with this state`);
  const market = await readMarket(base, venue, clock, seed);
  const facts = factsOf(market);
  for (const line of facts) say(line);
  for (const question of quoteQuestions(market)) await answered(question, options, answers);
  const amount = await answered(amountQuestion(market), options, answers);
  const levels = Number(answers.get('levels')?.value);
  const short = balanceWarning(market, (moneyOf(amount) * BigInt(levels)) as Money);
  if (short !== null) say(short);
  for (const question of limitQuestions(market, levels, amount)) await answered(question, options, answers);
  await answered(targetQuestion(market), options, answers);
  const text = configText(answers, exchange, market, facts, clock.now());
  const loaded = loadConfig(text, file);
  if (!loaded.ok) throw new UsageError(loaded.errors);
  const config = { ...loaded.config, state: { dir: resolve(dirname(resolve(file)), loaded.config.state.dir) } };
  const problem = 'limits' in venue ? null : (await check(config, venue, clock, seed, file)).problem;
  try {
    createDurably(file, text, 0o666);
  } catch (error) {
    throw unwritable(file, error);
  }
  return problem;
}

const unwritable = (file: string, error: unknown): UsageError =>
  new UsageError(`${file} cannot be written: ${textOfError(error)}`);

async function readMarket(
  base: Config,
  venue: VenueAccess | Exchange,
  clock: Clock,
  seed: number,
): Promise<MarketRead> {
  if ('limits' in venue) {
    const rules = entryRules(await readBookRow(venue, base.book));
    return { rules, mid: await readMid(venue, rules), balances: null };
  }
  const client = clientOf(base, venue, clock, seed);
  try {
    const rules = await readRules(client, base.book);
    const { balances } = await readOpening(client, () => clock.now());
    return { rules, mid: await readMid(client, rules), balances };
  } finally {
    await client.close();
  }
}

/** Returns the rules with the fees of the first tier. */
function entryRules(row: AvailableBook): Rules {
  const rates = row.tiers[0] ?? row.flatRate;
  if (!rates)
    throw new UsageError(
      `the exchange lists no fees for ${row.book}; to read the fees of your account, set its API key in the environment`,
    );
  return { instrument: instrumentOf(row), makerRate: rateCeil(rates.maker), takerRate: rateCeil(rates.taker) };
}

async function readMid(exchange: Exchange, { instrument }: Rules): Promise<Price> {
  const book = await exchange.orderBook(instrument.symbol);
  const [bid, ask] = book.kind === 'done' ? [book.value.bids[0], book.value.asks[0]] : [];
  if (!bid || !ask)
    throw new UsageError(`the book ${instrument.symbol}: could not read both a bid and an ask; try again later`, 1);
  return Math.floor((priceFloor(instrument, bid.price) + priceFloor(instrument, ask.price)) / 2) as Price;
}

/** Returns the market data that was read, one item per line. */
function factsOf({ rules, mid, balances }: MarketRead): readonly string[] {
  const { instrument: i, makerRate, tier } = rules;
  const rate = `maker fee ${makerRate / 1e6}%`;
  return [
    balances === null
      ? `${rate} (first fee tier); to read the fee of your account, set its API key in the environment`
      : tier
        ? describeTier(tier)
        : rate,
    `${i.symbol}: tick size ${i.tick}, mid price ${textOfMoney((BigInt(mid) * i.tickMoney) as Money)}, minimum order amount ${textOfMoney((BigInt(i.amountMin) * i.lotMoney) as Money)} ${i.major}, minimum order value ${textOfMoney(moneyOfValue(i, i.valueMin))} ${i.minor}`,
    ...(balances ?? [])
      .filter(({ currency }) => currency === i.major || currency === i.minor)
      .map(({ currency, total }) => `you hold ${textOfMoney(moneyOf(total))} ${currency}`),
  ];
}

const COMMENT_WIDTH = 96;

function configText(
  answers: Answers,
  exchange: object,
  market: MarketRead,
  facts: readonly string[],
  now: number,
): string {
  const { rules, mid } = market;
  const i = rules.instrument;
  const value = (name: QuestionName): string => answers.get(name)?.value ?? '';
  const comment = (text: string, indent = ''): string =>
    wrapped(text, COMMENT_WIDTH)
      .map(row => `${indent}# ${row}\n`)
      .join('');
  const said = (name: QuestionName, indent = ''): string =>
    comment(`${answers.get(name)?.text ?? ''} (${answers.get(name)?.from ?? ''})`, indent);
  const block = (key: string, tree: object | string): string => stringify({ [key]: tree });
  const [half, levels] = [Number(value('half-spread')), Number(value('levels'))];
  const amount = value('amount');
  const { name, ...ladder } = plainLadder({ halfSpreadBps: half, levels, amount });
  const furthest = half + (levels - 1) * ladder.levelSpacingBps + ladder.skew.priceBpsAtLimit;
  const worth = (moneyOf(amount) * BigInt(mid) * i.tickMoney) / 10n ** 18n;
  const unit = 10n ** 18n;
  const orderValueMax = textOfMoney(((((worth * 3n) / 2n + unit) / unit) * unit) as Money);
  const schema = resolve(dirname(shippedConfig('sandbox')), 'schema.json');
  const limit = (key: string, of: QuestionName): string => `${said(of, '  ')}  ${key}: '${value(of)}'\n`;
  return [
    `# yaml-language-server: $schema=${schema}\n`,
    comment(
      `Written by puntas init at ${new Date(now).toISOString().slice(0, 16)}Z. All keys are described in docs/configuration.md.`,
    ),
    ...facts.map(fact => comment(`Read from the exchange: ${fact}`)),
    `\n${said('book')}${block('book', value('book'))}`,
    // A name of digits needs quotes: block adds them where YAML would read a number.
    `${said('instance')}${block('instance', value('instance'))}`,
    `\n${said('exchange')}`,
    'balances' in exchange ? comment('play money (derived: about the same value in both currencies)') : '',
    block('exchange', exchange),
    `\nstrategy:\n  name: ${name}\n`,
    `${said('half-spread', '  ')}  halfSpreadBps: ${half}\n`,
    `${said('levels', '  ')}  levels: ${levels}\n`,
    `${said('amount', '  ')}  amount: '${amount}'\n`,
    comment(
      'The next three values are derived: levelSpacingBps is a fifth of the half spread, refreshToleranceBps is a tenth, and skew.priceBpsAtLimit is a third.',
      '  ',
    ),
    `  levelSpacingBps: ${ladder.levelSpacingBps}\n  refreshToleranceBps: ${ladder.refreshToleranceBps}\n`,
    `  skew: { priceBpsAtLimit: ${ladder.skew.priceBpsAtLimit} }\n`,
    comment('Minimum profit of a round trip after both maker fees, in bps (the same for every new bot).', '  '),
    `  minEdgeBps: ${ladder.minEdgeBps}\n`,
    `\nlimits:\n${limit('positionMax', 'position-max')}`,
    `${limit('drawdownMax', 'drawdown-max')}${limit('dayLossMax', 'day-loss-max')}`,
    comment(`maximum value of one order, in ${i.minor} (derived: 1.5 times the current value of an order)`, '  '),
    `  orderValueMax: '${orderValueMax}'\n`,
    comment(
      'maximum number of live orders, bids and asks together (derived: all levels, and spare orders for replacements)',
      '  ',
    ),
    `  ordersMax: ${2 * levels + 4}\n`,
    comment('maximum distance of an order from the mid price, in bps (derived: beyond the last level)', '  '),
    `  collarBps: ${Math.min(5_000, Math.max(200, Math.ceil(furthest * 1.5)))}\n`,
    comment(
      'maximum distance of the mid price and of orders from the median mid price of the last hour, in bps (derived: 10%, more for far levels or large ticks)',
      '  ',
    ),
    `  priceMove: { bps: ${Math.min(5_000, Math.max(PRICE_MOVE_BPS, Math.ceil(furthest * 1.5), Math.ceil(100_000 / mid)))} }\n`,
    `\n${said('target')}`,
    value('target') === AS_FOUND ? "# inventory: { target: '…' }\n" : `inventory: { target: '${value('target')}' }\n`,
    'balances' in exchange ? '' : `\n${comment(PAPER_COMMENT)}${block('paper', paperKeys(market, value))}`,
    `\n# Directory of the data that survives a restart; no other bot may use it.\nstate: { dir: ./state-${value('instance')} }\n`,
  ].join('');
}

/** Minimum of the derived price-move limit, in bps. A lower limit would stop a new bot at ordinary price moves. */
const PRICE_MOVE_BPS = 1_000;

const PAPER_COMMENT =
  'Used only by puntas run --paper: balances of play money, a state directory and, if known, the trading volume of your fee tier. The base balance is the target inventory, or twice the maximum position if no target is set. The quote balance is the value of twice the maximum position.';

/**
 * Returns the configuration keys of a paper run: a base balance equal to the target (default: twice the maximum
 * position), a quote balance worth twice the maximum position, the volume of the fee tier, and a separate state
 * directory.
 */
function paperKeys({ rules: { instrument: i, tier }, mid }: MarketRead, value: (name: QuestionName) => string): object {
  const position = 2n * moneyOf(value('position-max'));
  const held = value('target') === AS_FOUND ? position : moneyOf(value('target'));
  const worth = twoDigits((position * BigInt(mid) * i.tickMoney) / 10n ** 18n);
  return {
    balances: { [i.major]: textOfMoney(held as Money), [i.minor]: textOfMoney(worth as Money) },
    ...(tier && { volume30d: textOfMoney(tier.volume) }),
    stateDir: `./state-${value('instance')}-paper`,
  };
}

/** Returns the names of the bots whose configurations are in a folder. */
function instancesIn(folder: string): ReadonlySet<string> {
  const files = existsSync(folder) ? readdirSync(folder).filter(name => /\.ya?ml$/.test(name)) : [];
  const named = files.flatMap(name => {
    const text = orNull(() => readRegularFile(join(folder, name), TEXT_FILE));
    return /^instance: *['"]?([A-Za-z0-9]{1,12})['"]? *(?:#.*)?$/m.exec(text ?? '')?.[1] ?? [];
  });
  return new Set(named);
}
