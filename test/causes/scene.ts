/** One bot of the check on its exchange, behind a wire of its own, and everything that a row may do to either. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import { randomOf, Secret } from '../../src/core/index.ts';
import { exchangeClient, httpTransport, splitAddress, type Client } from '../../src/exchange/index.ts';
import { realClock } from '../../src/live/realClock.ts';
import { within, type Running } from '../chaos/programs.ts';
import type { Account, Bot, Stage } from '../runbook/stage.ts';
import type { Life } from './life.ts';
import { OtherExchange } from './otherExchange.ts';
import type { Prometheus } from './prometheus.ts';
import { wireTo, type Wire } from './wire.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PATIENCE_MS = Number(process.env['PUNTAS_PATIENCE_MS'] ?? 420_000);
const BOOK = 'btc_mxn';
/** So many make a rate of a counter, and tell the bot that somebody asks regularly. */
const SCRAPES = 4;
/** Turns without the processor, and those with it: from a `lengths`-th of `runsMs` to all of it. */
const STARVED = { waitsMs: 150, runsMs: 3, lengths: 16 };

type Tree = Record<string, unknown>;

export class Scene {
  readonly stage: Stage;
  readonly account: Account;
  readonly wire: Wire;
  readonly file: string;
  readonly state: string;
  readonly name: string;
  readonly #prometheus: Prometheus;
  readonly #clients: Client[] = [];
  readonly #isMounted: boolean;
  #bot: Bot | null = null;
  #target: string | null = null;
  #market: ByHand | null = null;
  readonly #there: OtherExchange | null;
  #isStarved = false;
  /** Price of each feed, and the timer that writes all of them. */
  readonly #prices = new Map<string, string>();
  #writer: NodeJS.Timeout | null = null;
  sentinel: Running | null = null;

  private constructor(
    stage: Stage,
    prometheus: Prometheus,
    account: Account,
    wire: Wire,
    name: string,
    life: Life,
    there: OtherExchange | null,
  ) {
    this.#there = there;
    this.stage = stage;
    this.#prometheus = prometheus;
    this.account = account;
    this.wire = wire;
    this.name = name;
    this.state = join(stage.dir, `state-${name}`);
    this.file = join(stage.dir, `${name}.yaml`);
    this.#isMounted = life.name.includes('disk');
    const tree = parse(readFileSync(join(ROOT, `config/${life.shipped}.yaml`), 'utf8')) as Tree;
    const own = {
      instance: name,
      exchange: { kind: 'remote', restUrl: wire.restUrl, streamUrl: wire.streamUrl },
      metrics: { port: 0 },
      state: { dir: this.state },
      ...(there && { elsewhere: there.sectionFor(this.state) }),
    };
    const exchange = tree['exchange'] as Tree;
    // The keys of the embedded exchange are none of the remote one.
    if (exchange['kind'] === 'embedded') delete tree['exchange'];
    delete tree['elsewhere'];
    writeFileSync(this.file, stringify(merged(merged(tree, own), (life.changes ?? {}) as Tree)));
    if (!this.#isMounted) return;
    mkdirSync(this.state, { recursive: true, mode: 0o700 });
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=24m,mode=0700', 'tmpfs', this.state]);
  }

  static async open(stage: Stage, prometheus: Prometheus, life: Life, name: string): Promise<Scene> {
    const balances = life.balances ?? { btc: '1.5', mxn: '2000000' };
    const account = (await stage.operator('POST', 'accounts', { balances })) as unknown as Account;
    const wire = await wireTo(stage.face.url, stage.face.stream);
    const there = life.there === undefined ? null : await OtherExchange.open(life.there);
    const scene = new Scene(stage, prometheus, account, wire, name, life, there);
    if (life.exchange === 'by hand') {
      scene.#market = new ByHand(await scene.other());
      await scene.market.show();
    }
    return scene;
  }

  /** Has a feed show a price from now on: its file is replaced every second, as docs/reference-price.md says. */
  show(feed: string, price: string): void {
    this.#prices.set(feed, price);
    this.#writePrices();
    this.#writer ??= setInterval(() => this.#writePrices(), 1_000);
  }

  #writePrices(): void {
    for (const [feed, price] of this.#prices) {
      const path = join(dirname(this.file), `price-${feed}`);
      writeFileSync(`${path}.new`, price);
      renameSync(`${path}.new`, path);
    }
  }

  get bot(): Bot {
    if (this.#bot === null) throw new Error('no bot yet');
    return this.#bot;
  }

  get market(): ByHand {
    if (this.#market === null) throw new Error('this market is not made by hand');
    return this.#market;
  }

  /** Keys of the bot, on both exchanges if there are two. */
  get #keys(): Account & { readonly elsewhere?: Pick<Account, 'key' | 'secret'> } {
    return { ...this.account, ...(this.#there && { elsewhere: this.#there.account }) };
  }

  /** Host and port of the metrics. */
  get target(): string {
    if (this.#target === null) throw new Error('no metrics yet');
    return this.#target;
  }

  /** Starts the bot, or starts it again. */
  async start(begins: RegExp): Promise<void> {
    const bot = this.stage.run(this, this.#keys);
    this.#bot = bot;
    const url = /"url":"http:\/\/([\d.:]+)"/;
    const line = await bot.hears(url);
    if (this.#target !== null) this.#prometheus.forget(this.#target);
    this.#target = url.exec(line)![1]!;
    this.#prometheus.watch(this.#target);
    await bot.hears(begins);
    // What changes is an alert only where it was asked about before, and an end is told only to who asks regularly.
    await this.#isScraped(SCRAPES);
  }

  startSentinel(): void {
    // Not through the wire: it has its own way to the exchange.
    const file = `${this.file.slice(0, -5)}-sentinel.yaml`;
    const { url, stream } = this.stage.face;
    const text = readFileSync(this.file, 'utf8');
    writeFileSync(file, text.replace(this.wire.restUrl, url).replace(this.wire.streamUrl, stream));
    this.sentinel = this.stage.sentinel(file, this.account);
  }

  /** Until somebody has halted it on disk. */
  async latched(): Promise<void> {
    if (!(await within(PATIENCE_MS, () => this.isLatched))) throw new Error(`never halted\n${this.sentinel?.stderr()}`);
  }

  /** From now on the process has the processor for moments only. */
  starve(): void {
    const { run } = this.bot;
    this.#isStarved = true;
    // Each turn has another length, because a decision comes at the same time of every turn; and a turn is waited for
    // without a pause, because a timer that comes late would let the process finish all that waits.
    let turns = 0;
    const feeds = (until: number): void =>
      void setImmediate(() => {
        if (performance.now() >= until || run.isOver() || !this.#isStarved) turn();
        else feeds(until);
      });
    const turn = (): void => {
      if (run.isOver() || !this.#isStarved) return void run.signal('SIGCONT');
      run.signal('SIGSTOP');
      setTimeout(() => {
        run.signal('SIGCONT');
        feeds(performance.now() + (STARVED.runsMs * (1 + (turns++ % STARVED.lengths))) / STARVED.lengths);
      }, STARVED.waitsMs);
    };
    turn();
  }

  /** Undoes that; whoever scrapes has to be able to do so again, and regularly. */
  async feed(): Promise<void> {
    if (!this.#isStarved) return;
    this.#isStarved = false;
    await this.#isScraped((await this.#prometheus.scrapes(this.target, 'answered')) + SCRAPES);
  }

  async #isScraped(times: number): Promise<void> {
    const holds = async () => (await this.#prometheus.scrapes(this.target, 'answered')) >= times;
    if (!(await within(PATIENCE_MS, holds, 500))) throw new Error('prometheus does not scrape');
  }

  types(...args: string[]): Promise<{ readonly code: number | null; readonly text: string }> {
    return this.stage.types([...args.slice(0, 1), '-c', this.file, ...args.slice(1)], this.#keys);
  }

  /** Somebody takes the best order of the bot, again where it had none at that moment; the exchange tells whether it was filled. */
  async takenFrom(side: 'buy' | 'sell', major: string): Promise<void> {
    const live = () => this.stage.liveOrdersOf(this.account);
    for (const until = Date.now() + PATIENCE_MS; Date.now() < until;) {
      if (!(await within(PATIENCE_MS, async () => (await live()).length > 0))) break;
      const before = await this.stage.holdingsOf(this.account);
      await this.market.takes(side, major);
      const isFilled = async () => (await this.stage.holdingsOf(this.account)) !== before;
      if (await within(5_000, isFilled)) return;
    }
    throw new Error('nobody could take an order of the bot');
  }

  /** A client of another account, with much of everything. */
  async other(): Promise<Client> {
    const balances = { btc: '1000', mxn: '1000000000' };
    return this.client((await this.stage.operator('POST', 'accounts', { balances })) as unknown as Account);
  }

  /** Another program of the bot's own account. */
  async same(): Promise<Client> {
    const key = await this.stage.operator('POST', `accounts/${this.account.id}/keys`);
    return this.client(key as unknown as Account);
  }

  client({ key, secret }: Account): Client {
    const clock = realClock();
    const { origin, basePath } = splitAddress(this.stage.face.url);
    const client = exchangeClient({
      clock,
      random: randomOf(1),
      transport: httpTransport({ origin, deadlineMs: 30_000 }),
      basePath,
      credentials: { key, secret: new Secret(secret), headers: 'authorization' },
      budgets: { public: 10_000, private: 10_000 },
    });
    this.#clients.push(client);
    return client;
  }

  /** Rests under the bot's name; with `untilGone`, until somebody has canceled it, or halted and left it alone. */
  async placeAs(client: Client, originId: string, untilGone = false): Promise<void> {
    const order = { book: BOOK, side: 'buy', type: 'limit', price: '1200000', major: '0.001', originId } as const;
    done(await client.placeOrder(order));
    if (!untilGone) return;
    const isGone = async () => this.isLatched || !(await this.stage.liveOrdersOf(this.account)).includes(originId);
    if (!(await within(PATIENCE_MS, isGone))) throw new Error(`${originId} stays`);
  }

  /** What the file HALTED says; nothing where there is none. */
  latch(): string {
    return this.isLatched ? readFileSync(join(this.state, 'HALTED'), 'utf8') : '';
  }

  get isLatched(): boolean {
    return existsSync(join(this.state, 'HALTED'));
  }

  /** Nothing more fits onto the disk of the state. */
  fill(): void {
    for (let size = 1 << 20; size > 0;)
      try {
        writeFileSync(join(this.state, 'filler'), Buffer.alloc(size), { flag: 'a' });
      } catch {
        size >>= 1;
      }
  }

  makeRoom(): void {
    rmSync(join(this.state, 'filler'));
  }

  deposit(asset: string, amount: string): Promise<unknown> {
    return this.stage.operator('POST', 'deposits', { account: this.account.id, asset, amount });
  }

  book(rules: object): Promise<unknown> {
    return this.stage.operator('PATCH', `books/${BOOK}`, rules);
  }

  switches(values: object): Promise<unknown> {
    return this.stage.operator('PATCH', 'switches', values);
  }

  async page(path: 'metrics' | 'readyz'): Promise<string> {
    const reply = await fetch(`http://${this.target}/${path}`).catch(() => null);
    return reply === null ? '' : reply.text();
  }

  /** Polls a text until it has the pattern; throws with the text where it never does. */
  async sees(what: string, pattern: RegExp, read: () => Promise<string>): Promise<void> {
    let text = '';
    const found = await within(PATIENCE_MS, async () => pattern.test((text = await read())), 250);
    if (!found)
      throw new Error(`${what}: never ${pattern}\n${text.slice(-4_000)}\n${this.bot.run.stderr().slice(-3_000)}`);
  }

  /** Until an alert of this bot fires with that summary. */
  raises(name: string, summary: RegExp): Promise<void> {
    return this.sees(`alert ${name}`, new RegExp(`^${name}: ${summary.source}$`, 'm'), async () => this.alerts());
  }

  async alerts(): Promise<string> {
    const firing = await this.#prometheus.firing(this.target);
    return firing.map(({ name, summary }) => `${name}: ${summary}`).join('\n');
  }

  /** Until Prometheus has asked an ended process often enough for any alert. */
  async isAskedInVain(): Promise<void> {
    const before = await this.#prometheus.scrapes(this.target, 'asked');
    const holds = async () => (await this.#prometheus.scrapes(this.target, 'asked')) >= before + 5;
    if (!(await within(PATIENCE_MS, holds, 500))) throw new Error('prometheus does not scrape');
  }

  async close(): Promise<void> {
    if (this.#writer !== null) clearInterval(this.#writer);
    if (this.#target !== null) this.#prometheus.forget(this.#target);
    this.sentinel?.signal('SIGTERM');
    await this.sentinel?.ended;
    if (this.#bot !== null && !this.#bot.run.isOver()) {
      this.#bot.run.signal('SIGCONT');
      this.#bot.run.signal('SIGKILL');
      await this.#bot.run.ended;
    }
    await this.wire.close();
    await this.#there?.close();
    await Promise.all(this.#clients.map(client => client.close()));
    if (this.#isMounted) execFileSync('umount', ['-l', this.state]);
  }
}

type Book = { readonly mid: number; readonly half: number; readonly amount: string };
const CALM: Book = { mid: 1_500_000, half: 1_000, amount: '1' };
const LEVELS = 4;

/** A market of one account: a few orders on each side, which stay until it shows others. */
export class ByHand {
  readonly client: Client;
  #bids: readonly string[] = [];
  #asks: readonly string[] = [];

  constructor(client: Client) {
    this.client = client;
  }

  /** Both sides at every moment: what is new comes before what is old goes, as far as they do not cross. */
  async show(book: Partial<Book> = {}): Promise<void> {
    const { mid, half, amount } = { ...CALM, ...book };
    const [bids, asks] = [this.#bids, this.#asks];
    const at = (side: 1 | -1, i: number) => mid + side * (half + i * 1_000);
    const side = (sign: 1 | -1) =>
      Promise.all(
        Array.from({ length: LEVELS }, (_, i) => this.#place(sign < 0 ? 'buy' : 'sell', at(sign, i), amount)),
      );
    const isUp = mid > this.#mid;
    this.#mid = mid;
    for (const now of isUp ? ([1, -1] as const) : ([-1, 1] as const)) {
      if (now > 0) {
        this.#asks = await side(1);
        await this.#cancel(asks);
      } else {
        this.#bids = await side(-1);
        await this.#cancel(bids);
      }
    }
  }
  #mid = 0;

  async noAsks(): Promise<void> {
    await this.#cancel(this.#asks);
    this.#asks = [];
  }

  /** Takes what is best on the other side. */
  async takes(side: 'buy' | 'sell', major: string): Promise<void> {
    done(await this.client.placeOrder({ book: BOOK, side, type: 'market', major }));
  }

  async #cancel(oids: readonly string[]): Promise<void> {
    if (oids.length > 0) done(await this.client.cancel({ oids }));
  }

  async #place(side: 'buy' | 'sell', price: number, major: string): Promise<string> {
    const order = { book: BOOK, side, type: 'limit', price: String(price), major } as const;
    return done(await this.client.placeOrder(order)).oid;
  }
}

function done<T>(outcome: { readonly kind: string; readonly value?: T }): T {
  if (outcome.kind !== 'done') throw new Error(`the other account: ${JSON.stringify(outcome)}`);
  return outcome.value as T;
}

/** Null takes a key out. */
function merged(tree: Tree, changes: Tree): Tree {
  const result = { ...tree };
  for (const [key, value] of Object.entries(changes)) {
    const before = result[key];
    if (value === null) delete result[key];
    else if (isTree(value) && isTree(before)) result[key] = merged(before, value);
    else result[key] = value;
  }
  return result;
}

const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null && !Array.isArray(value);
