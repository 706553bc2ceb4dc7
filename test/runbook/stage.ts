/** An embedded exchange, and bots on it, as processes of their own; what a person types, sees and reads in each situation of docs/runbook.md. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import { start, within, type Ended, type Running } from '../chaos/programs.ts';

const ROOT = fileURLToPath(new URL(import.meta.url.includes('/dist/') ? '../../..' : '../..', import.meta.url));
/** Nothing here is about speed: what comes at all comes within this on any machine. */
export const PATIENCE_MS = Number(process.env['PUNTAS_PATIENCE_MS'] ?? 420_000);

export type Face = {
  readonly url: string;
  readonly stream: string;
  readonly key: string;
  readonly secret: string;
  readonly operator: string;
  readonly operatorToken: string;
};

/** Keys of a bot; those of the exchange's first account if omitted. */
type Keys = Partial<Face> & { readonly elsewhere?: Pick<Account, 'key' | 'secret'> };

export type Account = { readonly id: string; readonly key: string; readonly secret: string };

type TrueAccount = {
  readonly id: string;
  readonly balances: readonly { readonly currency: string; readonly total: string }[];
  readonly live_orders: readonly { readonly origin_id: string | null }[];
};

/** A bot, its YAML and its state. */
export type Bot = {
  readonly file: string;
  readonly state: string;
  readonly run: Running;
  /** Waits until the log has this after what was heard up to now, or after `since`; throws with the log where it does not come. */
  hears(pattern: RegExp, since?: number): Promise<string>;
  /** How much of the log there is: for what must come after. */
  readonly heard: number;
};

export class Stage {
  readonly dir = mkdtempSync(join(tmpdir(), 'puntas-runbook-'));
  readonly #processes: Running[] = [];
  #bots = 0;
  #face: Face | null = null;

  get face(): Face {
    if (this.#face === null) throw new Error('no exchange yet');
    return this.#face;
  }

  async openExchange(args: readonly string[] = []): Promise<Running> {
    const exchange = this.#started(['exchange', '--port', '0', ...args]);
    if (!(await within(PATIENCE_MS, () => /\n/.test(exchange.stdout())))) throw new Error(exchange.stderr());
    this.#face = JSON.parse(exchange.stdout().split('\n')[0]!) as Face;
    return exchange;
  }

  /** A call of the exchange's operator; throws where it is refused. */
  async operator(
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    body?: object,
  ): Promise<Record<string, unknown>> {
    const reply = await fetch(`${this.face.operator}/${path}`, {
      method,
      // Calls are far apart: a connection that is kept may be closed just when it is used again.
      headers: { authorization: `Bearer ${this.face.operatorToken}`, connection: 'close' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`);
    return (await reply.json()) as Record<string, unknown>;
  }

  /** An account of its own, so that what happens to one bot happens to no other. */
  async account(): Promise<Account> {
    const balances = { btc: '1.5', mxn: '2000000' };
    return (await this.operator('POST', 'accounts', { balances })) as unknown as Account;
  }

  /** The configuration that ships for the embedded exchange, on the one that runs here. */
  config(changes: object = {}, name = `bot${++this.#bots}`): { file: string; state: string } {
    const tree = parse(readFileSync(join(ROOT, 'config/sandbox.yaml'), 'utf8')) as Record<string, unknown>;
    const state = join(this.dir, `state-${name}`);
    const file = join(this.dir, `${name}.yaml`);
    const exchange = { kind: 'remote', restUrl: this.face.url, streamUrl: this.face.stream };
    const own = { instance: name, exchange, metrics: { port: 0 }, state: { dir: state } };
    writeFileSync(file, stringify({ ...tree, ...own, ...changes }));
    return { file, state };
  }

  run({ file, state }: { file: string; state: string }, keys: Keys = {}): Bot {
    const run = this.#started(['run', '-c', file], this.environment(keys));
    return {
      ...{ file, state, run },
      get heard() {
        return run.stderr().length;
      },
      hears: async (pattern, since = 0) => {
        const found = () => pattern.exec(run.stderr().slice(since));
        await within(PATIENCE_MS, () => run.isOver() || found() !== null);
        const text = found()?.[0];
        if (text === undefined)
          throw new Error(`not heard: ${pattern}\n${withoutStatus(run.stderr().slice(since)).slice(-6_000)}`);
        return text;
      },
    };
  }

  /** A bot that shows quotes on both sides. */
  async quoting(keys: Keys, changes: object = {}): Promise<Bot> {
    const bot = this.run(this.config(changes), keys);
    await bot.hears(SHOWN);
    return bot;
  }

  sentinel(file: string, keys: Keys): Running {
    return this.#started(['sentinel', '-c', file], this.environment(keys));
  }

  /** What a person types, and what comes of it. */
  async types(args: readonly string[], keys: Keys = {}): Promise<Ended & { readonly text: string }> {
    const command = this.#started(args, this.environment(keys));
    const ended = await command.ended;
    return { ...ended, text: command.stdout() + command.stderr() };
  }

  /** Origin ids of the orders that an account really has in the book. */
  async liveOrdersOf(account: Account): Promise<readonly string[]> {
    return ((await this.#truthOf(account))?.live_orders ?? []).map(order => order.origin_id ?? '');
  }

  /** Its balances as one text, to see whether they have changed. */
  async holdingsOf(account: Account): Promise<string> {
    const { balances = [] } = (await this.#truthOf(account)) ?? {};
    return balances.map(({ currency, total }) => `${total} ${currency}`).join();
  }

  async #truthOf(account: Account): Promise<TrueAccount | undefined> {
    const { accounts } = (await this.operator('GET', 'truth')) as { accounts: TrueAccount[] };
    return accounts.find(({ id }) => id === account.id);
  }

  async stops(bot: Bot): Promise<Ended> {
    bot.run.signal('SIGTERM');
    return bot.run.ended;
  }

  environment({ key = this.face.key, secret = this.face.secret, elsewhere }: Keys): Record<string, string> {
    return {
      ...{ PUNTAS_API_KEY: key, PUNTAS_API_SECRET: secret },
      ...(elsewhere && { PUNTAS_ELSEWHERE_API_KEY: elsewhere.key, PUNTAS_ELSEWHERE_API_SECRET: elsewhere.secret }),
    };
  }

  async close(): Promise<void> {
    for (const process of this.#processes) {
      process.signal('SIGCONT');
      process.signal('SIGKILL');
    }
    await Promise.all(this.#processes.map(({ ended }) => ended));
    rmSync(this.dir, { recursive: true, force: true });
  }

  #started(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Running {
    const process = start(args, environment);
    this.#processes.push(process);
    return process;
  }
}

export const QUOTING = /"msg":"quoting"/;
/** The status line, with orders live on both sides. */
export const SHOWN = /"bids":[1-9]\d*,"asks":[1-9]/;

/** The lines that say something new: a status line comes every ten seconds. */
const withoutStatus = (log: string): string =>
  log
    .split('\n')
    .filter(line => !/"msg":"(?:bid|ask) \d/.test(line))
    .join('\n');
