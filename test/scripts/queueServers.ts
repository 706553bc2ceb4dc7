/** Servers of Debian's packages as children of a test, each on a free port and with a folder of its own. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../freePort.ts';

export type Server = {
  readonly url: string;
  readonly port: number;
  /** Its own, and of the first of several. */
  readonly pid: number;
  /** At once, and with all that it holds in memory. */
  kill(): Promise<void>;
  stop(): Promise<void>;
};

const isThere = (command: string): boolean => spawnSync('sh', ['-c', `command -v ${command}`]).status === 0;

/** Where initdb and postgres are; null where there is none. */
function postgresPrograms(): string | null {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).filter(name => existsSync(join(root, name, 'bin/initdb'))) : [];
  const newest = versions.sort((a, b) => Number(a) - Number(b)).at(-1);
  return newest === undefined ? null : join(root, newest, 'bin');
}

/** What of the servers is not here. */
export const missingServers = (): readonly string[] => [
  ...(isThere('redis-server') ? [] : ['redis-server']),
  ...(postgresPrograms() === null ? ['postgresql'] : []),
];

/** Tries until it does not throw; a test's own time is the limit. */
async function until(work: () => void): Promise<void> {
  for (;;)
    try {
      work();
      return;
    } catch {
      await new Promise(resolve => setTimeout(resolve, 100));
    }
}

/** Keeps nothing on disk. */
export async function redisServer(given?: number, flags: readonly string[] = []): Promise<Server> {
  const port = given ?? (await freePort());
  const dir = mkdtempSync(join(tmpdir(), 'puntas-redis-'));
  const own = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', dir];
  const child = spawn('redis-server', [...own, ...flags], { stdio: 'ignore' });
  const ended = new Promise<void>(resolve => child.on('exit', () => resolve()));
  const signal = async (name: NodeJS.Signals): Promise<void> => {
    child.kill(name);
    await ended;
    rmSync(dir, { recursive: true, force: true });
  };
  // An answer, be it that a password is wanted.
  await until(() => execFileSync('redis-cli', ['-p', String(port), 'ping'], { stdio: 'pipe' }));
  const url = `redis://127.0.0.1:${port}`;
  return { url, port, pid: child.pid!, kill: () => signal('SIGKILL'), stop: () => signal('SIGTERM') };
}

/** With a database `trials` and a user `puntas` of this password. It does not run as root: then it is `postgres`. */
export async function postgresServer(password: string): Promise<Server> {
  const programs = postgresPrograms()!;
  const port = await freePort();
  const dir = mkdtempSync(join(tmpdir(), 'puntas-postgres-'));
  const data = join(dir, 'data');
  mkdirSync(data);
  writeFileSync(join(dir, 'password'), password);
  const isRoot = process.getuid?.() === 0;
  if (isRoot) {
    const [uid, gid] = ['-u', '-g'].map(flag => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' })));
    for (const path of [dir, data, join(dir, 'password')]) chownSync(path, uid!, gid!);
  }
  const run = (command: string, env: Readonly<Record<string, string>> = {}): void => {
    const [program, ...flags] = isRoot ? ['su', 'postgres', '-s', '/bin/sh', '-c', command] : ['sh', '-c', command];
    execFileSync(program, flags, { cwd: dir, stdio: 'pipe', env: { ...process.env, ...env } });
  };
  run(`${programs}/initdb -D ${data} -A scram-sha-256 -U puntas --pwfile=${dir}/password --no-sync`);
  const settings = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=${dir} -c fsync=off`;
  run(`${programs}/pg_ctl -D ${data} -o '${settings}' -l ${dir}/log -w -t 300 start`);
  execFileSync(`${programs}/createdb`, ['-h', '127.0.0.1', '-p', String(port), '-U', 'puntas', 'trials'], {
    env: { ...process.env, PGPASSWORD: password },
  });
  const stop = (mode: string) => (): Promise<void> => {
    run(`${programs}/pg_ctl -D ${data} -w -m ${mode} stop`);
    rmSync(dir, { recursive: true, force: true });
    return Promise.resolve();
  };
  const pid = Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0]);
  return { url: `postgres://puntas@127.0.0.1:${port}/trials`, port, pid, kill: stop('immediate'), stop: stop('fast') };
}
