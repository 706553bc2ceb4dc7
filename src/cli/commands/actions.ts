/** Commands for the operator on duty: status, and actions on a bot with preview, reason and journal. */
import { randomUUID } from 'node:crypto';
import { Option, type Command } from 'commander';
import type { ActionAsk, ActionEnd } from '../../app/actions/actions.ts';
import { executeAction, journalResult } from '../../app/actions/executeAction.ts';
import { previewAction } from '../../app/actions/previewAction.ts';
import { botStatus } from '../../app/actions/botStatus.ts';
import { botStatusText } from '../../app/actions/botStatusText.ts';
import {
  endOfWatch,
  showUntilEnd,
  watchedLine,
  watchedRows,
  watchStatus,
  type WatchedStatus,
} from '../../app/watch/watchStatus.ts';
import { shownLines } from '../../core/text/shownText.ts';
import { progress } from '../../app/inspect/explain.ts';
import { lastConfigOf } from '../../app/inspect/botOfFolder.ts';
import { cancelOwn, nothingToCancel } from '../../app/inspect/halt.ts';
import { ownName } from '../../app/inspect/ledger.ts';
import { EXIT } from '../../messages/exits.ts';
import { jsonWithOldNames } from '../../messages/oldNames.ts';
import type { WhichBot } from '../../messages/ownCommand.ts';
import { readConfig } from '../../wiring/configFile.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { remoteVenue } from '../../wiring/venueAccess.ts';
import { noteOrdersSeen } from '../../live/safety/ordersSeen.ts';
import { realClock } from '../../live/realClock.ts';
import { durationFlag } from '../terminal/flags.ts';
import { logger } from '../terminal/logger.ts';
import { folderToRead, ofBot, whichBot, type BotFlags } from './botFlags.ts';
import { outputLost, outputTerminal, outputUnread, print, writeError, writeOutput } from '../terminal/output.ts';
import { redrawn } from '../terminal/redrawn.ts';
import { signalsToStop } from '../terminal/signals.ts';
import { terminalColumns } from '../terminal/terminal.ts';

type Flags = BotFlags & {
  readonly preview: boolean;
  readonly reason?: string;
  readonly by?: string;
  readonly json: boolean;
};

type BookFlags = Flags & { readonly book?: string };

const bookOption = (): Option =>
  new Option('--book <symbol>', 'only this book; the other books of the bot continue (default: all)');

const bookInFlags = ({ book }: BookFlags): { readonly book?: string } => (book === undefined ? {} : { book });

/**
 * Adds the action commands. The exit code is 0 if the action was executed or previewed. For `halt` and `cancel`,
 * exit code 3 means that orders may remain. A rejected action is a `UsageError`.
 */
export function addActionCommands(program: Command): void {
  addStatus(program);
  addPause(program);
  addReduce(program);
  addCancel(program);
  addFlatten(program);
  addHalt(program);
  addResume(program);
}

function addStatus(program: Command): void {
  ofBot(
    program
      .command('status')
      .description('show whether a bot runs, and its regime, quotes, inventory, limits and profit'),
  )
    .option('--json', 'print one JSON object', false)
    .addOption(
      new Option('--watch', 'show a running bot until Ctrl-C or the end of the bot, redrawn each second')
        .default(false)
        .conflicts('json'),
    )
    .action(async (options: BotFlags & { json: boolean; watch: boolean }) => {
      const clock = realClock();
      const dir = folderToRead(options);
      if (options.watch) {
        process.exitCode = await watch(dir);
        return;
      }
      const told = await botStatus(dir, clock, progress(clock, writeError));
      print(options.json ? jsonWithOldNames(told) : botStatusText(told, dir));
    });
}

/**
 * Shows the status until Ctrl-C or the end of the bot. Resolves to the exit code: 1 if the bot ended without a stop.
 */
async function watch(dir: string): Promise<number> {
  const clock = realClock();
  const watched = watchStatus(dir, clock);
  const terminal = outputTerminal();
  const stopped = new AbortController();
  signalsToStop('the view has ended', EXIT.clean).tell(() => stopped.abort());
  const draw = redrawn({
    remedy: 'enlarge the terminal, or run puntas status',
    write: writeOutput,
    size: () => {
      const { columns = 80, rows = 24 } = outputTerminal();
      return { columns: columns || 80, rows: rows || 24 };
    },
  });
  const show = (seen: WatchedStatus) => {
    if (terminal.isTTY === true)
      draw(watchedRows(seen, terminalColumns(outputTerminal()) - 1).map(row => shownLines(row)));
    else print(watchedLine(seen));
  };
  try {
    const output = { show, lost: () => outputLost().count, unread: outputUnread };
    const last = await showUntilEnd(watched, output, clock, stopped.signal);
    if (last === null) return EXIT.clean;
    print(endOfWatch(last)!);
    return last.status.bot.state === 'silent' ? EXIT.broken : EXIT.clean;
  } finally {
    watched.close();
  }
}

function addPause(program: Command): void {
  action(
    program
      .command('pause')
      .description('cancel all orders and pause quoting')
      .option('--for <time>', 'pause duration, like 30m or 2h; if omitted, until you resume', durationFlag)
      .addOption(bookOption()),
  ).action(async (options: BookFlags & { for?: number }) => {
    const untilMs = options.for === undefined ? {} : { untilMs: realClock().now() + options.for };
    await act({ ...askOf(options), action: 'pause', ...untilMs, ...bookInFlags(options) }, options);
  });
}

function addReduce(program: Command): void {
  action(
    program.command('reduce').description('quote only to reduce inventory, until you resume').addOption(bookOption()),
  ).action((options: BookFlags) => act({ ...askOf(options), action: 'reduce', ...bookInFlags(options) }, options));
}

function addCancel(program: Command): void {
  action(
    program.command('cancel').description('cancel all orders of a running bot, verify the cancels, then quote again'),
  ).action((options: Flags) => act({ ...askOf(options), action: 'cancel' }, options, EXIT.leftOrders));
}

function addFlatten(program: Command): void {
  action(
    program
      .command('flatten')
      .description('hedge inventory to its target within a maximum total cost')
      .option('--max-cost <sum>', 'maximum cost including fees (quote currency); if omitted, only preview the hedge'),
  ).action(async ({ maxCost, ...options }: Flags & { maxCost?: string }) => {
    const isPreview = options.preview || maxCost === undefined;
    const flags = { ...options, preview: isPreview };
    await act({ ...askOf(flags), action: 'flatten', costMax: maxCost ?? '1' }, flags);
    if (!options.preview && maxCost === undefined && !options.json)
      print('nothing was hedged; to hedge, add --max-cost (maximum total cost) and --reason');
  });
}

function addResume(program: Command): void {
  action(program.command('resume').description('end a pause, a halt or reduce-only').addOption(bookOption())).action(
    (options: BookFlags) => act({ ...askOf(options), action: 'resume', ...bookInFlags(options) }, options),
  );
}

function addHalt(program: Command): void {
  action(
    program
      .command('halt')
      .description('stop quoting until you resume; needs no running bot')
      .addOption(
        new Option('--cancel', "also use the bot's API key to cancel its orders, and verify the cancels")
          .default(false)
          .conflicts('book'),
      )
      .addOption(bookOption()),
  ).action(async (options: BookFlags & { cancel: boolean }) => {
    const ask = { ...askOf(options), action: 'halt', ...bookInFlags(options) } as const;
    // The file is read first, so that its errors are reported before any action.
    const given = options.config === undefined ? null : readConfig(options.config);
    const also = options.cancel ? [CANCEL_ALSO] : [];
    if (options.preview || !options.cancel) return act(ask, options, EXIT.leftOrders, also);
    const bot = whichBot(options);
    const halted = await executeAction(bot, ask, realClock());
    if (!options.json) for (const line of halted.lines) print(line);
    process.exitCode = halted.end === 'done' ? EXIT.clean : EXIT.leftOrders;
    const { lines, code } = await cancelInThisProcess(bot, given);
    const end = { end: code === EXIT.clean ? 'done' : 'refused', lines } as const;
    const told = journalResult(bot, { ...ask, id: randomUUID(), action: 'cancel' }, realClock().now(), end);
    if (options.json) printJson({ end: worse(halted, told), lines: [...halted.lines, ...told.lines] });
    else for (const line of told.lines) print(line);
    process.exitCode = Math.max(process.exitCode, code);
  });
}

const CANCEL_ALSO =
  "--cancel: after the halt, this command would also cancel the bot's orders with the bot's API key and verify the cancels";

const worse = (a: ActionEnd, b: ActionEnd): ActionEnd['end'] => (a.end === 'done' ? b.end : a.end);

/**
 * Cancels orders with the bot's own key, in this process. `given`: the bot's configuration; if `null`, the
 * configuration of the bot's last run is used.
 */
async function cancelInThisProcess(
  { stateDir }: WhichBot,
  given: ReturnType<typeof readConfig> | null,
): Promise<{ readonly lines: readonly string[]; readonly code: number }> {
  const config = { ...(given ?? lastConfigOf(stateDir)), state: { dir: stateDir } };
  const nothing = nothingToCancel(config, stateDir);
  if (nothing !== null || config.exchange.kind !== 'remote') return { lines: [nothing ?? ''], code: EXIT.clean };
  const venue = remoteVenue(config.exchange);
  const log = logger(config.log.level, [venue.secret.reveal()]);
  const clock = realClock();
  const canceled = await cancelOwn(config, venue, clock, Math.floor(Math.random() * 2 ** 31), log);
  if (canceled.code === EXIT.clean) noteOrdersSeen(stateDir, { at: clock.now(), by: 'halt --cancel', count: 0 });
  return canceled;
}

/**
 * Previews or executes an action. `refusedCode`: exit code if the bot refuses the action. `also`: additional lines for
 * the preview.
 */
async function act(
  ask: ActionAsk,
  options: Flags,
  refusedCode: number = EXIT.misused,
  also: readonly string[] = [],
): Promise<void> {
  const bot = whichBot(options);
  const clock = realClock();
  if (options.preview) {
    const tell = progress(clock, writeError);
    const { lines: effects } = await previewAction(bot, ask, clock, tell);
    const lines = [...effects, ...also];
    return options.json ? printJson({ end: 'shown', lines }) : print(lines.join('\n'));
  }
  const { end, lines } = await executeAction(bot, ask, clock);
  if (end === 'refused' && !options.json) throw new UsageError(lines, refusedCode);
  if (options.json) printJson({ end, lines });
  else print(lines.join('\n'));
  if (end === 'refused') process.exitCode = refusedCode;
}

const printJson = (told: object): void => print(JSON.stringify(told));

/** Returns the operator's request from the flags. A preview needs no reason. */
function askOf({ preview, reason, by = ownName() }: Flags) {
  return { id: randomUUID(), reason: reason ?? (preview ? 'a preview' : ''), by, via: 'command' } as const;
}

const action = (command: Command): Command =>
  ofBot(command)
    .option('--preview', 'only show the effect', false)
    .option('--reason <text>', 'reason for the record')
    .option('--by <name>', 'your name for the record (default: your login)')
    .option('--json', 'print one JSON object', false);
