/**
 * `puntas check`: prints the validated configuration, and the quotes that the bot would place now with the reason for
 * each price. Places nothing.
 */
import { stringify } from 'yaml';
import {
  describeTier,
  needsOperator,
  ratePercent,
  textOfAmount,
  textOfPrice,
  type Amount,
  type Balance,
  type Clock,
  type Instrument,
  type NormalizedLevel,
  type Observation,
  type Preview,
} from '../../core/index.ts';
import { withoutStrategyText, type Config } from '../../config.ts';
import { bookLatchIn } from '../../live/safety/bookLatch.ts';
import { latchIn, type Halt } from '../../live/safety/latch.ts';
import { CannotStart, readBookRow, readRules } from '../../live/loop/opening.ts';
import { ofElsewhere } from '../../live/loop/elsewhereRules.ts';
import { clientBesideBot, clientOf, type VenueAccess } from '../../wiring/bot.ts';
import { sourceAccessOf } from '../../wiring/feeds.ts';
import {
  assertTwoAccounts,
  assertVenuesFit,
  oneAccountProblem,
  elsewhereClientOf,
} from '../../wiring/elsewhereHedging.ts';
import { venueElsewhere, venueOf } from '../../wiring/venueRegistry.ts';
import { ClockGap, SET_CLOCK } from '../../messages/clockGap.ts';
import { clockProblemThere } from './elsewhere.ts';
import { ownCommand, trialCommand } from '../../messages/ownCommand.ts';
import { sourceOfStop } from '../inspect/botLife.ts';
import { balancesThere, previewNow } from './previewNow.ts';
import { storedStateOf } from './storedState.ts';
import { missingRecords } from './trialRecord.ts';

/** Quotes of one book and the balances of its account. */
export type CheckedQuotes = {
  readonly instrument: Instrument;
  readonly levels: readonly NormalizedLevel[];
  readonly balances: readonly Balance[];
};

export type CheckResult = {
  /** Lines for stdout. */
  readonly text: string;
  /** Reason in one line why the bot could not quote until the operator changes something; `null` if it could quote. */
  readonly problem: string | null;
};

/**
 * Checks the configuration from `configFile`. Rejects with one line for the operator if there are no quotes to show.
 */
export async function check(
  config: Config,
  venue: VenueAccess,
  clock: Clock,
  seed: number,
  configFile: string | undefined,
): Promise<CheckResult & { readonly quotesText: string; readonly quotes: CheckedQuotes }> {
  assertVenuesFit(config);
  const gapThere = new ClockGap();
  const connected =
    config.hedge?.elsewhere &&
    elsewhereClientOf(config, venue, clock, seed, null, seen => gapThere.hear(seen, clock.now()));
  const there = connected && clientBesideBot(connected, { config, clock, there: venue.elsewhere! });
  const gap = new ClockGap();
  const onRequest = (seen: Observation) => gap.hear(seen, clock.now());
  const client = clientBesideBot(clientOf(config, venue, clock, seed, { onRequest }), { config, clock });
  try {
    const [here, other] = [venueOf(config), there && config.elsewhere && venueElsewhere(config.elsewhere)];
    // A public request comes first: its answer shows the time of the exchange, so a wrong clock is found before the key
    // is used.
    if (here.wantsRisingNonces === true) await readBookRow(client, config.book);
    if (there && other?.wantsRisingNonces === true)
      await ofElsewhere(other.name, () => readBookRow(there, config.elsewhere!.book));
    const problem = gap.nonceProblem(here) ?? (there ? clockProblemThere(config, [gap, gapThere]) : null);
    if (problem !== null) throw new CannotStart(problem, null, false, SET_CLOCK);
    assertTwoAccounts(config, await oneAccountProblem(config, venue, client, there));
    const rules = await readRules(client, config.book);
    const stored = await storedStateOf(config, venue, clock);
    const { preview, own, balances, uncounted, isBasisZero, differences, riskContext, failure, historyWarnings } =
      await previewNow(config, client, rules, clock, {
        ...sourceAccessOf(venue, client),
        venue,
        there: there ? await balancesThere(config, there, clock, stored) : null,
        stored,
      });
    const quotesText = [
      `# quotes that the bot would place now (maker fee ${ratePercent(rules.makerRate)}, taker fee ${ratePercent(rules.takerRate)})`,
      ...(rules.tier ? [describeTier(rules.tier)] : []),
      ...missingRecords(config, venue, stored).map(
        ({ section, why }) =>
          `the bot would not start, because ${why} (section ${section}); run ${trialCommand({ configFile, stateDir: config.state.dir })}`,
      ),
      ...halts(preview.halt, config, configFile),
      ...(own === 0
        ? []
        : [
            `the live orders of ${config.instance} (${own}) are treated as canceled, because a run cancels them at its start`,
          ]),
      ...(isBasisZero ? ['the basis of each reference source is not measured yet and counts as 0'] : []),
      ...(there
        ? [
            `inventory on both exchanges: ${signedLots(rules.instrument, riskContext.position)} ${rules.instrument.major} from its target`,
          ]
        : []),
      ...(uncounted.length === 0
        ? []
        : [
            `not counted in these quotes, but counted by a run: ${uncounted.map(({ text }) => text).join(', ')} (from the ledger of ${config.state.dir})`,
          ]),
      ...(differences.length === 0
        ? []
        : [
            `the balances differ from the ledger of ${config.state.dir} by ${differences.join(', ')} (balance minus ledger); a run does not quote until it knows the cause`,
          ]),
      ...historyWarnings,
      ...(riskContext.livePriceMissing ? [riskContext.livePriceMissing] : []),
      ...previewLines(rules.instrument, preview),
    ].join('\n');
    const head = [
      '# configuration, including all defaults',
      ...('file' in config.strategy ? [`# strategy file: ${config.strategy.name}`] : []),
      stringify(withoutStrategyText(config)).trimEnd(),
      '',
      '',
    ].join('\n');
    return {
      text: `${head}${quotesText}`,
      quotesText,
      quotes: { instrument: rules.instrument, levels: preview.levels.map(({ level }) => level), balances },
      problem:
        failure !== null
          ? `the bot would not quote: ${failure}`
          : needsOperator(preview.unshown)
            ? `the bot would not quote: ${preview.emptySidesText ?? ''}`
            : null,
    };
  } finally {
    await there?.close();
    await client.close();
  }
}

/** Returns the stops that would block a run in any market: those of the whole bot, and those of the book. */
function halts(
  now: string | null,
  { state, book }: Pick<Config, 'state' | 'book'>,
  configFile: string | undefined,
): string[] {
  const { dir: stateDir } = state;
  const [latch, own] = [latchIn(stateDir), bookLatchIn(stateDir, book)];
  const would = (what: string, stop: Halt, of: { readonly book?: string } = {}): string =>
    `the bot would ${what} by ${sourceOfStop(stop)} (${stop.reason}); investigate, then resume with: ${ownCommand('resume', { configFile, stateDir, ...of })}`;
  const [halted, held, reducing] = [latch.read(), latch.readHold(), latch.readReduce()];
  const [ownHalt, ownReduce] = [own.read(), own.readReduce()];
  return [
    ...(now === null ? [] : [`the bot would halt immediately after its start: ${now}`]),
    ...(halted === null ? [] : [would('not quote, because it is halted', halted)]),
    ...(held === null ? [] : [would('not quote, because its quotes are blocked', held)]),
    ...(reducing === null
      ? []
      : [would('quote only to reduce inventory, because it was set to reduce-only', reducing)]),
    ...(ownHalt === null ? [] : [would(`not quote ${book}, because this book is halted`, ownHalt, { book })]),
    ...(ownReduce === null
      ? []
      : [would(`quote ${book} only to reduce inventory, because it was set to reduce-only`, ownReduce, { book })]),
  ];
}

function previewLines(instrument: Instrument, preview: Preview): string[] {
  if (preview.levels.length === 0 && preview.refusal !== null) return [`none: ${preview.refusal}`];
  const asks = preview.levels.filter(({ level }) => level.side === 'sell').reverse();
  const bids = preview.levels.filter(({ level }) => level.side === 'buy');
  return [
    ...(preview.refusal === null
      ? []
      : [`no quote would be placed now (${preview.refusal}); without this obstacle, the quotes would be:`]),
    ...asks.map(({ level, verdict }) => levelRow(instrument, level, verdict)),
    `  mid price ${(preview.mid * Number(instrument.tick)).toFixed(instrument.priceDecimals + 1)}`,
    ...bids.map(({ level, verdict }) => levelRow(instrument, level, verdict)),
    ...figures(preview),
    ...preview.refusals.map(
      ({ side, index, reason }) => `  ${side === 'buy' ? 'bid' : 'ask'} level ${index + 1}: ${reason}`,
    ),
    ...(preview.emptySidesText === null ? [] : [`  ${preview.emptySidesText}`]),
  ];
}

/** Returns the figures that the strategy's model used. */
const figures = ({ quote }: Preview): string[] =>
  quote.figures === undefined
    ? []
    : [
        `  model: ${quote.figures.map(({ name, value, unit }) => `${name} ${fourSignificant(value)} ${unit}`.trim()).join(', ')}`,
      ];
const fourSignificant = (x: number): string => String(Number(x.toPrecision(4)));

function levelRow(instrument: Instrument, level: NormalizedLevel, verdict: string): string {
  const price = textOfPrice(instrument, level.price);
  const steps = level.why.map((step, i) =>
    i === 0 ? `${step.name} ${units(instrument, step.ticks)}` : `${step.name} ${signedTicks(instrument, step.ticks)}`,
  );
  return `  ${level.side === 'buy' ? 'bid' : 'ask'} ${textOfAmount(instrument, level.amount)} at ${price} = ${steps.join(' ')}${amountSteps(instrument, level)}${verdict === 'would be placed' ? '' : `  (not placed: ${verdict})`}`;
}

/** Explains the amount of a level, if it differs from the configured amount. */
function amountSteps(instrument: Instrument, { amount, amounts }: NormalizedLevel): string {
  if (amounts === undefined) return '';
  const asked = amounts.reduce((sum, { lots }) => sum + lots, 0);
  const all = asked === amount ? amounts : [...amounts, { name: 'limits of the book', lots: amount - asked }];
  const texts = all.map(({ name, lots }, i) => {
    const text = textOfAmount(instrument, Math.abs(lots) as Amount);
    return i === 0 ? `${name} ${text}` : `${name} ${lots < 0 ? '-' : '+'}${text}`;
  });
  return `; ${textOfAmount(instrument, amount)} = ${texts.join(' ')}`;
}

const signedLots = (instrument: Instrument, lots: number): string =>
  `${lots < 0 ? '-' : '+'}${textOfAmount(instrument, Math.abs(lots) as Amount)}`;
const units = (instrument: Instrument, ticks: number): string =>
  (ticks * Number(instrument.tick)).toFixed(instrument.priceDecimals + 2);
const signedTicks = (instrument: Instrument, ticks: number): string =>
  `${ticks < 0 ? '-' : '+'}${units(instrument, Math.abs(ticks))}`;
