/** The second exchange of a simulated world: its market, the account of the bot there, its faults, and the way to it. */
import {
  TransportFailure,
  type Millis,
  type Transport,
  type WireReply,
  type WireRequest,
} from '../../../src/core/index.ts';
import {
  createSecondExchange,
  linkedFlows,
  type LinkedFlows,
  type SecondExchange,
  type SecondSwitches,
} from '../../../src/sandbox/index.ts';
import { Dead, type Life } from '../processes/life.ts';
import type { Fault } from './faults.ts';
import { PEER } from './network.ts';
import type { World } from './world.ts';

/** Order in a request. `price` and `amount` are decimal text. */
export type SentElsewhere = {
  readonly id: string;
  readonly side: 'buy' | 'sell';
  readonly price: string;
  readonly amount: string;
};

/** Classes of the first exchange that move the base currency without the bot, or lose what the bot has stored. */
const LEFT_OUT: readonly Fault[] = [
  ...(['lying disk', 'orders of others', 'trades of others', 'transfers', 'transactions', 'orphans'] as const),
  ...(['drawn configuration', 'changed rules', 'hedges by the book', 'hedges over dollars'] as const),
];

/** Returns the swarm without the classes that a world with a second exchange does not have. */
export const swarmElsewhere = <S extends ReadonlyMap<Fault, number>>(swarm: S): Map<Fault, number> =>
  new Map([...swarm].filter(([fault]) => !LEFT_OUT.includes(fault)));

const CALM = {
  ...{ requestDelayMinMs: 5, requestDelayMaxMs: 40, answerDelayMinMs: 5, answerDelayMaxMs: 40 },
  ...{ requestLostPips: 0, answerLostPips: 0, answerCutPips: 0, serverErrorPips: 0, rejectPips: 0 },
  ...{ iocFillPips: 10_000, lookupDelayMs: 0, tradeRecordDelayMs: 0, clockOffsetMs: 0 },
  ...{ throttle: 'off', trading: 'on', books: 'live' },
} as const satisfies Partial<SecondSwitches>;
const DELAY_MAX_MS = 3_000;
const LISTED_WITHIN_MS = 1_500;

export class ElsewhereWorld {
  readonly exchange: SecondExchange;
  readonly account: { readonly id: string; readonly key: string; readonly secret: string };
  readonly #world: World;
  readonly #flows: LinkedFlows;
  readonly #book: string;
  #stopMarket: () => void = () => undefined;

  constructor(world: World, book: string, balances: Readonly<Record<string, string>>) {
    this.#world = world;
    this.#book = book;
    const { seed } = world;
    const chance = world.chance('second exchange');
    this.exchange = createSecondExchange({
      ...{ clock: world.venueClock, seed: seed + 1_009, fees: { maker: '0.0004', taker: '0.0005' } },
      switches: CALM,
    });
    this.account = this.exchange.openAccount({ balances });
    const basis = { constantBps: chance.pick([0, 0, 3]), revertingBps: 2, revertingS: 60, walkBpsPerHour: 0 };
    this.#flows = linkedFlows({ seed, leadMs: chance.pick([0, 1_500]), basis, noiseBps: { here: 0.5, there: 0.2 } });
    this.#strike();
  }

  /** Returns the market of the first exchange, linked to that of the second, which starts with it. */
  start(): LinkedMarket {
    const [base = '', quote = ''] = this.#book.split('_');
    const there = this.#flows.there(base, quote, 3);
    there.start(this.exchange.marketplace(this.#book));
    this.#stopMarket = () => there.stop();
    return this.#flows.here(base, quote, true);
  }

  /** Ends all faults. */
  heal(): void {
    this.exchange.set(CALM);
  }

  stopMarket(): void {
    this.#stopMarket();
  }

  /** Returns the way of one life. `sent` receives each order whose bytes leave a living process. */
  transport(life: Life, deadlineMs: Millis, sent: (order: SentElsewhere) => void): Transport {
    return { send: request => this.#send(life, request, deadlineMs, sent), close: () => Promise.resolve() };
  }

  #send(
    life: Life,
    request: WireRequest,
    deadlineMs: Millis,
    sent: (order: SentElsewhere) => void,
  ): Promise<WireReply> {
    const world = this.#world;
    const what = `${request.method} ${request.target.split('?')[0]}`;
    try {
      life.step(`before sending ${what} elsewhere`);
    } catch (error) {
      if (error instanceof Dead) return NEVER;
      throw error;
    }
    const order = orderElsewhere(request);
    if (order !== null) sent(order);
    world.trace.add(`sent elsewhere #${life.number} ${what} ${order === null ? '' : JSON.stringify(order)}`);
    return new Promise((resolve, reject) => {
      let isOver = false;
      const end = (how: () => void) => {
        if (isOver) return;
        isOver = true;
        deadline.stop();
        world.touched = true;
        how();
      };
      const lost = (why: string) => end(() => reject(new TransportFailure(why, true)));
      const deadline = life.clock.after(deadlineMs, () => lost(`no complete answer within ${deadlineMs} ms`));
      this.exchange.serveRequest(request, PEER, served => {
        const reply = typeof served === 'string' ? served : 'cut' in served ? 'cut' : `${served.status} ${served.body}`;
        world.trace.add(`answer elsewhere ${what} ${reply}`);
        if (served === 'silence') return;
        life.receive(() =>
          served === 'closed' || 'cut' in served ? lost('the connection was lost') : end(() => resolve(served)),
        );
      });
      try {
        life.step(`after sending ${what} elsewhere`);
      } catch (error) {
        if (!(error instanceof Dead)) throw error;
      }
    });
  }

  /** Switches the faults of the seed on. */
  #strike(): void {
    const world = this.#world;
    const chance = world.chance('faults elsewhere');
    const pips = (fault: Fault, most: number) => Math.round(this.#drawn(fault) * most);
    const late = 40 + Math.round(this.#drawn('elsewhere late') * DELAY_MAX_MS);
    const listed = Math.round(this.#drawn('elsewhere late lists') * LISTED_WITHIN_MS);
    const isPartial = this.#drawn('elsewhere partial fills') > 0;
    this.exchange.set({
      faultScope: chance.pick(['orders', 'orders', 'writes', 'signed', 'all']),
      ...{ requestLostPips: pips('elsewhere requests lost', 3_000), lostAs: chance.pick(['closed', 'silence']) },
      ...{ answerLostPips: pips('elsewhere answers lost', 3_000), answerCutPips: pips('elsewhere answers lost', 500) },
      ...{
        serverErrorPips: pips('elsewhere errors', 2_000),
        serverErrorExecutes: chance.pick(['half', 'always', 'never']),
      },
      serverError: chance.pick(['502', '503', '504', '-1000', '-1001', '-1006', '-1007', '-1008']),
      // One in twenty and up to every second order.
      rejectPips: this.#drawn('elsewhere rejects') === 0 ? 0 : Math.max(500, pips('elsewhere rejects', 5_000)),
      rejectAs: chance.pick(['-2010', '-1013', '-1015', '-1021']),
      iocFillPips: isPartial ? chance.pick([0, 1_000, 3_000, 7_000]) : 10_000,
      ...{ requestDelayMaxMs: late, answerDelayMaxMs: late, lookupDelayMs: listed, tradeRecordDelayMs: listed },
    });
    world.often('elsewhere silence', 60_000, draw => {
      const ms = draw.between(3_000, 60_000);
      const [how, back] = draw.pick([
        [{ throttle: '418' }, { throttle: 'off' }],
        [{ throttle: '429' }, { throttle: 'off' }],
        [{ trading: 'off' }, { trading: 'on' }],
        [{ books: 'frozen' }, { books: 'live' }],
      ] as const);
      return () => this.#for('elsewhere silence', ms, how, back);
    });
    world.often('elsewhere clock', 90_000, draw => {
      const [ms, offset] = [draw.between(5_000, 90_000), draw.pick([-70_000, -3_000, 1_500, 70_000])];
      return () => this.#for('elsewhere clock', ms, { clockOffsetMs: offset }, { clockOffsetMs: 0 });
    });
  }

  #for(fault: Fault, ms: Millis, how: Partial<SecondSwitches>, back: Partial<SecondSwitches>): void {
    const world = this.#world;
    world.count(fault);
    world.trace.add(`elsewhere ${JSON.stringify(how)} for ${ms.toFixed(0)}`);
    this.exchange.set(how);
    world.clock.after(ms, () => this.exchange.set(back));
  }

  #drawn(fault: Fault): number {
    const intensity = this.#world.drawn(fault);
    if (intensity > 0) this.#world.count(fault);
    return intensity;
  }
}

export type LinkedMarket = ReturnType<LinkedFlows['here']>;

/** Returns the order in a request; `null` if it places none. */
function orderElsewhere({ method, target, body }: WireRequest): SentElsewhere | null {
  const [path = '', query = ''] = target.split('?');
  if (method !== 'POST' || !path.endsWith('/v3/order')) return null;
  const fields = new URLSearchParams(`${query}&${body}`);
  const of = (name: string) => fields.get(name) ?? '';
  const side = of('side') === 'BUY' ? 'buy' : 'sell';
  return { id: of('newClientOrderId'), side, price: of('price'), amount: of('quantity') };
}

const NEVER = new Promise<never>(() => undefined);
