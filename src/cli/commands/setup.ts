/** Setup commands, used before a bot runs: `init`, `samples` and `doctor`. */
import type { Command } from 'commander';
import type { Config } from '../../config.ts';
import { realClock } from '../../live/realClock.ts';
import { init } from '../../app/develop/init.ts';
import { QUESTION_NAMES, type QuestionName } from '../../app/develop/initQuestions.ts';
import { doctor } from '../../app/doctor/doctor.ts';
import { writeSamples } from '../../app/develop/samples.ts';
import type { Finding } from '../../app/doctor/finding.ts';
import { EXIT } from '../../messages/exits.ts';
import { shellWord } from '../../messages/ownCommand.ts';
import { wrapped } from '../../messages/wrapped.ts';
import { readConfig } from '../../wiring/configFile.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { hasKey } from '../../wiring/venueAccess.ts';
import { saysYes, terminal } from '../terminal/ask.ts';
import { logger } from '../terminal/logger.ts';
import { signalsToStop } from '../terminal/signals.ts';
import { version } from '../terminal/version.ts';
import { errorTerminal, outputTerminal, print, printError } from '../terminal/output.ts';
import { configuredTapes } from './source.ts';

/**
 * Adds `init`, `samples` and `doctor`. `doctor` ends with exit code 1 if a check failed, 3 if an order may remain; wrong use is a
 * `UsageError`.
 */
export function addSetupCommands(program: Command): void {
  addInit(program);
  addSamples(program);
  addDoctor(program);
}

function addSamples(program: Command): void {
  program
    .command('samples')
    .description('write the shipped configurations and deployment files')
    .argument('[folder]', 'folder to write into', '.')
    .action((folder: string) => {
      const written = writeSamples(folder);
      for (const path of written) print(path);
      if (written.length === 0) print(`${folder} already has every file`);
    });
}

type InitFlags = Readonly<Record<string, string | undefined>>;

function addInit(program: Command): void {
  const command = program
    .command('init')
    .description('ask ten questions and write a configuration')
    .argument('<file>', 'YAML file to write');
  for (const name of QUESTION_NAMES) command.option(`--${name} <answer>`, INIT_HELP[name]);
  command
    .option('--stream <address>', 'stream URL (default: poll the book)')
    .option('--yes', 'accept all proposed values', false)
    .action(async (file: string, { yes }: { yes: boolean }, self: Command) => {
      const flags = self.opts<InitFlags>();
      const given = Object.fromEntries(
        QUESTION_NAMES.flatMap(name => {
          const value = flags[name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())];
          return value === undefined ? [] : [[name, value]];
        }),
      );
      const asked = terminal();
      const missing = QUESTION_NAMES.filter(name => given[name] === undefined);
      if (!yes && !asked.isThere && missing.length > 0)
        throw new UsageError(
          `no terminal to ask the questions; pass ${missing.map(name => `--${name}`).join(', ')}, or --yes to accept the proposals`,
        );
      const isKeyed = hasKey();
      const say = (line: string) => printError(wrapped(line, rowWidth()).join('\n'));
      const problem = await init({
        file,
        given,
        ...(flags['stream'] !== undefined && { stream: flags['stream'] }),
        say,
        ask: yes
          ? null
          : async ({ name, text, proposal, why }, wrong) => {
              if (wrong === null) printError('');
              say(wrong ?? `${QUESTION_NAMES.indexOf(name) + 1}/${QUESTION_NAMES.length} ${text}`);
              if (proposal !== null) say(`Enter accepts ${proposal}: ${why}`);
              return asked.ask('> ');
            },
        clock: realClock(),
        seed: Math.floor(Math.random() * 2 ** 31),
        openLog: (_, secrets) => logger('error', secrets),
      }).finally(() => asked.close());
      print(`written: ${file}; check this file, then run:`);
      for (const verb of nextVerbs(readConfig(file), isKeyed)) print(`  puntas ${verb} -c ${shellWord(file)}`);
      if (problem !== null) print(wrapped(`currently ${problem}`, rowWidth()).join('\n'));
    });
}

/** Returns the commands to try next. Without a key, only the commands with `--paper` can read the market. */
const nextVerbs = ({ exchange }: Config, isKeyed: boolean): readonly string[] =>
  exchange.kind === 'embedded' ? ['check', 'doctor'] : [isKeyed ? 'check' : 'check --paper', 'run --paper', 'doctor'];

const INIT_HELP: Readonly<Record<QuestionName, string>> = {
  exchange: 'embedded (play money), live (config/live.yaml), or the https URL of a REST interface',
  book: 'book, like btc_mxn',
  instance: 'bot name and prefix of its order ids',
  'half-spread': 'half-spread of the first level (bps)',
  levels: 'levels on each side',
  amount: 'amount of one order (base currency)',
  'position-max': 'maximum distance of inventory from its target (base currency)',
  'drawdown-max': 'drawdown at which trading halts (quote currency)',
  'day-loss-max': 'loss per day at which trading halts (quote currency)',
  target: 'target inventory (base currency); "found" means holdings at the first start',
};

const rowWidth = (): number => {
  const { isTTY, columns = Infinity } = errorTerminal();
  return isTTY ? Math.max(40, columns - 1) : Infinity;
};

type DoctorFlags = { config: string; state?: string; order: boolean; yes: boolean; json: boolean };

function addDoctor(program: Command): void {
  program
    .command('doctor')
    .description('check key, clock, balances, fees, disk and ports before trading')
    .requiredOption('-c, --config <file>', 'configuration of the bot')
    .option('--state <dir>', 'state directory (default: state.dir)')
    .option('--order', 'place and cancel the smallest real order, after confirmation', false)
    .option('--yes', 'skip the confirmation of --order', false)
    .option('--json', 'print one JSON object', false)
    .action(async (options: DoctorFlags) => {
      const given = readConfig(options.config);
      if (given.paper.only)
        throw new UsageError(
          'this configuration is for paper trading only (paper.only), but doctor checks live trading; use another configuration',
        );
      if (options.yes && !options.order)
        throw new UsageError('--yes confirms only --order; add --order, or remove --yes');
      const config = options.state === undefined ? given : { ...given, state: { dir: options.state } };
      const asked = terminal();
      if (options.order && !options.yes && !asked.isThere)
        throw new UsageError('--order places a real order, and there is no terminal to confirm it; add --yes');
      const signals = options.order ? signalsToStop() : null;
      const { findings, left } = await doctor({
        config,
        which: { configFile: options.state === undefined ? options.config : undefined, stateDir: config.state.dir },
        clock: realClock(),
        seed: Math.floor(Math.random() * 2 ** 31),
        version: version(),
        openLog: (_, secrets) => logger('error', secrets),
        openMarket: () => configuredTapes(config),
        tell: found => (options.json ? undefined : print(findingText(found))),
        ...(options.order && {
          mayOrder: async (what: string) => options.yes || saysYes(await asked.ask(`${what}: place it? [y/N] `)),
        }),
        onStarted: (stop, broke) => {
          signals?.tell(stop);
          process.on('uncaughtException', broke);
        },
      }).finally(() => asked.close());
      const count = (result: Finding['result']) => findings.filter(found => found.result === result).length;
      const counts = { pass: count('pass'), warn: count('warn'), fail: count('fail') };
      if (options.json) print(JSON.stringify({ ...counts, findings, left }));
      else print(`${counts.pass} pass, ${counts.warn} warn, ${counts.fail} fail`);
      process.exitCode = left.length > 0 ? EXIT.leftOrders : counts.fail > 0 ? EXIT.broken : EXIT.clean;
    });
}

const RESULT = 6;
const CHECK = 15;

/**
 * Returns the text of a finding with its remedy below, wrapped on a terminal; elsewhere, the finding and the remedy
 * have one line each.
 */
export function findingText({ check, result, says, todo }: Finding, columns = outputTerminal().columns): string {
  const indent = ' '.repeat(RESULT + CHECK);
  const width = columns === undefined ? Infinity : Math.max(40, columns - 1) - indent.length;
  const rows = [...wrapped(says, width), ...(todo === null ? [] : wrapped(`-> ${todo}`, width))];
  return rows
    .map((row, i) => `${i === 0 ? `${result.padEnd(RESULT)}${check.padEnd(CHECK)}` : indent}${row}`)
    .join('\n');
}
