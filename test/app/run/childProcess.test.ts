import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Clock } from '../../../src/core/index.ts';
import fc from 'fast-check';
import { SECRETS } from '../../../src/app/console/pageProcess.ts';
import { sourcesIn } from '../../imports.ts';
import { harmless, superviseChild, keepHarmless } from '../../../src/app/run/childProcess.ts';
import { heardLog } from '../../memoryLog.ts';

let dir: string;
let ends: (() => Promise<void>)[] = [];
beforeEach(() => void (dir = mkdtempSync(join(tmpdir(), 'puntas-beside-'))));
afterEach(async () => {
  for (const end of ends) await end();
  ends = [];
  rmSync(dir, { recursive: true, force: true });
});

/** Says its pid, and ends when the channel does, or at once where it is told to. */
const SCRIPT = `
require('node:fs').writeFileSync(process.argv[2], JSON.stringify(process.env));
console.log('here I am');
if (process.argv[3] === 'dies') process.exit(7);
process.on('disconnect', () => { console.log('leaving'); process.exit(0); });
`;

/** What is kept beside a test: its waits are the test's to end, its log is awaited. */
function kept(more: readonly string[] = [], environment: Record<string, string> = {}) {
  const lines: { text: string; pid: number }[] = [];
  const waits: { ms: number; call: () => void }[] = [];
  let look: () => void = () => undefined;
  let time = 0;
  const log = heardLog(line => {
    lines.push({ text: line.text, pid: Number(line.known['process']) });
    look();
  });
  const clock: Clock = {
    now: () => time,
    elapsed: () => time,
    after: (ms, call) => {
      const wait = { ms, call };
      waits.push(wait);
      look();
      return { stop: () => void waits.splice(waits.indexOf(wait), 1) };
    },
  };
  const script = join(dir, 'script.cjs');
  writeFileSync(script, SCRIPT);
  const args = [script, join(dir, 'environment.json'), ...more];
  const beside = superviseChild({ name: 'console', args, environment: { ...process.env, ...environment }, clock, log });
  ends.push(() => beside.stop());
  const until = (seen: () => boolean) =>
    new Promise<void>(resolve => {
      look = () => seen() && resolve();
      look();
    });
  return {
    ...{ lines, waits, until, beside },
    passes: (ms: number) => void (time += ms),
    says: (text: string, times = 1) => until(() => lines.filter(line => line.text.includes(text)).length >= times),
    ends: () => waits.shift()!.call(),
  };
}

describe('a process beside a run', () => {
  test('sees nothing of the environment that could be a key', async () => {
    const secret = { PUNTAS_API_KEY: 'k', PUNTAS_API_SECRET_FILE: '/x', AWS_SECRET_ACCESS_KEY: 's', MY_TOKEN: 't' };
    const { says } = kept([], { ...secret, LC_ALL: 'C.UTF-8' });
    await says('here I am');
    const seen = JSON.parse(readFileSync(join(dir, 'environment.json'), 'utf8')) as Record<string, string>;
    expect(Object.keys(seen).filter(name => name in secret || name.startsWith('PUNTAS'))).toEqual([]);
    expect(seen['LC_ALL']).toBe('C.UTF-8');
    expect(seen['PATH']).toBe(process.env['PATH']);
  });

  test('that is killed is started again, and the log says so', async () => {
    const { says, lines, waits, ends: waitEnds } = kept();
    await says('here I am');
    process.kill(lines[0]!.pid, 'SIGKILL');
    await says('console: ended (SIGKILL); restarting in 1 s; the bot continues');
    expect(waits.map(({ ms }) => ms)).toEqual([1_000]);
    waitEnds();
    await says('here I am', 2);
    expect(lines.at(-1)!.pid).not.toBe(lines[0]!.pid);
  });

  test('that dies at once is started more and more rarely, and as at first once it has lived', async () => {
    const { says, until, waits, passes, ends: waitEnds } = kept(['dies']);
    const seen: number[] = [];
    for (let i = 0; i < 8; i++) {
      await says('ended (exit code 7)', i + 1);
      await until(() => waits.length === 1);
      seen.push(waits[0]!.ms / 1000);
      waitEnds();
      if (i === 6) passes(60_000);
    }
    expect(seen).toEqual([1, 2, 4, 8, 16, 32, 60, 1]);
  });

  test('ends with the run, and is not started again', async () => {
    const { says, beside, waits, lines } = kept();
    await says('here I am');
    await beside.stop();
    expect(waits).toEqual([]);
    expect(lines.map(({ text }) => text)).not.toContain(expect.stringContaining('restarting'));
    expect(() => process.kill(lines[0]!.pid, 0)).toThrow('ESRCH');
  });

  test('that waits to be started again is not, once the run ends', async () => {
    const { says, beside, waits } = kept(['dies']);
    await says('console: ended');
    await beside.stop();
    expect(waits).toEqual([]);
  });
});

test('what may be seen of an environment is a list of names, and nothing else', () => {
  const all = {
    PATH: '/bin',
    TZ: 'UTC',
    PUNTAS_DEBUG: '1',
    XPATH: 'x',
    path: 'x',
    NODE_OPTIONS: '-r x',
    GIT_TOKEN: 'x',
  };
  expect(harmless(all)).toEqual({ PATH: '/bin', TZ: 'UTC', NODE_OPTIONS: '-r x' });
});

test('nothing of an environment stays for a console but names that hold no secret, whatever else it has', () => {
  const secrets = [
    'AWS_SECRET_ACCESS_KEY',
    'GITHUB_TOKEN',
    'PUNTAS_API_SECRET',
    'PUNTAS_QUEUE_PASSWORD',
    'DATABASE_URL',
  ];
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.constantFrom(...secrets), fc.string({ minLength: 1 }))), names => {
      const kept = { PATH: '/bin', LC_ALL: 'C', DISPLAY: ':0' };
      const environment: NodeJS.ProcessEnv = { ...Object.fromEntries(names.map(name => [name, 'x'])), ...kept };
      keepHarmless(environment);
      const more = Object.keys(environment).filter(name => !(name in kept));
      expect(environment).toMatchObject(kept);
      expect(more.filter(name => secrets.includes(name) || /KEY|SECRET|TOKEN|PASS|CREDENTIAL/i.test(name))).toEqual([]);
    }),
  );
});

test('every secret that the program reads from its environment is one that a console refuses', () => {
  const named = ['src', 'backtest']
    .flatMap(sourcesIn)
    .flatMap(({ text }) => [
      ...text.matchAll(/\b(?:PUNTAS|AWS)_[A-Z_]*(?:KEY|SECRET|TOKEN|PASSWORD|WEBHOOK_URL|KEY_ID)(?:_OLD)?\b(?!_FILE)/g),
    ]);
  const names = [...new Set(named.map(([name]) => name))].filter(name => !name.endsWith('_'));
  expect(names.length).toBeGreaterThan(8);
  expect(names.filter(name => !SECRETS.test(name))).toEqual([]);
});
