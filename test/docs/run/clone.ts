/** A folder that looks like a clean clone with a build in it, an account on the embedded exchange, and a terminal. */
import { execFile, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse, stringify } from 'yaml';
import { within } from '../../chaos/programs.ts';
import type { Stage } from '../../runbook/stage.ts';
import { isOnScreen, typed, type Typed } from './terminal.ts';
import { NO_CONFIGURATION } from '../../shippedConfigs.ts';
import { mergedTree } from './yaml.ts';
import { freePort } from '../../freePort.ts';

/** Nothing here is about speed: what comes at all comes within this on any machine. */
export const PATIENCE_MS = 420_000;
/** Keys of a page's fragments that its own bot does not take: they need a volume, another process, a file, or the internet. */
const NOT_HERE = ['state', 'metrics', 'sentinel', 'reference', 'alerts', 'console'];

const run = promisify(execFile);
const copy = (...words: readonly string[]): Promise<unknown> => run('cp', words);

/** The files of a checkout that a clone would have, with its build. */
export function template(root: string, dir: string): void {
  const { stdout } = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  for (const file of stdout.split('\0'))
    if (file !== '' && existsSync(join(root, file))) cpSync(join(root, file), join(dir, file));
  cpSync(join(root, 'dist'), join(dir, 'dist'), { recursive: true });
  chmodSync(join(dir, 'dist/src/main.js'), 0o755);
}

export class Clone {
  readonly dir: string;
  readonly #environment: NodeJS.ProcessEnv;
  readonly #stage: Stage;
  readonly #running: Typed[] = [];

  /**
   * Copies the template. `builds`: its commands may compile. Where none does, the build is hard links to the template's: copying it takes longer than
   * most commands. Meanwhile the other clones go on: a request of theirs that waits for 10 s ends with 408.
   */
  static async of(from: string, dir: string, root: string, stage: Stage, builds: boolean): Promise<Clone> {
    mkdirSync(dir);
    const sources = readdirSync(from).filter(name => name !== 'dist');
    await copy('-a', ...sources.map(name => join(from, name)), dir);
    await copy(builds ? '-a' : '-al', join(from, 'dist'), dir);
    return new Clone(dir, root, stage);
  }

  private constructor(dir: string, root: string, stage: Stage) {
    this.dir = dir;
    this.#stage = stage;
    symlinkSync(join(root, 'node_modules'), join(dir, 'node_modules'));
    for (const folder of ['home', 'bin']) mkdirSync(join(dir, '..', folder), { recursive: true });
    const program = join(dir, '..', 'bin', 'puntas');
    rmSync(program, { force: true });
    symlinkSync(join(dir, 'bin/puntas.mjs'), program);
    const own = Object.entries(process.env).filter(([name]) => !/^(?:PUNTAS_|npm_|CI$|NODE_)/.test(name));
    this.#environment = {
      ...Object.fromEntries(own),
      ...{ HOME: join(dir, '..', 'home'), PATH: `${join(dir, '..', 'bin')}:${process.env['PATH']}`, TERM: 'xterm' },
      // npx has to find the program here, and ask nobody.
      ...{ npm_config_registry: 'http://127.0.0.1:9/', npm_config_update_notifier: 'false' },
    };
  }

  set(name: string, value: string): void {
    this.#environment[name] = value;
  }

  path(name: string): string {
    return join(this.dir, name);
  }

  /** The configurations that ship follow the embedded exchange instead of the real one, and each bot has metrics on a port of its own. */
  pointConfigsHere(shipped: boolean): void {
    const { url, stream } = this.#stage.face;
    for (const name of readdirSync(this.path('config')).filter(
      file => file.endsWith('.yaml') && !NO_CONFIGURATION.includes(file),
    )) {
      const file = join('config', name);
      const text = readFileSync(this.path(file), 'utf8');
      if (!shipped)
        writeFileSync(
          this.path(file),
          text.replaceAll('https://api.bitso.com', url).replaceAll('wss://ws.bitso.com', stream),
        );
      this.ownPortOf(file);
    }
  }

  /** The metrics of a configuration are on a port that is free. */
  ownPortOf(name: string): void {
    const text = readFileSync(this.path(name), 'utf8');
    if (!/^metrics:/m.test(text)) writeFileSync(this.path(name), `${text}\nmetrics: { port: 0 }\n`);
  }

  /** Files with the keys of a new account, and of one more for its sentinel. */
  async account(): Promise<void> {
    const { id, key, secret } = await this.#stage.account();
    const second = (await this.#stage.operator('POST', `accounts/${id}/keys`)) as { key: string; secret: string };
    const files = {
      'key.txt': key,
      'secret.txt': secret,
      'sentinel.key': second.key,
      'sentinel.secret': second.secret,
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(this.path(name), `${text}\n`, { mode: 0o644 });
  }

  /** As the README says: said once, before everything else. */
  useKeys(): void {
    for (const name of ['key.txt', 'secret.txt', 'sentinel.key', 'sentinel.secret']) chmodSync(this.path(name), 0o600);
    this.set('PUNTAS_API_KEY_FILE', 'key.txt');
    this.set('PUNTAS_API_SECRET_FILE', 'secret.txt');
  }

  /** The reader's own file: that of the embedded exchange, on an account, with what the page adds. */
  async myYaml(fragments: readonly Record<string, unknown>[]): Promise<void> {
    const base = parse(readFileSync(this.path('config/sandbox.yaml'), 'utf8')) as Record<string, unknown>;
    const { url, stream } = this.#stage.face;
    const added = fragments.map(tree =>
      Object.fromEntries(Object.entries(tree).filter(([key]) => !NOT_HERE.includes(key))),
    );
    const own = {
      ...{
        exchange: { kind: 'remote', restUrl: url, streamUrl: stream },
        metrics: { port: 0 },
        state: { dir: './state' },
      },
      paper: { balances: { btc: '1.5', mxn: '2000000' } },
      // What a halt with --cancel waits for; on this machine no request is on its way for longer.
      timing: { requestDelayMaxMs: 6_000 },
    };
    const whole = [...added, own].reduce(mergedTree, { ...base, exchange: {} });
    if ('webhooks' in whole)
      whole['webhooks'] = mergedTree(whole['webhooks'] as Record<string, unknown>, { port: await freePort() });
    writeFileSync(this.path('my.yaml'), stringify(whole));
  }

  types(command: string): Typed {
    const one = typed(command, this.dir, this.#environment);
    this.#running.push(one);
    return one;
  }

  /** Waits until it is on the screen after what was there; throws with the screen where it does not come. */
  async shows(one: Typed, pattern: RegExp, since = 0): Promise<void> {
    const there = () => isOnScreen(one.text().slice(since), pattern);
    await within(PATIENCE_MS, () => one.isOver() || there());
    if (!there()) throw new Error(`${one.isOver() ? 'it ended' : 'it goes on'} without ${pattern}`);
  }

  async close(): Promise<void> {
    for (const one of this.#running) one.kill();
    await run('rm', ['-rf', this.dir]);
  }
}
