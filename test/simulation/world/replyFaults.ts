/** Answers that the exchange gave in good faith and that reach the bot old, cut or wrong, as caches and replicas make them. */
import type { Millis, WireReply, WireRequest } from '../../../src/core/index.ts';
import type { Chance } from './chance.ts';
import { envelopeOf, errorReply, isSuccess, payloadReply, type Topic } from './wire.ts';
import type { World } from './world.ts';

type Level = { readonly price: string; readonly amount: string };
type BookPayload = { asks: Level[]; bids: Level[]; sequence: string; updated_at: string };
type BookFault = 'frozen' | 'one-sided' | 'crossed' | 'empty' | 'only ours';
type RulesPayload = { book: string; tick_size: string; minimum_amount: string }[];

export type ReplyFaultsOptions = {
  readonly world: World;
  readonly book: string;
  /** Prices of our live orders of a side, as the exchange has them. */
  readonly ours: (side: 'buy' | 'sell') => ReadonlySet<number>;
  /** The announced rules have changed: the factors of amount and tick. */
  readonly onRules: (factors: readonly [amount: number, tick: number]) => void;
};

/** Replies on the wire to one process. */
export type Replies = {
  /** Whether the book is removed and no longer shown; without a book, the only one. */
  isHidden(book?: string): boolean;
  instead(topic: Topic, request: WireRequest): WireReply | null;
  changed(request: WireRequest, topic: Topic, reply: WireReply): WireReply;
};

const KEPT_MS = 20_000;
/** Longest lag of a read; the bot's settle time must cover it. */
const LAG_MAX_MS = 8_000;

export class ReplyFaults implements Replies {
  readonly #options: ReplyFaultsOptions;
  /** Earlier answers by target. */
  readonly #past = new Map<string, { readonly at: Millis; readonly reply: WireReply }[]>();
  #bookFault: { readonly kind: BookFault; readonly until: Millis } | null = null;
  #frozen: WireReply | null = null;
  /** The tick that is announced is so many times the true one, and the smallest amount so many times. */
  tickFactor = 1;
  amountFactor = 1;
  /** The book is in no list; `isShown`: what it holds is still answered. */
  #removal: { readonly isShown: boolean } | null = null;

  constructor(options: ReplyFaultsOptions) {
    this.#options = options;
    const { world } = options;
    const spell = (kind: BookFault, ms: Millis) => {
      this.#bookFault = { kind, until: world.clock.elapsed() + ms };
      this.#frozen = null;
      world.trace.add(`book ${kind} for ${ms.toFixed(0)}`);
    };
    const spells = [
      ['frozen book', 'frozen', 120_000],
      ['one-sided book', 'one-sided', 30_000],
      ['crossed book', 'crossed', 20_000],
      ['empty book', 'empty', 30_000],
      ['only ours in the book', 'only ours', 30_000],
    ] as const;
    for (const [fault, kind, longest] of spells) {
      let isWaiting = false;
      const begin = (chance: Chance): (() => void) => {
        isWaiting = false;
        if (kind === 'only ours' && (options.ours('buy').size === 0 || options.ours('sell').size === 0))
          return () => {
            isWaiting = true;
            world.clock.after(500, () => world.isFaulty && begin(chance)());
          };
        const ms = chance.between(2_000, longest);
        return () => {
          world.count(fault);
          spell(kind, ms);
        };
      };
      world.often(fault, 60_000, chance => (isWaiting ? null : begin(chance)));
    }
    const change = (chance: Chance) => {
      const amount = chance.hit(0.5) ? null : chance.pick([1, 10, 1_000]);
      return () => {
        world.count('changed rules');
        if (amount === null) this.tickFactor = this.tickFactor === 1 ? 2 : 1;
        else this.amountFactor = amount;
        options.onRules([this.amountFactor, this.tickFactor]);
      };
    };
    // The first comes early, so that everybody has had the time to read the new rules before the faults end.
    if (world.intensity('changed rules') > 0) {
      const chance = world.chance('rules');
      world.clock.after(chance.between(5_000, 60_000), () => world.happens('changed rules', change(chance)));
    }
    world.often('changed rules', 600_000, change);
  }

  /** What the bot is told of the rules differs no more. */
  heal(): void {
    this.#removal = null;
    if (this.tickFactor === 1 && this.amountFactor === 1) return;
    this.tickFactor = 1;
    this.amountFactor = 1;
    this.#options.onRules([1, 1]);
  }

  remove(isShown: boolean): void {
    this.#removal = { isShown };
    this.#options.world.trace.add(`book removed${isShown ? ', and still shown' : ''}`);
  }

  listAgain(): void {
    if (this.#removal !== null) this.#options.world.trace.add('book listed again');
    this.#removal = null;
  }

  get isRemoved(): boolean {
    return this.#removal !== null;
  }

  /** Whether the book is removed and no longer shown. */
  isHidden(_book?: string): boolean {
    return this.#removal?.isShown === false;
  }

  /** Reply that is given without asking the exchange; null: the exchange is asked. */
  instead(topic: Topic, _request?: WireRequest): WireReply | null {
    const isUnknown = topic === 'place' ? this.isRemoved : topic === 'book' && this.isHidden();
    return isUnknown ? errorReply(400, '0301', 'Unknown OrderBook') : null;
  }

  changed(request: WireRequest, topic: Topic, reply: WireReply): WireReply {
    if (!isSuccess(reply)) return reply;
    switch (topic) {
      case 'open orders':
        return this.#lagging(request, reply);
      case 'cancel':
        return this.#cancelReply(reply);
      case 'book':
        return this.#bookReply(request, reply);
      case 'books':
        return this.#rulesReply(reply);
      case 'place':
      case 'look up':
      case 'trades':
      case 'balance':
      case 'fees':
      case 'public trades':
      case 'ledger':
      case 'pairs':
      case 'quote':
      case 'accept':
      case 'conversion':
      case 'conversions':
        return reply;
    }
  }

  /** From a replica that is behind: what was true up to some seconds ago. */
  #lagging(request: WireRequest, reply: WireReply): WireReply {
    const { world } = this.#options;
    const past = this.#remember(request.target, reply);
    const lag = world.struck('lagging reads', 0.8, () => world.chance('lag').between(0, LAG_MAX_MS));
    if (lag === null) return reply;
    const from = world.clock.elapsed() - lag;
    return past.find(({ at }) => at >= from)?.reply ?? reply;
  }

  #remember(target: string, reply: WireReply): { at: Millis; reply: WireReply }[] {
    const now = this.#options.world.clock.elapsed();
    let past = this.#past.get(target) ?? [];
    past = past.filter(({ at }) => at >= now - KEPT_MS);
    past.push({ at: now, reply });
    this.#past.set(target, past);
    return past;
  }

  #cancelReply(reply: WireReply): WireReply {
    const { world } = this.#options;
    const listed = envelopeOf(reply)!.payload as string[];
    if (listed.length > 0 && world.strikes('empty cancels', 0.3)) return payloadReply([]);
    const some = () => listed.filter(() => world.chance('partial').hit(0.5));
    const partial = listed.length > 1 ? world.struck('partial cancels', 0.5, some) : null;
    return partial === null ? reply : payloadReply(partial);
  }

  #bookReply(request: WireRequest, reply: WireReply): WireReply {
    const { world } = this.#options;
    const past = this.#remember(request.target.replace(/aggregate=\w+/, ''), reply);
    if (past.length > 1 && world.strikes('sequence back', 0.3)) return past[0]!.reply;
    const fault = this.#bookFault;
    if (!fault || !world.isFaulty || world.clock.elapsed() >= fault.until) return reply;
    if (fault.kind === 'frozen') return (this.#frozen ??= reply);
    const { payload } = envelopeOf(reply) as { payload: BookPayload };
    const chance = world.chance('book');
    if (fault.kind === 'empty') return payloadReply({ ...payload, bids: [], asks: [] });
    if (fault.kind === 'one-sided') {
      return payloadReply({ ...payload, ...(chance.hit(0.5) ? { bids: [] } : { asks: [] }) });
    }
    const [bid] = payload.bids;
    const [ask] = payload.asks;
    if (!bid || !ask) return reply;
    if (fault.kind === 'crossed') {
      return payloadReply({
        ...payload,
        bids: [{ ...bid, price: ask.price }, ...payload.bids],
        asks: [{ ...ask, price: bid.price }, ...payload.asks],
      });
    }
    const ours = { buy: this.#options.ours('buy'), sell: this.#options.ours('sell') };
    return payloadReply({
      ...payload,
      bids: payload.bids.filter(level => ours.buy.has(Number(level.price))),
      asks: payload.asks.filter(level => ours.sell.has(Number(level.price))),
    });
  }

  #rulesReply(reply: WireReply): WireReply {
    if (this.tickFactor === 1 && this.amountFactor === 1 && !this.isRemoved) return reply;
    const { payload } = envelopeOf(reply) as { payload: RulesPayload };
    if (this.isRemoved) return payloadReply(payload.filter(row => row.book !== this.#options.book));
    return payloadReply(
      payload.map(row =>
        row.book === this.#options.book
          ? {
              ...row,
              tick_size: String(Number(row.tick_size) * this.tickFactor),
              minimum_amount: (Number(row.minimum_amount) * this.amountFactor).toFixed(8),
            }
          : row,
      ),
    );
  }
}
