/** No flag is ignored in silence: values that are given twice, and flags that have no effect beside others or in a configuration. */
import { mkdirSync } from 'node:fs';
import { Command } from 'commander';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { addCommands, COMMAND_FILES } from '../../src/cli/commands/index.ts';
import { refuseGiven } from '../../src/cli/terminal/givenFlags.ts';
import { recordFlow } from '../../backtest/index.ts';
import { TapeWriter } from '../../src/tape/index.ts';
import { Bench, complaints, endPrograms, puntas, ran } from './program.ts';

const bench = new Bench();
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const [tape, state] = [bench.path('tape'), bench.path('state')];

beforeAll(() => {
  mkdirSync(state);
  const { rules, columns } = recordFlow('btc_mxn', 3, 60);
  const writer = new TapeWriter({ dir: tape, rules, source: 'flow' });
  writer.append(columns);
  writer.close();
});
afterEach(() => {
  for (const signal of SIGNALS) process.removeAllListeners(signal);
});
afterAll(async () => {
  await endPrograms();
  bench.clear();
});

/** The program with the command that the arguments name; nothing is printed, and no error ends this process. */
async function programFor(args: readonly string[]): Promise<Command> {
  const program = new Command('puntas')
    .exitOverride()
    .configureOutput({ writeErr: () => undefined, writeOut: () => undefined });
  await addCommands(program, args);
  return program;
}

/** The error with which a command line ends, in this process. */
async function refusal(args: readonly string[]): Promise<string> {
  const program = await programFor(args);
  return program.parseAsync(args, { from: 'user' }).then(
    () => 'nothing was refused',
    (error: unknown) => (error as Error).message,
  );
}

const below = (command: Command, path: readonly string[]): readonly (readonly string[])[] => [
  path,
  ...command.commands.flatMap(one => below(one, [...path, one.name()])),
];

const at = (program: Command, path: readonly string[]): Command =>
  path.reduce((command, name) => command.commands.find(one => one.name() === name)!, program);

describe('a value that is given twice', () => {
  test.each(COMMAND_FILES.flatMap(({ names }) => names))('is refused by %s, unless all values count', async name => {
    const program = await programFor([name]);
    for (const path of below(at(program, [name]), [name])) {
      const command = at(program, path);
      for (const option of command.options) {
        const { flags, long, variadic, description } = option;
        const hasValue = option.required || option.optional;
        // The parser of the value is no part of this test.
        delete option.parseArg;
        const parsed = () => command.parseOptions(hasValue ? [long!, 'a', long!, 'b'] : [long!, long!]);
        if (!hasValue || variadic || description.includes('(repeatable')) expect(parsed, flags).not.toThrow();
        else
          expect(parsed, `${path.join(' ')} ${flags}`).toThrow(`option '${flags}' is given twice (a, b); give it once`);
      }
    }
  });

  test('is found where a command below another passes it on', async () => {
    expect(
      await refusal(['ledger', 'adjust', '--state', 'a', '--state', 'b', '--amount', '1', '--reason', 'x']),
    ).toMatch(/option '--state <dir>' is given twice \(a, b\)/);
    expect(await refusal(['halt', '-c', 'a.yaml', '-c', 'a.yaml', '--reason', 'x'])).toMatch(/is given twice/);
  });
});

test('a name that no option has is an error of the program, not a check without effect', () => {
  const command = new Command('one').option('--fee <bps>');
  expect(() => refuseGiven(command, ['fee'], 'x')).not.toThrow();
  expect(() => refuseGiven(command, ['fees'], 'x')).toThrow(RangeError);
});

const sandbox = (change?: (text: string) => string) => bench.config('sandbox', change);
const withMarket = (dir = tape) =>
  sandbox(text => text.replace(/market:\n +kind: flow/, `market: { kind: tape, dir: ${dir} }`));
const withFees = () =>
  sandbox(text => text.replace('kind: embedded', 'kind: embedded\n  fees: { maker: "0.0001", taker: "0.0002" }'));
const COMPARE = ['compare', '--tape', tape];
const SETTLE = ['hedges', 'settle', 'H1', '--state', state];
const ADJUST = ['ledger', 'adjust', '--state', state, '--currency', 'btc', '--amount', '1', '--reason', 'x'];
const together = (one: string, other: string) =>
  new RegExp(`^error: option '${one}[^']*' cannot be used with option '${other}[^']*'$`);

/** Command lines in which a flag would have no effect, and the sentence that refuses them. */
const CASES: readonly (readonly [args: () => readonly string[], says: RegExp])[] = [
  ...['status', 'pause', 'resume', 'ledger', 'hedges', 'report', 'explain', 'presence', 'console', 'reload'].map(
    name => [() => [name, '-c', sandbox(), '--state', state, '--paper'], together('--paper', '--state <dir>')] as const,
  ),
  [() => ['status', '-c', '/nowhere.yaml', '--state', state], /^\/nowhere\.yaml/],
  [() => ['replay', state, '--paper'], /cannot be combined with -c, --state or --paper/],
  [() => ['replay', state, '--all', '--run', '3'], together('--all', '--run <n>')],
  [() => [...SETTLE, '--reason', 'x', '--fee', '0.1 usdt'], /^--fee, --reason: no effect without --as; add --as /],
  [() => [...SETTLE, '--base', '1', '--quote', '8', '--by', 'me'], /^--base, --quote, --by: no effect without --as/],
  [() => [...SETTLE, '--json'], /^--json: no effect on puntas hedges settle/],
  [() => [...ADJUST, '--json'], /^--json: no effect on puntas ledger adjust/],
  [() => [...ADJUST, '--entries', '--since', '1h', '--csv'], /^--since, --entries, --csv: no effect on puntas ledger/],
  [() => [...COMPARE, '-c', sandbox(), '--risk', '50'], together('--risk', '-c, --config')],
  [() => [...COMPARE, '-c', sandbox(), '--calibrate', '0.5'], together('--calibrate', '-c, --config')],
  [() => [...COMPARE, '-c', sandbox(), '--anyway'], together('--anyway', '-c, --config')],
  [() => [...COMPARE, '--calibrate', '0.5', '--since', '2026-11-21'], together('--calibrate', '--since')],
  [() => [...COMPARE, '--fees', 'best', '--venue-fees', '0.001,0.002'], together('--fees', '--venue-fees')],
  [
    () => [...COMPARE, '-c', withFees(), '--fees', 'own,best'],
    /^--fees own,best: sandbox-\d+ sets its own fees \(.*\), which replace every tier; remove --fees/,
  ],
  [
    () => ['scout', '-c', withMarket()],
    /^exchange\.market: this command does not replay a recording, but the configuration has the recording .*tape/,
  ],
  [() => ['conformance', '-c', withMarket('/nowhere')], /^\/nowhere: no such file or folder/],
  [() => ['scout', '--tape', tape, '--for', '10m'], together('--for', '--tape')],
  [() => ['scout', '--tape', tape, '--speed', '5'], together('--speed', '--tape')],
  [
    () => ['scout', '--tape', tape, '--hedge-fee', '3', '--hedge-latency-ms', '5'],
    /^--hedge-fee, --hedge-latency-ms: no effect without a recording in --hedge-tape$/,
  ],
  [() => ['scout', '-c', bench.config('live'), '--seed', '3'], /^--seed needs the embedded exchange/],
  [() => ['record', '-c', bench.config('live'), '--seed', '3', '--out', bench.path('t')], /^--seed needs the embedded/],
  [() => ['record', '--no-stream', '--out', bench.path('t')], /^--url, --stream-url and --no-stream need --venue/],
  [
    () => ['record', '--venue', 'x', '--no-stream', '--stream-url', 'wss://x', '--out', bench.path('t')],
    together('--no-stream', '--stream-url'),
  ],
  [
    () => ['export', '--state', state, '--rows', 'ledger', '--book', 'eth_mxn', '--out', 'x.csv'],
    /^--book: no effect on --rows ledger/,
  ],
  [
    () => ['export', '--state', state, '--rows', 'fills', '--skip-damaged', '--out', 'x.csv'],
    /^--skip-damaged: no effect without --tape/,
  ],
  [
    () => ['backtest', '-c', withMarket(), '--flow-seconds', '60', '--flow-drift', '5'],
    /^--flow-seconds, --flow-drift: no effect, because .*sandbox-\d+\.yaml names a recording in exchange\.market/,
  ],
  [
    () => ['backtest', '--latency-sweep', '0,5', '--cancel-latency-ms', '5'],
    together('--cancel-latency-ms', '--latency-sweep'),
  ],
  [() => ['calibrate', '--tape', tape, '--hedge-fee', '3'], /^--hedge-fee: no effect without a recording/],
  [() => ['calibrate', '--tape', tape, '--hedge-book', 'btc_usd'], /^--hedge-book: no effect without a recording/],
  [() => ['calibrate', '--tape', tape, '--reference-age', '20'], /^--reference-age: no effect without --reference$/],
  [
    () => ['init', bench.path('new.yaml'), '--exchange', 'embedded', '--stream', 'wss://x.example', '--yes'],
    /^--stream: no effect on the exchange embedded, which has its own stream; remove the flag/,
  ],
  [
    () => ['init', bench.path('new.yaml'), '--exchange', 'live', '--stream', 'wss://x.example', '--yes'],
    /^--stream: no effect on the exchange live/,
  ],
  [
    () => ['tune', '-c', '/nowhere.yaml', '--queue', 'redis://127.0.0.1:1', '--threads', '16'],
    /^--threads: no effect with --queue/,
  ],
  [
    () => ['worker', '--queue', 'redis://127.0.0.1:1', '--cache', 'x', '--cache-max', '1GB'],
    /^--cache, --cache-max: no effect without a store of recordings in --tapes$/,
  ],
  [
    () => ['import', '--from', state, '--format', 'state', '--tick', '0.5', '--out', bench.path('t')],
    /^--tick: no effect on a state directory/,
  ],
  [
    () => ['import', '--from', 'x.csv', '--mapping', 'm.yaml', '--format', 'tardis', '--out', bench.path('t')],
    together('--mapping', '--format'),
  ],
];

test.each(CASES.map(([args, says]) => [args().join(' ').replaceAll(bench.dir, ''), args, says] as const))(
  'refused: puntas %s',
  async (_, args, says) => {
    expect(await refusal(args())).toMatch(says);
  },
);

describe('a flag or key that had no effect now has', () => {
  test('puntas exchange serves at the port of its configuration', async () => {
    const first = puntas(['exchange', '-c', sandbox(), '--port', '0']);
    const [, port] = await first.sees(/"url":"http:\/\/127\.0\.0\.1:(\d+)"/);
    const second = await ran([
      'exchange',
      '-c',
      sandbox(text => text.replace('kind: embedded', `kind: embedded\n  port: ${port}`)),
    ]);
    expect(complaints(second)).toEqual([expect.stringContaining(`127.0.0.1:${port}`)]);
    first.signal('SIGTERM');
    expect((await first.ended).code).toBe(0);
  });

  test('puntas doctor reads the recording that the embedded exchange replays', async () => {
    const [there, missing] = await Promise.all([
      ran(['doctor', '-c', withMarket()]),
      ran(['doctor', '-c', withMarket('/nowhere')]),
    ]);
    expect(there.stdout).toMatch(/^pass +exchange +the exchange answers and lists btc_mxn$/m);
    expect(missing.stdout).toMatch(/^fail +exchange +.*\/nowhere: no such file or folder/m);
  });

  test('the preview of a halt names --cancel', async () => {
    const { stdout, code } = await ran(['halt', '--state', bench.path('.'), '--preview', '--cancel']);
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^--cancel: after the halt, this command would also cancel/m),
    ]);
  });
});
