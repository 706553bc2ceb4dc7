/** A hedger on a real engine and a toy desk: what it tells, stores and sends, and what the exchange has of it. */
import {
  moneyOf,
  textOfMoney,
  VirtualClock,
  type Amount,
  type ConversionDesk,
  type EngineEvent,
  type EngineNews,
  type HedgeRow,
  type Millis,
} from '../../src/core/index.ts';
import {
  Hedger,
  hedgeInputsOf,
  type FlattenRequest,
  type HedgeSetup,
  type HedgeInputs,
} from '../../src/hedge/index.ts';
import { ToyExchange, quoteAround } from '../core/toyExchange.ts';
import { plain } from '../core/market.ts';
import { ToyDesk } from './toyDesk.ts';

const ONE = 10n ** 18n;
const OPENING = 1_000_000_000n;

export type BotChanges = Partial<Omit<HedgeSetup, 'desk' | 'rules'>> & {
  readonly rules?: Partial<HedgeSetup['rules']>;
  readonly away?: readonly number[];
  readonly noOrders?: boolean;
};
export type Log = { readonly level: 'info' | 'warn'; readonly fields: object; readonly text: string };

export class HedgedBot {
  readonly clock = new VirtualClock();
  readonly toy = new ToyDesk(this.clock);
  readonly desk: ToyExchange;
  readonly setup: HedgeSetup;
  hedger: Hedger;
  /** Rows as they are on disk. */
  disk: readonly HedgeRow[] = [];
  accepts = true;
  mayAct = true;
  flatten: { id: string; costMax: ReturnType<typeof moneyOf> } | null = null;
  readonly ended: string[] = [];
  readonly told: EngineEvent[] = [];
  readonly log: Log[] = [];
  /** Called for each new view, before it is made. */
  onView: () => void = () => undefined;
  change: (view: HedgeInputs) => HedgeInputs = view => view;
  failure: Error | null = null;
  balancesAt = 0;
  readonly #noOrders: boolean;
  #lives = 0;

  /** Long by so many lots of one btc, which are worth 1,000 mxn; short below zero. */
  constructor(lots: number, { rules = {}, away = [], noOrders = false, ...changes }: BotChanges = {}) {
    this.#noOrders = noOrders;
    this.setup = {
      desk: this.toy,
      venues: ['rfq'],
      rules: {
        ...{ band: moneyOf('5'), residual: moneyOf('0'), costMaxBps: 30, carryBpsPerHour: 0, unwindMs: 1 },
        ...rules,
      },
      ...{ everyMs: 2_000, pauseMs: 10_000, quoteLifeMinMs: 4_000 },
      ...{ requestDelayMaxMs: 11_000, tradeReportDelayMaxMs: 3_000 },
      ...changes,
    };
    const onNews = (news: EngineNews) => this.hedger?.onNews(news);
    this.desk = new ToyExchange({
      strategy: quoteAround(...away),
      target: Number(OPENING - BigInt(lots)) as Amount,
      onNews,
    });
    this.desk.bids = [[999, 50]];
    this.desk.asks = [[1_001, 50]];
    this.hedger = this.#made();
    this.desk.now = this.clock.now();
    this.desk.open();
    this.readBalances();
    this.look();
  }

  get inventory(): number {
    return Number(textOfMoney(this.desk.engine.book.snapshot(this.desk.now).booked.inventory));
  }

  get rows(): readonly HedgeRow[] {
    return this.hedger.rows;
  }

  get last(): HedgeRow {
    return this.rows.at(-1)!;
  }

  get texts(): string {
    return this.log.map(({ text }) => text).join('\n');
  }

  /** Conversions as they were told to the engine: phase and id. */
  get phases(): string[] {
    return this.told.flatMap(event => (event.kind === 'conversion' ? [`${event.phase} ${event.conversion.id}`] : []));
  }

  /** The bot dies, and another one starts from what the disk has. */
  restart(): void {
    this.hedger = this.#made();
    this.hedger.restore();
  }

  /** Balance of a currency at the exchange. */
  total(currency: string): bigint {
    const orders = [...this.desk.truth.values()].reduce((sum, { side, filled, price }) => {
      const sign = side === 'buy' ? 1n : -1n;
      if (currency === 'btc') return sum + sign * BigInt(filled) * ONE;
      return currency === 'mxn' ? sum - sign * BigInt(filled * price) * ONE : sum;
    }, 0n);
    return (
      (currency === 'usd' ? 0n : OPENING * ONE) + orders + this.toy.moved(currency) + (this.others[currency] ?? 0n)
    );
  }

  /** Amounts that others moved. */
  readonly others: Record<string, bigint> = {};

  readBalances(): void {
    this.desk.now = this.balancesAt = this.clock.now();
    const balances = ['btc', 'mxn', 'usd'].map(currency => {
      const total = textOfMoney(this.total(currency) as never);
      return { currency, total, locked: '0', available: total };
    });
    this.desk.step({ kind: 'balances', at: this.desk.now, startedAt: this.desk.now, quiet: true, balances });
  }

  /** The book, trades and orders are read. */
  look(): void {
    this.desk.now = this.clock.now();
    this.desk.round(0);
  }

  /** Time passes in steps: at each the book and balances are read, and the hedger looks. */
  async passes(ms: Millis, everyMs = 1_000): Promise<void> {
    for (let passed = 0; passed < ms; passed += everyMs) {
      this.look();
      this.readBalances();
      this.turn();
      await this.clock.advance(Math.min(everyMs, ms - passed));
    }
    if (this.failure !== null) throw this.failure;
  }

  turn(): void {
    void this.hedger.turn().catch((error: unknown) => (this.failure = error as Error));
  }

  /** One look that has come to its end. */
  async turned(): Promise<void> {
    this.look();
    this.turn();
    await this.clock.advance(0);
    if (this.failure !== null) throw this.failure;
  }

  #made(): Hedger {
    const life = ++this.#lives;
    const write = (level: Log['level']) => (fields: object, text: string) =>
      void this.log.push({ level, fields, text });
    const flatten: FlattenRequest = {
      current: () => this.flatten,
      end: why => {
        this.ended.push(why);
        this.flatten = null;
        return true;
      },
    };
    // A dead bot hears no answer.
    const heard = async <T>(answer: Promise<T>): Promise<T> => {
      const value = await answer;
      return life === this.#lives ? value : new Promise<never>(() => undefined);
    };
    const { toy } = this;
    const desk: ConversionDesk = {
      pairs: () => heard(toy.pairs()),
      offer: (...of) => heard(toy.offer(...of)),
      accept: (...of) => heard(toy.accept(...of)),
      state: (...of) => heard(toy.state(...of)),
      find: (...of) => heard(toy.find(...of)),
    };
    return new Hedger({
      setup: { ...this.setup, desk },
      run: {
        clock: this.clock,
        time: () => this.clock.now(),
        log: { info: write('info'), warn: write('warn') },
        step: event => {
          this.desk.now = this.clock.now();
          this.told.push(event);
          this.desk.step(event);
        },
      },
      kept: {
        rows: this.disk,
        prefix: `mm-h${life}-`,
        ...(this.#noOrders ? {} : { orders: { instance: 'mm', run: life } }),
      },
      pair: plain,
      view: () => {
        this.onView();
        const of = { instrument: plain, takerRate: 0, balancesAt: this.balancesAt };
        return this.change(hedgeInputsOf(this.desk.engine, of, this.clock.now()));
      },
      persist: () => {
        if (this.accepts) this.disk = this.hedger.rows;
        return this.accepts;
      },
      mayAct: () => this.mayAct,
      flatten,
    });
  }
}
