/** What a process with a key refuses or does not hear: unchecked certificates, Node's inspector by signal or by flag. */
import { spawn } from 'node:child_process';
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { COMMAND_FILES } from '../../src/cli/commands/index.ts';
import { openExchange, type EmbeddedExchange } from './embeddedExchange.ts';
import { Bench, puntas, ran } from './program.ts';

const bench = new Bench();
let exchange: EmbeddedExchange;
let config = '';

beforeAll(async () => {
  exchange = await openExchange(bench.config());
  config = bench.config('live', text =>
    text.replace('https://api.bitso.com', exchange.url).replace(/^ *streamUrl:.*\n/m, ''),
  );
});

afterAll(async () => {
  await exchange.close();
  bench.clear();
});

const keys = () => exchange.keys;

describe('an environment in which any certificate passes', () => {
  /** What a command wants besides or instead of `-c FILE`, which every other takes. */
  const given: Readonly<Record<string, (file: string, path: string) => readonly string[]>> = {
    exchange: () => ['--port', '0'],
    init: (_, path) => [`${path}.yaml`, '--yes'],
    alert: file => ['test', '-c', file],
    record: (file, path) => ['-c', file, '--out', path],
    import: (_, path) => ['--from', path, '--out', path],
    backtest: (_, path) => ['--tape', path],
    calibrate: (_, path) => ['--tape', path],
    tape: (_, path) => [path],
    export: (_, path) => ['--tape', path, '--out', `${path}.csv`],
    compare: (_, path) => ['--tape', path],
    replay: (_, path) => [path],
    halt: file => ['-c', file, '--reason', 'x', '--cancel'],
    reduce: file => ['-c', file, '--reason', 'x'],
    resume: file => ['-c', file, '--reason', 'x'],
    reload: file => ['-c', file, '--preview'],
    console: file => ['-c', file, '--port', '0'],
    'new-strategy': () => ['never-made'],
    'check-strategy': () => ['never-made.ts'],
    webhooks: file => ['register', '-c', file],
  };

  test('is refused by every command, in one line that says what to do, with the code of wrong use', async () => {
    const names = COMMAND_FILES.flatMap(one => one.names);
    expect(names).toEqual(expect.arrayContaining([...Object.keys(given), 'run', 'sentinel']));
    const environment = { ...keys(), NODE_TLS_REJECT_UNAUTHORIZED: '0', NODE_NO_WARNINGS: '1' };
    for (const name of names) {
      const args = given[name] ?? (file => ['-c', file]);
      const { code, stdout, stderr } = await ran([name, ...args(config, bench.path('none'))], environment);
      expect([name, code, stdout]).toEqual([name, 2, '']);
      expect(stderr).toMatch(
        /^NODE_TLS_REJECT_UNAUTHORIZED=0 is set [^\n]*; unset NODE_TLS_REJECT_UNAUTHORIZED,[^\n]*\n$/,
      );
    }
  });
});

/** Linux tells which sockets of a process listen; elsewhere the lines of the process alone are looked at. */
const isLinux = process.platform === 'linux';

/** Ports on which a process listens. */
function listening(pid: number): readonly number[] {
  const own = new Set(
    readdirSync(`/proc/${pid}/fd`).map(fd => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${fd}`);
      } catch {
        return ''; // closed in between
      }
    }),
  );
  return ['tcp', 'tcp6']
    .flatMap(table => readFileSync(`/proc/${pid}/net/${table}`, 'utf8').split('\n').slice(1))
    .map(line => line.trim().split(/\s+/))
    .filter(([, , , state, , , , , , inode]) => state === '0A' && own.has(`socket:[${inode}]`))
    .map(([, local]) => parseInt(local!.split(':')[1]!, 16))
    .sort((a, b) => a - b);
}

/** Sends SIGUSR1 to a bare Node until its inspector listens: by then a process that was sent it before listens too, if it ever does. */
async function inspectorOfAnother(): Promise<void> {
  const other = spawn(process.execPath, ['--inspect-port=0', '-e', 'console.log(1); setInterval(() => {}, 1000)']);
  try {
    await new Promise(resolve => other.stdout.once('data', resolve));
    const heard = new Promise<string>(resolve => other.stderr.once('data', (text: Buffer) => resolve(String(text))));
    other.kill('SIGUSR1');
    expect(await heard).toMatch(/^Debugger listening on ws:/);
    if (isLinux) expect(listening(other.pid!)).toHaveLength(1);
  } finally {
    other.kill('SIGKILL');
  }
}

describe("Node's inspector", () => {
  const bots: Readonly<Record<string, { args: () => readonly string[]; ready: RegExp; hasKey: boolean }>> = {
    run: { args: () => ['run', '-c', config], ready: /quoting/, hasKey: true },
    sentinel: { args: () => ['sentinel', '-c', config], ready: /sentinel/, hasKey: true },
    console: { args: () => ['console', '-c', config, '--port', '0'], ready: /console of .* at http/, hasKey: false },
  };

  const started = (name: string) => {
    const { args, ready, hasKey } = bots[name]!;
    return { args: args(), ready, secrets: hasKey ? keys() : {} };
  };

  test.each(Object.keys(bots))('is not opened in %s by SIGUSR1', async name => {
    const { args, ready, secrets } = started(name);
    const program = puntas(args, { ...secrets, NODE_OPTIONS: '--inspect-port=0' });
    await program.sees(ready);
    const before = isLinux ? listening(program.pid) : [];
    program.signal('SIGUSR1');
    await inspectorOfAnother();
    if (isLinux) expect(listening(program.pid)).toEqual(before);
    program.signal('SIGTERM');
    const { code, stderr } = await program.ended;
    expect([code, stderr.includes('Debugger')]).toEqual([0, false]);
  });

  test.each(Object.keys(bots))('is refused in %s when it was opened by a flag', async name => {
    const { args, secrets } = started(name);
    const { code, stderr } = await ran(args, { ...secrets, NODE_OPTIONS: '--inspect=127.0.0.1:0' });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^Node's inspector is open at 127\.0\.0\.1:\d+: .* start without --inspect/m);
  });
});
