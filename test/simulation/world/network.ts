/** The way between the bot and the exchange, with everything that can happen on it. */
import {
  TransportFailure,
  type Millis,
  type Transport,
  type WireReply,
  type WireRequest,
} from '../../../src/core/index.ts';
import type { EmbeddedExchange } from '../../../src/sandbox/index.ts';
import type { DeskFaults } from './deskFaults.ts';
import { Dead, type Life } from '../processes/life.ts';
import type { Replies } from './replyFaults.ts';
import { errorReply, htmlReply, idsIn, isPublic, topicOf, type Topic } from './wire.ts';
import type { World } from './world.ts';

export const PEER = '203.0.113.7';

/** Who watches the wire: everything passes by here, in the order in which it happens. */
export type Watcher = {
  /** The process asks for a request to be sent; the connection may still be refused. */
  tried(request: WireRequest, topic: Topic): void;
  /** Bytes leave a living process. */
  sent(life: Life, request: WireRequest, topic: Topic): void;
  /** The exchange itself answers; what the bot will see of it may differ. */
  arrived(request: WireRequest, topic: Topic, reply: WireReply, how: Arrival): void;
  /** A whole answer reaches the process that asked. */
  answered(life: Life, request: WireRequest, topic: Topic, reply: WireReply, sentAt: Millis): void;
};

export type Arrival = { readonly sentAt: Millis; readonly again: boolean };

type Partition = {
  readonly until: Millis;
  readonly requests: boolean;
  readonly replies: boolean;
  readonly topics: readonly Topic[] | null;
};

const ENDPOINTS: readonly (readonly Topic[])[] = [
  ['place'],
  ['cancel'],
  ['open orders', 'look up'],
  ['trades', 'balance', 'ledger'],
  ['open orders', 'look up', 'trades', 'balance'],
  ['book', 'books', 'public trades'],
  ['place', 'cancel'],
];

export type NetworkOptions = {
  readonly world: World;
  readonly exchange: EmbeddedExchange;
  readonly replies: Replies;
  /** Absent where nobody converts. */
  readonly desk?: DeskFaults;
  readonly watcher: Watcher;
  readonly deadlineMs: Millis;
  /** The longest that a request is held back: what the bot's fence assumes, less a margin. */
  readonly heldMaxMs: Millis;
};

export class Network {
  readonly #options: NetworkOptions;
  readonly #latencyMs: number;
  #partitions: Partition[] = [];
  #lockedUntil: Record<'public' | 'private', Millis> = { public: -Infinity, private: -Infinity };
  /** Requests that the exchange has read. */
  readonly #read = new WeakSet<WireRequest>();
  /** The next book arrives late, and no book for so long after it. Null: books arrive as usual. */
  #silenceAfterLateBook: Millis | null = null;
  /** When those that are on their way were sent. */
  readonly #onTheirWay: Readonly<Record<OrderTopic, Set<Millis>>> = { place: new Set(), cancel: new Set() };

  constructor(options: NetworkOptions) {
    this.#options = options;
    const { world } = options;
    const latency = world.intensity('latency');
    this.#latencyMs = latency === 0 ? 15 : 15 + latency * 285;
    world.often('partitions', 90_000, chance => this.#partition(null, chance.between(2_000, 120_000)));
    world.often('endpoint partitions', 60_000, chance =>
      this.#partition(chance.pick(ENDPOINTS), chance.between(2_000, 90_000)),
    );
    world.often('late books', 60_000, chance => {
      const ms = chance.between(5_000, 40_000);
      return () => (this.#silenceAfterLateBook = ms);
    });
    world.often('lock-outs', 120_000, chance => {
      const scope = chance.hit(0.5) ? 'public' : 'private';
      const ms = chance.between(5_000, 60_000);
      return () => {
        world.count('lock-outs');
        this.#lockedUntil[scope] = world.clock.elapsed() + ms;
      };
    });
  }

  transport(life: Life): Transport {
    return { send: request => this.#send(life, request), close: () => Promise.resolve() };
  }

  #send(life: Life, request: WireRequest): Promise<WireReply> {
    const { world, watcher, deadlineMs } = this.#options;
    const topic = topicOf(request);
    try {
      life.step(`before sending ${topic}`);
    } catch (error) {
      if (error instanceof Dead) return NEVER;
      throw error;
    }
    const sentAt = world.clock.elapsed();
    watcher.tried(request, topic);
    if (world.strikes('not sent', 0.1)) {
      world.trace.add(`not sent ${topic}`);
      return Promise.reject(new TransportFailure('connection refused', false));
    }
    watcher.sent(life, request, topic);
    world.trace.add(`sent #${life.number} ${request.method} ${request.target} ${request.body}`);
    return new Promise((resolve, reject) => {
      let over = false;
      const end = (how: () => void) => {
        if (over) return;
        over = true;
        deadline.stop();
        world.touched = true;
        how();
      };
      const failed = (why: string) => end(() => reject(new TransportFailure(why, true)));
      const deadline = life.clock.after(deadlineMs, () => failed(`no complete answer within ${deadlineMs} ms`));
      const answer = (reply: WireReply) =>
        life.receive(() =>
          end(() => {
            world.trace.add(`answer ${topic} ${reply.status} ${reply.body}`);
            watcher.answered(life, request, topic, reply, sentAt);
            resolve(reply);
          }),
        );
      this.#carry(request, topic, sentAt, answer, why => life.receive(() => failed(why)));
      try {
        life.step(`after sending ${topic}`);
      } catch (error) {
        if (!(error instanceof Dead)) throw error;
      }
    });
  }

  #carry(
    request: WireRequest,
    topic: Topic,
    sentAt: Millis,
    answer: (reply: WireReply) => void,
    reset: (why: string) => void,
  ): void {
    const { world, desk, heldMaxMs } = this.#options;
    const { clock } = world;
    const chance = world.chance('network');
    if (this.#isCut('requests', topic)) {
      world.trace.add(`cut ${topic}`);
      return;
    }
    if (world.strikes('lost requests', 0.3) || desk?.isLost(topic) === true) return;
    const late = world.struck('late delivery', 0.05, () => chance.between(6_000, heldMaxMs)) ?? 0;
    const held = Math.max(late, desk?.heldMs(topic) ?? 0);
    const there = held + this.#latency() + this.#orderLatency(topic);
    if (isOrderTopic(topic)) this.#onTheirWay[topic].add(sentAt);
    clock.after(there, () => {
      if (isOrderTopic(topic)) this.#comes(topic, sentAt);
      // Before or after the exchange has read it: the bot cannot tell.
      const isRead = world.struck('resets', 0.08, () => chance.hit(0.5));
      if (isRead !== null) {
        if (isRead) this.#arrive(request, topic, { sentAt, again: false });
        clock.after(this.#latency(), () => reset('the connection was reset'));
        return;
      }
      let reply = this.#arrive(request, topic, { sentAt, again: false });
      const afterMs = () => chance.between(0, 3_000);
      const retriedAfter = world.struck('proxy retries', 0.05, afterMs);
      const retried = retriedAfter !== null;
      const againAfter = retriedAfter ?? world.struck('duplicates', 0.05, afterMs);
      if (againAfter !== null) {
        clock.after(againAfter, () => {
          world.marks.see('a request arrived twice');
          const second = this.#arrive(request, topic, { sentAt, again: true });
          if (retried) this.#back(second, topic, answer);
        });
        if (retried) return;
      }
      const share = world.struck('truncated bodies', 0.05, () => chance.next());
      if (share !== null) reply = { ...reply, body: reply.body.slice(0, Math.floor(reply.body.length * share)) };
      this.#back(reply, topic, answer);
    });
  }

  #back(reply: WireReply, topic: Topic, answer: (reply: WireReply) => void): void {
    const { world, desk } = this.#options;
    if (this.#isCut('replies', topic) || world.strikes('lost replies', 0.3)) return;
    const held = topic === 'book' ? this.#lateBookMs() : (desk?.answerHeldMs(topic) ?? 0);
    if (held === null) return;
    world.clock.after(held + this.#latency(), () => answer(reply));
  }

  /** Time in ms by which an answer with a book is held back; later books are cut off. */
  #lateBookMs(): Millis {
    const { world, deadlineMs } = this.#options;
    const silence = this.#silenceAfterLateBook;
    if (silence === null || !world.isFaulty) return 0;
    this.#silenceAfterLateBook = null;
    world.count('late books');
    const held = world.chance('late book').between(0.4 * deadlineMs, 0.9 * deadlineMs);
    this.#partitions.push({
      ...{ until: world.clock.elapsed() + held + silence, requests: true, replies: false },
      topics: ['book'],
    });
    return held;
  }

  /** At the exchange's door, or at what stands before it. */
  #arrive(request: WireRequest, topic: Topic, how: Arrival): WireReply {
    const { world, desk } = this.#options;
    const chance = world.chance('door');
    const status = world.struck('html replies', 0.04, () => chance.pick([200, 403, 502, 503]));
    if (status !== null) return htmlReply(status);
    const scope = isPublic(topic) ? 'public' : 'private';
    // The exchange checks the nonce before all else, so it knows a request that it has read before.
    const isKnown = this.#read.has(request);
    if (!isKnown && world.isFaulty && topic !== 'cancel' && world.clock.elapsed() < this.#lockedUntil[scope]) {
      return errorReply(420, '0801', 'Too many requests');
    }
    if (topic === 'cancel' && world.clock.elapsed() < this.#lockedUntil.private) {
      world.marks.see('a lock-out while canceling');
    }
    const error = world.struck('errors not applied', 0.08, () => this.#serverError());
    if (error !== null) return error;
    const instead = isKnown ? null : this.#options.replies.instead(topic, request);
    if (instead !== null) return instead;
    const reply = desk
      ? desk.arrive(request, topic, () => this.#respond(request, topic, how))
      : this.#respond(request, topic, how);
    const applied = world.struck('errors though applied', 0.08, () => this.#serverError());
    if (applied !== null) return applied;
    return this.#options.replies.changed(request, topic, reply);
  }

  #respond(request: WireRequest, topic: Topic, how: Arrival): WireReply {
    const { world, exchange, watcher } = this.#options;
    this.#read.add(request);
    const reply = exchange.respond(request, PEER);
    world.trace.add(`arrived ${topic} ${how.again ? 'again ' : ''}${reply.status} ${idsIn(request).join(',')}`);
    watcher.arrived(request, topic, reply, how);
    return reply;
  }

  #serverError(): WireReply {
    const chance = this.#options.world.chance('server error');
    return chance.pick([
      errorReply(500, '0101', 'Unknown error'),
      errorReply(400, '1003', 'The operation timed out'),
      errorReply(503, '1002', 'The operation could not be processed'),
      htmlReply(502),
      { status: 504, headers: {}, body: '' },
    ]);
  }

  #partition(topics: readonly Topic[] | null, ms: Millis): () => void {
    const { world } = this.#options;
    const way = world.chance('partition').integer(0, 2);
    return () => {
      world.count(topics === null ? 'partitions' : 'endpoint partitions');
      this.#partitions.push({ until: world.clock.elapsed() + ms, requests: way !== 1, replies: way !== 0, topics });
      world.trace.add(`partition ${topics?.join(',') ?? 'all'} for ${ms.toFixed(0)}`);
    };
  }

  #isCut(way: 'requests' | 'replies', topic: Topic): boolean {
    const { world } = this.#options;
    if (!world.isFaulty) return false;
    this.#partitions = this.#partitions.filter(cut => world.clock.elapsed() < cut.until);
    return this.#partitions.some(cut => cut[way] && (cut.topics === null || cut.topics.includes(topic)));
  }

  /** Whether the market-data stream of a book cannot pass; without a book, that of the only one. */
  isStreamCut(book?: string): boolean {
    return this.#options.replies.isHidden(book) || this.#isCut('replies', 'book') || this.#isCut('requests', 'book');
  }

  /** Additional time in ms of placing and canceling, compared with other requests. */
  #orderLatency(topic: Topic): Millis {
    const { world } = this.#options;
    const intensity = isOrderTopic(topic) ? world.intensity(SLOW[topic]) : 0;
    if (!isOrderTopic(topic) || intensity === 0) return 0;
    if (!world.faults.has(SLOW[topic])) world.count(SLOW[topic]);
    return Math.min(ORDER_LATENCY_MAX_MS, -Math.log(1 - world.chance(SLOW[topic]).next()) * intensity * 2_000);
  }

  #comes(topic: OrderTopic, sentAt: Millis): void {
    const { world } = this.#options;
    this.#onTheirWay[topic].delete(sentAt);
    const other = topic === 'place' ? 'cancel' : 'place';
    const isOvertaken = [...this.#onTheirWay[other]].some(before => before < sentAt);
    if (isOvertaken && world.intensity(SLOW[other]) > world.intensity(SLOW[topic]))
      world.marks.see(topic === 'place' ? 'a placement overtook a cancel' : 'a cancel overtook a placement');
  }

  #latency(): Millis {
    const chance = this.#options.world.chance('latency');
    return Math.min(4_000, 1 - Math.log(1 - chance.next()) * this.#latencyMs);
  }
}

type OrderTopic = 'place' | 'cancel';

const isOrderTopic = (topic: Topic): topic is OrderTopic => topic === 'place' || topic === 'cancel';
const SLOW = { place: 'slow placing', cancel: 'slow canceling' } as const;
const ORDER_LATENCY_MAX_MS = 5_000;
const NEVER = new Promise<never>(() => undefined);
