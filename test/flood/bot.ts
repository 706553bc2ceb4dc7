/** A bot in a process of its own that quotes on the embedded exchange and takes webhooks, for those who attack it. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const TOKEN = 'flood-0123456789abcdefghijkl';

export type AttackedBot = {
  readonly state: string;
  /** Rejects when it never says where it listens. */
  addresses(): Promise<{ readonly hooks: string; readonly metrics: string }>;
  /** What it said lately. */
  heard(): string;
  /** Resident memory in bytes. */
  rss(): number;
  /** Null while it runs. */
  exitCode(): number | null;
  kill(): void;
  /** Kills it and forgets its state. */
  end(): void;
};

export function startBot(changes: Readonly<Record<string, unknown>>): AttackedBot {
  const work = mkdtempSync(join(tmpdir(), 'puntas-flood-'));
  const config = parse(readFileSync(join(ROOT, 'config/sandbox.yaml'), 'utf8')) as Record<string, unknown>;
  const state = join(work, 'state');
  const file = join(work, 'flood.yaml');
  writeFileSync(file, stringify({ ...config, state: { dir: state }, metrics: { port: 0 }, ...changes }));
  const bot = spawn(process.execPath, [join(ROOT, 'dist/src/main.js'), 'run', '-c', file], {
    env: { ...process.env, PUNTAS_WEBHOOK_TOKEN: TOKEN },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  bot.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-200_000)));
  const sees = async (pattern: RegExp): Promise<string> => {
    for (let n = 0; n < 1_800; n++) {
      const found = pattern.exec(said)?.[1];
      if (found !== undefined) return found;
      await pause(100);
    }
    throw new Error(`the bot never said ${pattern}:\n${said}`);
  };
  return {
    state,
    addresses: async () => ({
      hooks: `${await sees(/(http:\/\/[\d.:]+)\/hooks/)}/hooks/${TOKEN}`,
      metrics: await sees(/(http:\/\/[\d.:]+)\/metrics/),
    }),
    heard: () => said,
    rss: () => {
      const status = readFileSync(`/proc/${bot.pid}/status`, 'utf8');
      return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN) * 1024;
    },
    exitCode: () => bot.exitCode,
    kill: () => void bot.kill('SIGKILL'),
    end: () => {
      bot.kill('SIGKILL');
      rmSync(work, { recursive: true, force: true });
    },
  };
}
