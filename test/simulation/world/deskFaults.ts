/** What goes wrong between the hedger and the exchange's two conversion desks, beside everything that the network does to any request. */
import type { Millis, WireReply, WireRequest } from '../../../src/core/index.ts';
import type { EmbeddedExchange, Switches } from '../../../src/sandbox/index.ts';
import { errorReply, htmlReply, isDesk, quoteIn, type Topic } from './wire.ts';
import type { World } from './world.ts';

export type DeskFaultsOptions = {
  readonly world: World;
  readonly exchange: EmbeddedExchange;
  readonly deadlineMs: Millis;
  readonly heldMaxMs: Millis;
};

type Set = Partial<Switches>;

/** Longest time for which a conversion is stuck: less than the bot has to come right. */
const STUCK_MAX_MS = 60_000;

export class DeskFaults {
  readonly #options: DeskFaultsOptions;
  /** Until then the list of conversions cannot be reached. */
  #cutUntil: Millis = -Infinity;

  constructor(options: DeskFaultsOptions) {
    this.#options = options;
    const { world } = options;
    world.often('conversion list cut', 60_000, chance => {
      const ms = chance.between(5_000, 90_000);
      return () => {
        world.count('conversion list cut');
        this.#cutUntil = world.clock.elapsed() + ms;
      };
    });
  }

  /** The request never arrives. */
  isLost(topic: Topic): boolean {
    const { world } = this.#options;
    if (!isDesk(topic)) return false;
    if (topic === 'conversions' && world.isFaulty && world.clock.elapsed() < this.#cutUntil) return true;
    return world.strikes('desk requests lost', topic === 'accept' ? 1 : 0.2);
  }

  /** The request is held for so long. */
  heldMs(topic: Topic): Millis {
    const { world, heldMaxMs } = this.#options;
    if (!isDesk(topic)) return 0;
    const chance = world.chance('desk held');
    const draw = () => (chance.hit(0.5) ? chance.between(500, 10_000) : chance.between(6_000, heldMaxMs));
    return world.struck('desk requests late', topic === 'accept' ? 1 : 0.2, draw) ?? 0;
  }

  /** The answer is held for so long; null: it never comes. */
  answerHeldMs(topic: Topic): Millis | null {
    const { world, deadlineMs } = this.#options;
    if (!isDesk(topic)) return 0;
    if (world.strikes('desk answers lost', topic === 'accept' ? 1 : 0.2)) return null;
    const draw = () => world.chance('desk answer').between(200, deadlineMs * 1.1);
    return world.struck('desk answers late', 0.5, draw) ?? 0;
  }

  /** The exchange works on it, in whatever state its desks are just then. */
  arrive(request: WireRequest, topic: Topic, respond: () => WireReply): WireReply {
    const { world, exchange } = this.#options;
    if (!isDesk(topic)) return respond();
    const isError = world.strikes('desk errors', topic === 'accept' ? 0.8 : 0.3);
    if (isError && world.chance('desk error').hit(0.5)) return this.#error();
    const undo = this.#set(topic === 'accept' ? this.#accepting(request) : topic === 'quote' ? this.#quoting() : {});
    const reply = respond();
    exchange.venue.set(undo);
    return isError ? this.#error() : reply;
  }

  #quoting(): Set {
    const { world } = this.#options;
    const pips = world.struck('unconfirmable quotes', 1, () => world.chance('capacity').integer(0, 2));
    return pips === null ? {} : { rfqCapacityPips: pips };
  }

  #accepting(request: WireRequest): Set {
    const { world, exchange } = this.#options;
    const chance = world.chance('accepting');
    if (world.strikes('quotes withdrawn', 1)) exchange.rfq.cancel(quoteIn(request));
    const fails = world.strikes('conversions fail', 1);
    // Read when it ends: it holds until the next one.
    exchange.venue.set({ conversionOutcome: fails ? 'failed' : 'completed' });
    const ms = world.struck('conversions stuck', 1, () => Math.round(chance.between(5_000, STUCK_MAX_MS)));
    return {
      ...(fails ? { rfqFailurePips: 10_000 } : {}),
      ...(ms === null ? {} : { rfqDelayMinMs: ms, rfqDelayMaxMs: ms, conversionQueueMs: ms }),
      ...(world.strikes('capacity gone', 1) ? { rfqCapacityPips: 0 } : {}),
    };
  }

  /** Sets switches for one request; returns what they were. */
  #set(to: Set): Set {
    const { venue } = this.#options.exchange;
    const before = Object.fromEntries(Object.keys(to).map(name => [name, venue.switches[name as keyof Switches]]));
    venue.set(to);
    return before;
  }

  #error(): WireReply {
    const { world } = this.#options;
    return world
      .chance('desk error')
      .pick([
        errorReply(500, '0101', 'Unknown error'),
        errorReply(503, '1002', 'The operation could not be processed'),
        { status: 500, headers: { 'content-type': 'application/json' }, body: RFQ_ERROR },
        htmlReply(502),
        { status: 504, headers: {}, body: '' },
      ]);
  }
}

const RFQ_ERROR = JSON.stringify({ errors: [{ code: 'unexpected', message: 'An unexpected error happened' }] });
