/** Commands that connect to an exchange: run, check, exchange, sentinel. */
import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { isPaperState } from '../../live/state/paperMark.ts';
import { realClock } from '../../live/realClock.ts';
import type { AccountPurpose } from '../../sandbox/index.ts';
import type { MovedState } from '../../app/actions/freshPaper.ts';
import { isAllGone } from '../../live/loop/loopOptions.ts';
import { readConfig, readConfigText, readTradedText } from '../../wiring/configFile.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { assertOwnFolder } from '../../app/inspect/botOfFolder.ts';
import { assertPaper } from './botFlags.ts';
import { ownCommandName } from '../terminal/commandName.ts';
import type { RunResult } from '../../app/run/botProcess.ts';
import { assertNoOldState } from '../../app/run/oldStateCheck.ts';
import { FreezeWatch } from '../../app/run/freezeWatch.ts';
import { startApproval } from '../../app/run/strategyApproval.ts';
import { editorHelp } from '../terminal/editorHelp.ts';
import { EXIT } from '../../messages/exits.ts';
import { durationFlag, portFlag, sources, tapeBook } from '../terminal/flags.ts';
import { lineRoom, logger } from '../terminal/logger.ts';
import { ownCommand } from '../../messages/ownCommand.ts';
import { namedBooksOf, type Config } from '../../config.ts';
import { remoteVenue } from '../../wiring/venueAccess.ts';
import { refuseUntried } from '../../app/untried/untried.ts';
import { refuseShortDelay } from '../../wiring/venueRegistry.ts';
import { signalsToStop } from '../terminal/signals.ts';
import { version } from '../terminal/version.ts';
import { inputsOfStart, selectedInputs, seedOf, withVenueOf, type Source } from './source.ts';
import { describe } from '../../messages/summary.ts';
import { outputTerminal, print, printError } from '../terminal/output.ts';

/**
 * Returns the text with an exchange's address and keys: unwrapped rows on a terminal, for copying; one JSON object for
 * programs.
 */
export function faceText(face: Readonly<Record<string, string>>, isTerminal: boolean): string {
  if (!isTerminal) return JSON.stringify(face);
  const width = Math.max(...Object.keys(face).map(name => name.length)) + 1;
  return Object.entries(face)
    .map(([name, value]) => `${name.padEnd(width)}${value}`)
    .join('\n');
}

/**
 * Adds `run`, `check`, `exchange` and `sentinel`. `run` ends with exit code 3 if the bot's orders may remain. The exit
 * code is 1 if the bot halted or failed, or if its ledger differs from the balances. Wrong use is a `UsageError`.
 */
export function addTradeCommands(program: Command): void {
  addRun(program);
  addCheck(program);
  addExchange(program);
  addSentinel(program);
}

type RunFlags = {
  readonly for?: number;
  readonly state?: string;
  readonly metricsPort?: number;
  readonly json: boolean;
  readonly openingZero?: readonly string[];
  readonly fresh: boolean;
};

const runCommand = (program: Command): Command =>
  sources(
    tapeBook(program.command('run')).description('quote until stopped, then cancel all orders and verify the cancels'),
  ).option(
    '--opening-zero <currency>',
    "currency with an opening balance of zero if the exchange's balances omit this currency (repeatable)",
    (currency: string, before: readonly string[] | undefined) => [...(before ?? []), currency.toLowerCase()],
  );

/**
 * Returns the exit code of a run. Books that only a stop of their own halted are what the operator wanted, so the end
 * of the others is clean.
 */
export function runExit(ended: RunResult): number {
  if (!isAllGone(ended)) return EXIT.leftOrders;
  const { failure, haltedAlone, summary } = ended;
  const isHalted = summary.halted !== undefined && haltedAlone === undefined;
  return failure === null && !isHalted && summary.ledgerMatches === true ? EXIT.clean : EXIT.broken;
}

function addRun(program: Command): void {
  runCommand(program)
    .option('--for <duration>', 'stop after this time, like 60s, 10m or 2h', durationFlag)
    .option('--state <dir>', 'state directory (default: state.dir)')
    .option('--metrics-port <n>', 'metrics port, 0 for any free port (default: metrics.port)', portFlag)
    .option('--json', 'print one JSON object', false)
    .option('--paper', 'trade the real market on paper, without a key', false)
    .option('--fresh', 'with --paper: start a new account, and move the state of the old one aside', false)
    .action(async (options: Source & RunFlags) => {
      const signals = signalsToStop(undefined, undefined, true);
      const clock = realClock(options.speed);
      let isOpened = false;
      /** State of an earlier paper account that this command has moved, until the bot trades. */
      let moved: MovedState | null = null;
      const started = async () => {
        // Code of the file can freeze the process as soon as it runs, so the watch starts before it.
        const freezes = new FreezeWatch(printError, ownCommandName);
        const named = options.state === undefined && options.paper !== true ? options.config : undefined;
        const assertApproved = startApproval(options.config ?? '', {
          ...{ state: options.state, isPaper: options.paper === true, warn: printError },
          onApproved: (stateDir, found) => freezes.start({ configFile: named, stateDir }, found.name),
        });
        const { config: configured, tapes, file, refusal } = await inputsOfStart(options, assertApproved);
        const given = withPaperState(configured, options);
        assertPaper(given, options.paper === true);
        if (!options.paper) {
          refuseUntried(given);
          refuseShortDelay(given);
        }
        if (options.fresh && options.paper !== true)
          throw new UsageError('--fresh starts a new paper account; add --paper, or remove --fresh');
        const { BotProcess } = await import('../../app/run/botProcess.ts');
        const setAside = async (purpose: AccountPurpose) => {
          const { setPaperStateAside } = await import('../../app/actions/freshPaper.ts');
          moved = await setPaperStateAside(given.paper.stateDir, realClock(), purpose);
          printError(moved.line);
        };
        const choices = options.fresh ? { ...options, setAside } : options;
        await withVenueOf(given, tapes, choices, clock, async (venue, log, seed, shaped) => {
          const config = {
            ...shaped,
            ...(options.state === undefined ? {} : { state: { dir: options.state } }),
            ...(options.metricsPort === undefined ? {} : { metrics: { ...shaped.metrics, port: options.metricsPort } }),
          };
          if (options.config !== undefined && options.state === undefined)
            await assertNoOldState(shaped, file, process.cwd(), clock, log);
          // Without -c, the state is in the working directory, and there is no configuration file that hints could
          // name.
          const isNamed = options.config !== undefined && options.state === undefined && !options.paper;
          const configFile = isNamed ? file : undefined;
          const ended = await BotProcess.run({
            config,
            configFile,
            venue,
            clock,
            seed,
            log,
            version: version(),
            rowRoom: lineRoom,
            ...(options.openingZero === undefined ? {} : { openingZero: options.openingZero }),
            onOpened: () => (isOpened = true),
            stopping: signals.stopping,
            ownCall: freezes.call,
            refusal,
            ...(options.config === undefined
              ? {}
              : {
                  consoleArgs: commandArgs('console', file, config.state.dir),
                  // The updates of a token have one reader, which is the remote control of the bot that trades with
                  // money.
                  ...(options.paper ? {} : { remoteArgs: commandArgs('remote', file, config.state.dir) }),
                }),
            source: {
              ...{ file, given, inspect: () => readConfigText(file) },
              settle: strategies => freezes.settle(strategies),
              read: approve =>
                readTradedText(
                  file,
                  (found, text) => {
                    approve(found, text);
                    freezes.start({ configFile, stateDir: config.state.dir }, found.name);
                  },
                  options.config === undefined,
                ),
            },
            onStarted: (stop, broke, reload) => {
              moved = null;
              signals.tell(stop);
              signals.onReload(reload);
              // After an uncaught error the bot halts, cancels its orders and reports the error; the run never
              // continues.
              process.on('uncaughtException', broke);
              if (options.for !== undefined)
                setTimeout(() => stop('the duration of --for is over'), options.for).unref();
            },
          });
          if (venue.paper) log.info({}, venue.paper.outcome());
          const { summary, failure } = ended;
          for (const id of ended.left) log.error({ id }, `order ${id} may still be open`);
          if (ended.unread !== undefined) log.error({}, `orders may still be open: ${ended.unread}`);
          if (ended.openHedge !== undefined)
            log.error({}, `${ended.openHedge} has no known outcome; the next run looks it up`);
          if (failure !== null) log.error({}, `the run ended with an error: ${failure}`);
          const commands = (ended.haltedAlone ?? [undefined]).map(book =>
            ownCommand('resume', { configFile, stateDir: config.state.dir, book }),
          );
          print(options.json ? JSON.stringify(summary) : describe(summary, commands.join(' and ')));
          return runExit(ended);
        });
      };
      const { config: file, state, paper } = options;
      await started().catch(async (error: unknown) => {
        if (moved !== null) printError(moved.putBack());
        if (isOpened || paper || file === undefined) throw error;
        const { withRemainingOrders } = await import('../../app/run/remainingOrders.ts');
        throw await withRemainingOrders(error, { file, ...(state === undefined ? {} : { state }) }, clock);
      });
    });
}

/**
 * Returns the configuration. For paper trading, `--state` replaces `paper.stateDir`, which also has the paper account.
 */
const withPaperState = (config: Config, { state, paper = false }: Source & RunFlags): Config =>
  state === undefined || !paper ? config : { ...config, paper: { ...config.paper, stateDir: state } };

/** Returns the arguments of this program that start the bot's console or remote control. */
const commandArgs = (command: 'console' | 'remote', file: string, stateDir: string): readonly string[] => [
  process.argv[1]!,
  command,
  ...['-c', file, '--state', stateDir],
];

function addCheck(program: Command): void {
  sources(
    tapeBook(program.command('check')).description(
      'check a configuration and show the quotes that a bot would place now',
    ),
  )
    .option('--paper', 'read the remote market without a key', false)
    .action(async (options: Source) => {
      const { config, tapes, file } = await selectedInputs({ ...options, takesBooks: true }, true);
      const { checkBooks } = await import('../../app/doctor/checkBooks.ts');
      const clock = realClock(options.speed);
      await withVenueOf(config, tapes, { ...options, isReadOnly: true }, clock, async (venue, _log, seed) => {
        const configFile = options.config === undefined || options.paper ? undefined : file;
        const { text, problem } = await checkBooks(config, venue, clock, seed, configFile);
        print(text);
        const help = editorHelp(file);
        if (help !== null) print(`\n${help}`);
        if (problem !== null) throw new UsageError(problem);
        return EXIT.clean;
      });
    });
}

/** Port of `puntas exchange` if none is configured. The port is fixed, so that other programs find the exchange. */
const EXCHANGE_PORT = 8080;

function addExchange(program: Command): void {
  sources(
    tapeBook(program.command('exchange')).description('run the embedded exchange with a funded account for any client'),
  )
    .option('--port <n>', 'port (default: exchange.port, or 8080)', portFlag)
    .action(async (options: Source & { port?: number }) => {
      const signals = signalsToStop();
      const { config, tapes } = await selectedInputs({ ...options, takesBooks: true }, false);
      if (config.exchange.kind !== 'embedded')
        throw new UsageError(
          'this configuration has a remote exchange; use a configuration with exchange.kind: embedded',
        );
      const clock = realClock(options.speed);
      const operatorToken = randomBytes(24).toString('base64url');
      const { startEmbedded } = await import('../../wiring/embedded.ts');
      const embedded = await startEmbedded(config, clock, {
        tapes,
        port: options.port ?? (config.exchange.port || EXCHANGE_PORT),
        portFrom: '--port',
        operatorToken,
        ...seedOf(options),
      });
      const { origin, key, secret, books, elsewhere } = embedded;
      const face = {
        url: origin,
        rest: `${origin}/api/v3`,
        ccxt: `${origin}/api`,
        stream: origin.replace(/^http/, 'ws'),
        key,
        secret: secret.reveal(),
        book: config.book,
        ...(namedBooksOf(config.exchange) && { books: books.join(',') }),
        ...(elsewhere && {
          elsewhere: elsewhere.restUrl,
          elsewhereStream: elsewhere.streamUrl ?? '',
          elsewhereKey: elsewhere.key,
          elsewhereSecret: elsewhere.secret.reveal(),
          elsewhereBook: elsewhere.book,
        }),
      };
      print(faceText({ ...face, operator: `${origin}/operator`, operatorToken }, outputTerminal().isTTY === true));
      await new Promise<void>(resolve => signals.tell(() => resolve()));
      await embedded.stop();
      process.exitCode = EXIT.clean;
    });
}

function addSentinel(program: Command): void {
  program
    .command('sentinel')
    .description('run a second process that cancels the orders of a bot that is down')
    .requiredOption('-c, --config <file>', 'configuration of the bot')
    .option('--state <dir>', 'state directory (default: state.dir)')
    .action(async (options: { config: string; state?: string }) => {
      const given = readConfig(options.config);
      const config = options.state === undefined ? given : { ...given, state: { dir: options.state } };
      if (config.exchange.kind !== 'remote')
        throw new UsageError(
          'a sentinel needs a remote exchange; the embedded exchange needs none, because it stops with the bot',
        );
      if (isPaperState(config.state.dir))
        throw new UsageError(
          `${config.state.dir} belongs to paper trading, which places no real orders and needs no sentinel`,
        );
      if (options.state === undefined) assertOwnFolder(options.config, config, config.state.dir, true);
      const venue = remoteVenue(config.exchange);
      const log = logger(config.log.level, [venue.secret.reveal(), venue.key]);
      const ended = new AbortController();
      signalsToStop().tell(() => ended.abort());
      const { sentinel } = await import('../../app/run/sentinel.ts');
      const configFile = options.state === undefined ? options.config : undefined;
      await sentinel(config, venue, realClock(), Math.floor(Math.random() * 2 ** 31), log, ended.signal, configFile);
    });
}
