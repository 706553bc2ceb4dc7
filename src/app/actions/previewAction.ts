/** Preview of an action, computed by an engine that has replayed the bot's recording to its end. */
import { strategyHashesIn, withFileIn, type Config } from '../../config.ts';
import { counted, type Clock, type EngineEvent, type Millis, type Order, type Preview } from '../../core/index.ts';
import { bookLatchIn } from '../../live/safety/bookLatch.ts';
import { latchIn } from '../../live/safety/latch.ts';
import { pauseInForce } from '../../live/safety/pauseWatch.ts';
import { recordingsIn } from '../../live/recording/recordings.ts';
import { askReload } from './askReload.ts';
import { assertBookStopsRead, holdersOf, holderText, lifeOf, type BotLife, type HeldBy } from '../inspect/botLife.ts';
import { timeText } from '../../messages/timeText.ts';
import { ownCommand, type WhichBot } from '../../messages/ownCommand.ts';
import { quotesBeside } from '../run/nextQuotes.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { assertBookKnown, bookOfAsk } from './actionBook.ts';
import {
  checkedAsk,
  stateDirOf,
  type ActionAsk,
  type ActionName,
  type ActionPreview,
  type BookAsk,
  type SetAsk,
} from './actions.ts';
import { costOfFlatten } from './flatten.ts';
import {
  previewOfShown,
  problemLines,
  quoteLines,
  recordedNow,
  recordedPreviews,
  type RecordedNow,
} from './recordedPreview.ts';
import { assertFileApplied, plannedChange } from './setParameter.ts';
import { threadedStrategyPreview, type StrategyPreviewAsk } from './strategyPreview.ts';

/**
 * Returns the preview of an action. Reads only the state directory or, for a reload, the bot's answer. `onInput`
 * receives the time of each replayed input. Rejects with `UsageError` if the action would have no effect.
 */
export async function previewAction(
  bot: WhichBot,
  ask: ActionAsk,
  clock: Clock,
  onInput?: (at: Millis) => void,
): Promise<ActionPreview> {
  const checked = checkedAsk(ask, clock.now());
  const dir = stateDirOf(bot);
  if (checked.action === 'reload') {
    const { by, id, reason, digest, via } = checked;
    const asked = {
      ...{ config: fileOf(bot), state: dir, digest, paper: false, preview: true },
      ...{ by, id, reason, isForAgent: via === 'agent' },
    };
    return { lines: (await askReload(asked, clock)).lines };
  }
  if (checked.action === 'set') return { lines: await previewSet(bot, checked, clock, onInput) };
  const now = clock.now();
  const life = lifeOf(dir, now);
  const notes = assertBookKnown(bot, checked);
  return { lines: [...notes, ...standing(dir, checked, now), ...quotesThen(dir, checked, life, now, onInput, notes)] };
}

/**
 * Returns the change, and the quotes before and after it. Rejects with `UsageError` if the change is not permitted, or
 * if the file has changes that the bot has not applied.
 */
async function previewSet(
  bot: WhichBot,
  ask: SetAsk,
  clock: Clock,
  onInput?: (at: Millis) => void,
): Promise<readonly string[]> {
  const { after, reloads, books, lines, file } = plannedChange(bot, ask);
  await assertFileApplied(bot, ask, reloads.before, clock);
  const dir = stateDirOf(bot);
  if (recordingsIn(dir).length === 0)
    throw new UsageError('the effect is unknown, because the bot has no recording yet');
  const { config, text } = after;
  const { at, quotes } =
    withFileIn(config).length > 0
      ? await quotesOfFiles({
          ...{ path: file, text, hashes: strategyHashesIn(config), stateDir: dir, now: clock.now(), books },
        })
      : quotesOfChange(config, books, recordedNow(dir, clock.now(), onInput));
  return [
    ...lines,
    `${file}: Puntas writes this value and asks the bot to reload the file; if the bot refuses, Puntas restores the file`,
    `quotes now, and with the change (book at ${timeText(at)}, the end of the recording):`,
    ...quotes,
  ];
}

type ShownQuotes = { readonly at: Millis; readonly quotes: readonly string[] };

/** Returns the quotes of the changed books. @throws UsageError if one of them would not be quoted. */
function quotesOfChange(config: Config, books: readonly string[], recorded: RecordedNow): ShownQuotes {
  const isNamed = config.books !== undefined;
  const changed = recordedPreviews(config, recorded).filter(({ book }) => books.includes(book));
  const [problem] = problemLines(changed, isNamed);
  if (problem !== undefined) throw new UsageError(problem);
  return { at: recorded.at, quotes: quoteLines(changed, isNamed) };
}

/** Resolves to the quotes of the changed books, computed in a thread that runs the strategy files. */
async function quotesOfFiles(ask: StrategyPreviewAsk): Promise<ShownQuotes> {
  const preview = await threadedStrategyPreview(ask);
  if ('refused' in preview) throw new UsageError(preview.refused);
  return preview;
}

/**
 * Returns the bot's configuration file.
 * @throws UsageError if only the state directory is known.
 */
export function fileOf({ configFile, stateDir }: WhichBot): string {
  if (configFile === undefined)
    throw new UsageError(`${stateDir}: a reload reads the YAML file of the bot; pass it with -c FILE`);
  return configFile;
}

/** Lists the stops in effect. For a resume, says which stops would be lifted. */
function standing(dir: string, ask: ActionAsk, now: Millis): readonly string[] {
  const holders = holdersOf(dir, now);
  if (ask.action !== 'resume') return holders.map(held => `already in force: ${holderText(held)} (${held.reason})`);
  assertBookStopsRead(dir);
  const kept = keptBy(ask, holders);
  return holders.map(held => {
    const stays = held.book === ask.book ? 'would stay in force until a second resume' : 'would stay in force';
    return `${holderText(held)} (${held.reason}) ${kept.includes(held) ? stays : 'would be lifted'}`;
  });
}

/** Returns the stops that a resume leaves in effect: those of another level, and after a pause all others. */
function keptBy({ book }: BookAsk<'resume'>, holders: readonly HeldBy[]): readonly HeldBy[] {
  const isPaused = holders.some(held => held.what === 'pause' && held.book === book);
  return holders.filter(held => held.book !== book || (isPaused && held.what !== 'pause'));
}

/**
 * Returns the stops of a book, by its own latch and by that of the whole bot, that a resume leaves in effect, as events
 * of the book. A hold counts as a halt, because both block all quotes.
 */
function eventsOfKept(ask: BookAsk<'resume'>, dir: string, symbol: string, at: Millis, now: Millis): EngineEvent[] {
  return keptBy(ask, holdersOf(dir, now))
    .filter(({ book = symbol }) => book === symbol)
    .map(held => {
      const kind = held.what === 'pause' ? 'pause' : held.what === 'halt' || held.what === 'hold' ? 'halt' : 'reduce';
      return { kind, symbol, at, reason: `${holderText(held)} (${held.reason})` };
    });
}

/** Any action except `set`; the replayed engine shows its effect. */
type EngineAsk = Exclude<ActionAsk, SetAsk>;

/** Compares the current quotes with the quotes after the action. */
function quotesThen(
  dir: string,
  ask: EngineAsk,
  life: BotLife,
  now: Millis,
  onInput: ((at: Millis) => void) | undefined,
  notes: readonly string[],
): readonly string[] {
  if (life.state !== 'runs')
    return [
      `no bot is running (${life.state === 'silent' ? 'no heartbeat' : life.state}): ${atStart(ask.action, dir)}`,
    ];
  if (recordingsIn(dir).length === 0) return ['the effect is unknown, because the bot has no recording yet'];
  // A book that the last run does not quote has no quotes to show.
  if (notes.length > 0) return [];
  const recorded = recordedNow(dir, now, onInput, bookOfAsk(ask));
  const { moment, at } = recorded;
  const { engine, rules } = moment;
  const cost = ask.action === 'flatten' ? costOfFlatten(moment, at) : [];
  // Orders are copied, because the engine changes its order objects.
  const copied = (orders: readonly Order[]) => orders.map(order => ({ ...order }));
  const [allOrders, liveOrders] = [copied(engine.liveOrders), copied(engine.book.liveOrders)];
  const event = eventOf(ask, dir, at, now);
  const commands = event === null ? [] : engine.step(event);
  // The event of a resume ends every stop of the replayed engine.
  if (ask.action === 'resume')
    for (const kept of eventsOfKept(ask, dir, engine.book.symbol, at, now)) engine.step(kept);
  const canceled =
    ask.action === 'cancel'
      ? allOrders.length
      : new Set(commands.flatMap(command => (command.kind === 'cancel' ? command.ids : []))).size;
  return [
    ...cost,
    `${canceled} of ${counted(allOrders.length, 'live order')} would be canceled (live orders at ${timeText(at)}, the end of the recording)`,
    ...(moment.books.length > 1
      ? [`quotes of ${engine.book.symbol}, one of ${counted(moment.books.length, 'book')}:`]
      : []),
    ...quotesBeside({ book: { liveOrders } }, previewAfter(ask, recorded), rules),
  ];
}

/**
 * Returns the quotes after an action. After a resume, the bot reads all data again before it quotes; the preview uses
 * the data known now.
 */
const previewAfter = ({ action }: ActionAsk, recorded: RecordedNow): Preview =>
  action === 'resume' ? previewOfShown(recorded) : recorded.moment.engine.book.preview(recorded.at);

/** Returns the effect of an action while no bot is running. */
const atStart = (action: EngineAsk['action'], stateDir: string): string =>
  action === 'cancel'
    ? `no process would cancel orders; cancel open orders with: ${ownCommand('halt --cancel', { stateDir })}`
    : AT_START[action];

const AT_START: Readonly<Record<Exclude<ActionName, 'set' | 'cancel'>, string>> = {
  pause: 'the action takes effect at the next start',
  reduce: 'the action takes effect at the next start',
  halt: 'the action takes effect at the next start',
  resume: 'the action takes effect at the next start',
  reload: 'the bot reads the configuration file at its next start',
  flatten: 'after the next start of the bot, the hedger closes all inventory',
};

/** Returns the engine event of the action; `null` if the action has no engine event. */
function eventOf(ask: EngineAsk, dir: string, at: Millis, now: Millis): EngineEvent | null {
  const { action, reason } = ask;
  const book = bookOfAsk(ask);
  const symbol = book === undefined ? {} : { symbol: book };
  switch (action) {
    case 'pause':
    case 'halt':
    case 'reduce':
      return { kind: action, ...symbol, at, reason };
    case 'flatten':
      return { kind: 'reduce', at, reason };
    case 'resume':
      return {
        kind:
          pauseInForce(book === undefined ? latchIn(dir) : bookLatchIn(dir, book), dir, now) === null
            ? 'resume'
            : 'pause over',
        ...symbol,
        at,
      };
    case 'cancel':
    case 'reload':
      return null;
  }
}
