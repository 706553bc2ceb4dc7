/**
 * Bugs that are planted at the seams to see whether the simulation would find them. Production code knows nothing of
 * them.
 */
import { PendingConversions } from '../../src/core/accounting/pendingConversions.ts';
import {
  BookEngine,
  Engine,
  moneyOf,
  Orders,
  type Clock,
  type ConversionDesk,
  type EngineEvent,
  type Exchange,
  type Millis,
  type Order,
  type OrderReport,
  type OwnTrade,
} from '../../src/core/index.ts';
import { AccountState, type AccountBook } from '../../src/core/engine/accountState.ts';
import type { Config } from '../../src/config.ts';
import { Budget } from '../../src/exchange/transport/budget.ts';
import { HedgeHistory } from '../../src/hedge/hedgeHistory.ts';
import { Watch } from '../../src/live/safety/heartbeat.ts';
import type { Seams } from './processes/bot.ts';
import type { Fault } from './world/faults.ts';
import { BOOK } from './world/scenario.ts';

export type Planted = {
  readonly name: string;
  /** Mistake of a careless author, in words. */
  readonly mistake: string;
  readonly seams: () => Seams;
  /** Persons act on the bot. */
  readonly actions?: boolean;
  /** The bot hedges on a second exchange. */
  readonly elsewhere?: boolean;
  /** The bot quotes several books. */
  readonly books?: boolean;
  /** The classes of faults that are on: those that alone find it. */
  readonly only?: readonly Fault[];
  /** The seed from which it is looked for: one that is known to have what it takes is quickly found again. */
  readonly from?: number;
  /** Changes a class for the length of one run; returns the way back. */
  readonly patch?: () => () => void;
};

type Timing = Config['timing'];

const timing = (change: Partial<Timing>): Seams => ({
  engineConfig: config => ({ ...config, timing: { ...config.timing, ...change } }),
});

const limits = (change: Partial<Config['limits']>): Seams => ({
  engineConfig: config => ({ ...config, limits: { ...config.limits, ...change } }),
});

const exchange = (
  wrap: (
    inner: Exchange,
    clock: { elapsed(): number; after(ms: number, call: () => void): unknown },
  ) => Partial<Exchange>,
): Seams => ({
  exchange: (inner, life) => ({ ...inner, ...wrap(inner, life.clock) }),
});

const desk = (wrap: (inner: ConversionDesk) => Partial<ConversionDesk>): Seams => ({
  desk: inner => ({ ...inner, ...wrap(inner) }),
});

const REFUSED = { kind: 'refused', code: 'assumed', message: 'assumed to have failed' } as const;

const pause = (clock: { after(ms: number, call: () => void): unknown }, ms: number): Promise<void> =>
  new Promise(resolve => clock.after(ms, () => resolve()));

/** Replaces what `orders.live` lists for as long as one run lasts. */
function listing(keep: (order: Order) => boolean): () => () => void {
  return () => {
    const original = Object.getOwnPropertyDescriptor(Orders.prototype, 'live')!;
    const before = Object.defineProperty({}, 'live', original);
    Object.defineProperty(Orders.prototype, 'live', {
      configurable: true,
      get(this: Orders): readonly Order[] {
        return (Reflect.get(before, 'live', this) as readonly Order[]).filter(keep);
      },
    });
    return () => void Object.defineProperty(Orders.prototype, 'live', original);
  };
}

/** The engine is told something else than what happened, for as long as one run lasts. */
function hearing(change: (event: EngineEvent) => EngineEvent): () => () => void {
  return () => {
    const original = Object.getOwnPropertyDescriptor(Engine.prototype, 'step')!;
    const step = original.value as Engine['step'];
    Object.defineProperty(Engine.prototype, 'step', {
      ...original,
      value(this: Engine, event: EngineEvent) {
        return step.call(this, change(event));
      },
    });
    return () => Object.defineProperty(Engine.prototype, 'step', original);
  };
}

/** Replaces a method of a class for as long as one run lasts. */
function replacing<T extends object, K extends keyof T>(
  prototype: T,
  name: K,
  instead: (original: T[K]) => T[K],
): () => () => void {
  return () => {
    const original = Object.getOwnPropertyDescriptor(prototype, name)!;
    Object.defineProperty(prototype, name, { ...original, value: instead(original.value as T[K]) });
    return () => void Object.defineProperty(prototype, name, original);
  };
}

/** Faulty watch that computes the time since the last heartbeat from the clocks of two machines. */
class ComparedClocks extends Watch {
  readonly #inner: Watch;
  readonly #silentMs: () => Millis;

  constructor(inner: Watch, clock: Clock, beatAt: () => Millis) {
    super(
      () => null,
      () => clock.elapsed(),
    );
    this.#inner = inner;
    this.#silentMs = () => Math.max(0, clock.now() - beatAt());
  }

  override get last() {
    return this.#inner.last;
  }

  override look() {
    const sight = this.#inner.look();
    return sight && { ...sight, stillMs: this.#silentMs() };
  }
}

export const PLANTED: readonly Planted[] = [
  {
    name: 'unknown is failed',
    mistake: 'a placement without an answer counts as refused, and is forgotten',
    seams: () =>
      exchange(inner => ({
        place: async order => {
          const outcome = await inner.place(order);
          return outcome.kind === 'unknown' ? REFUSED : outcome;
        },
      })),
  },
  {
    name: 'not found is rejected',
    mistake: 'five look-ups in ten seconds that find nothing prove that an order never arrived',
    seams: () =>
      exchange((inner, clock) => ({
        place: async order => {
          const outcome = await inner.place(order);
          if (outcome.kind !== 'unknown') return outcome;
          for (let tries = 0; tries < 5; tries++) {
            await pause(clock, 2_000);
            const found = await inner.lookUp({ originIds: [order.originId] });
            if (found.kind !== 'done') return outcome;
            if (found.value.length > 0) return { kind: 'done', value: { oid: found.value[0]!.oid } };
          }
          return REFUSED;
        },
      })),
  },
  {
    name: 'short fence',
    mistake: 'unknown orders are given up after 5 s',
    seams: () => timing({ requestDelayMaxMs: 5_000 }),
  },
  {
    name: 'no settle time',
    mistake: 'a closed order is settled at once, whatever trades are still to be recorded',
    seams: () => timing({ tradeReportDelayMaxMs: 0 }),
  },
  {
    name: 'unknown not reserved',
    mistake: 'orders with an unknown outcome do not count against the limits',
    seams: () => ({}),
    patch: listing(order => order.state !== 'unknown'),
  },
  {
    name: 'cap checked before the await',
    mistake: 'orders whose answer is awaited do not count against the limits',
    seams: () => ({}),
    patch: listing(order => order.state !== 'sending' && order.state !== 'intent'),
  },
  {
    name: 'no journal before the send',
    mistake: 'intents are written some time after they were sent',
    seams: () => ({ journal: journal => ({ ...journal, intend: () => undefined }) }),
  },
  {
    name: 'sends with a full disk',
    mistake: 'an intent that the disk does not take is sent all the same',
    seams: () => ({
      journal: journal => ({
        ...journal,
        intend: (commands, at) => {
          try {
            journal.intend(commands, at);
          } catch {
            // Carries on.
          }
        },
      }),
    }),
  },
  {
    name: 'blind retry',
    mistake: 'a placement without an answer is sent again under the same id',
    seams: () =>
      exchange(inner => ({
        place: async order => {
          let outcome = await inner.place(order);
          for (let tries = 0; tries < 2 && outcome.kind === 'unknown'; tries++) outcome = await inner.place(order);
          return outcome;
        },
      })),
  },
  {
    name: 'a cancel that was answered is done',
    mistake: 'whatever a cancel was answered with, the order counts as canceled',
    seams: () => ({
      exchange: inner => {
        const canceled = new Set<string>();
        const seen = new Map<string, OrderReport>();
        return {
          ...inner,
          openOrders: async query => {
            const outcome = await inner.openOrders(query);
            if (outcome.kind === 'done') for (const row of outcome.value) if (row.originId) seen.set(row.originId, row);
            return outcome;
          },
          cancel: async of => {
            const outcome = await inner.cancel(of);
            if (outcome.kind === 'done' && 'originIds' in of) for (const id of of.originIds) canceled.add(id);
            return outcome;
          },
          lookUp: async of => {
            const outcome = await inner.lookUp(of);
            if (outcome.kind !== 'done' || !('originIds' in of)) return outcome;
            const value = of.originIds.flatMap((id): OrderReport[] => {
              const row = outcome.value.find(candidate => candidate.originId === id) ?? seen.get(id);
              if (!row) return [];
              return [canceled.has(id) ? { ...row, status: 'cancelled' } : row];
            });
            return { kind: 'done', value };
          },
        };
      },
    }),
  },
  {
    name: 'a full page is the whole list',
    mistake: 'the first few open orders are taken for all of them',
    seams: () =>
      exchange(inner => ({
        openOrders: async query => {
          const outcome = await inner.openOrders(query);
          return outcome.kind === 'done' ? { kind: 'done', value: outcome.value.slice(0, 1) } : outcome;
        },
      })),
  },
  {
    name: 'tick cached for ever',
    mistake: 'the rules of the book are read once in the life of the account',
    seams: () => {
      let first: Awaited<ReturnType<Exchange['availableBooks']>> | null = null;
      return exchange(inner => ({
        availableBooks: async () => {
          const outcome = first ?? (await inner.availableBooks());
          if (outcome.kind === 'done') first = outcome;
          return outcome;
        },
      }));
    },
  },
  {
    name: 'own orders not subtracted',
    mistake: 'our own orders count as the market',
    seams: () => ({}),
    patch: () => {
      const original = Object.getOwnPropertyDescriptor(Orders.prototype, 'inBookSince') as {
        readonly value: Orders['inBookSince'];
      };
      Object.defineProperty(Orders.prototype, 'inBookSince', {
        configurable: true,
        value(this: Orders, startedAt: number, takers = false) {
          return takers ? original.value.call(this, startedAt, takers) : [][Symbol.iterator]();
        },
      });
      return () => Object.defineProperty(Orders.prototype, 'inBookSince', original);
    },
  },
  {
    name: 'stale book',
    mistake: 'the age of the book is not looked at',
    seams: () => timing({ staleAfterMs: 100_000_000 }),
  },
  {
    name: 'stale account',
    mistake: 'the age of the last read of the account is not looked at',
    seams: () => timing({ privatePollMs: 10_000_000 }),
  },
  {
    name: 'fills told apart by price and amount',
    mistake: 'two trades of one price and amount count as one',
    seams: () => {
      const seen = new Set<string>();
      return exchange(inner => ({
        userTrades: async query => {
          const outcome = await inner.userTrades(query);
          if (outcome.kind !== 'done' || query.sort === 'desc') return outcome;
          const isNew = ({ price, major, side }: OwnTrade) => {
            const key = `${side} ${price} ${major}`;
            return !seen.has(key) && seen.add(key).size > 0;
          };
          return { kind: 'done', value: outcome.value.filter(isNew) };
        },
      }));
    },
  },
  {
    name: 'fees ignored',
    mistake: 'fees are not booked',
    seams: () =>
      exchange(inner => ({
        userTrades: async query => {
          const outcome = await inner.userTrades(query);
          return outcome.kind === 'done'
            ? { kind: 'done', value: outcome.value.map(trade => ({ ...trade, feeAmount: '0' })) }
            : outcome;
        },
      })),
  },
  {
    name: 'stop without a look',
    mistake: 'a stop reports success without reading what is left',
    seams: () => ({ stop: async () => ({ left: [], ledgerMatches: true, failure: null }) }),
  },
  {
    name: 'halt in memory',
    mistake: 'a halt is not written down',
    seams: () => ({ latch: latch => ({ ...latch, set: () => undefined }) }),
  },
  {
    name: 'cancels everything',
    mistake: 'cancels name no orders, so that everybody else is canceled too',
    seams: () => ({
      exchange: inner => {
        const client = inner as Exchange & { cancelAll(): ReturnType<Exchange['cancel']> };
        return { ...inner, cancel: () => client.cancelAll() };
      },
    }),
  },
  {
    name: 'takes liquidity',
    mistake: 'orders are not post-only',
    seams: () => exchange(inner => ({ place: order => inner.place({ ...order, timeInForce: 'good till canceled' }) })),
  },
  {
    name: 'cancels wait in the limiter',
    mistake: 'cancels wait for the budget like everything else',
    seams: () =>
      exchange((inner, clock) => ({
        cancel: async of => {
          await pause(clock, 15_000);
          return inner.cancel(of);
        },
      })),
  },
  {
    name: 'leftovers forgotten',
    mistake: 'orders of earlier runs are not looked for',
    seams: () => ({
      journal: journal => ({ ...journal, leftovers: { ...journal.leftovers, orders: [] } }),
    }),
  },
  {
    name: 'marker forgotten',
    mistake: 'after a restart trades are counted from the first one again',
    seams: () => ({
      journal: journal => ({ ...journal, leftovers: { ...journal.leftovers, marker: undefined } }),
    }),
  },
  {
    name: 'run number repeats',
    mistake: 'order ids begin anew after a restart',
    seams: () => ({ journal: journal => ({ ...journal, run: 1 }) }),
  },
  {
    name: 'blind to orphans',
    mistake: 'orders that this run did not place are not seen',
    seams: () => {
      let mine: string | null = null;
      return {
        exchange: inner => ({
          ...inner,
          place: order => {
            mine = order.originId.split('-').slice(0, 2).join('-');
            return inner.place(order);
          },
          openOrders: async query => {
            const outcome = await inner.openOrders(query);
            return outcome.kind === 'done'
              ? {
                  kind: 'done',
                  value: outcome.value.filter(row => mine === null || row.originId?.startsWith(`${mine}-`)),
                }
              : outcome;
          },
        }),
      };
    },
  },
  {
    name: 'sentinel fires late',
    mistake: 'the sentinel gives the bot twice the time',
    seams: () => ({ sentinel: { options: options => ({ ...options, ttlMs: 2 * options.ttlMs }) } }),
  },
  {
    name: 'sentinel cancels once',
    mistake: 'after the first cancel the sentinel takes the book for clean',
    seams: () => {
      let hasCanceled = false;
      return {
        sentinel: {
          exchange: inner => ({
            ...inner,
            cancel: of => {
              hasCanceled = true;
              return inner.cancel(of);
            },
            openOrders: query =>
              hasCanceled ? Promise.resolve({ kind: 'done', value: [] } as const) : inner.openOrders(query),
          }),
        },
      };
    },
  },
  {
    name: 'sentinel does not latch',
    mistake: 'the sentinel cancels and leaves no halt behind',
    seams: () => ({ sentinel: { latch: latch => ({ ...latch, set: () => undefined }) } }),
  },
  {
    name: 'hedge accepted again',
    mistake: 'an acceptance without an answer is sent again',
    seams: () =>
      desk(inner => ({
        accept: async of => {
          let outcome = await inner.accept(of);
          for (let tries = 0; tries < 2 && outcome.kind === 'unknown'; tries++) outcome = await inner.accept(of);
          return outcome;
        },
      })),
  },
  {
    name: 'unknown hedge is failed',
    mistake: 'an acceptance without an answer counts as refused',
    seams: () =>
      desk(inner => ({
        accept: async of => {
          const outcome = await inner.accept(of);
          return outcome.kind === 'unknown' ? REFUSED : outcome;
        },
      })),
  },
  {
    name: 'hedge in flight not counted',
    mistake: 'conversions under way do not count against the limits',
    seams: () => ({}),
    patch: () => {
      const original = Object.getOwnPropertyDescriptor(PendingConversions.prototype, 'lots')!;
      Object.defineProperty(PendingConversions.prototype, 'lots', {
        configurable: true,
        value: () => ({ buy: 0, sell: 0 }),
      });
      return () => Object.defineProperty(PendingConversions.prototype, 'lots', original);
    },
  },
  {
    name: 'old offer accepted',
    mistake: 'the life of an offer is not looked at',
    seams: () =>
      desk(inner => ({
        offer: async (way, ask) => {
          const outcome = await inner.offer(way, ask);
          return outcome.kind === 'done' ? { kind: 'done', value: { ...outcome.value, lifeMs: 3_600_000 } } : outcome;
        },
      })),
  },
  {
    name: 'unconfirmable offer accepted',
    mistake: 'whether an offer can be confirmed is not looked at',
    seams: () =>
      desk(inner => ({
        offer: async (way, ask) => {
          const outcome = await inner.offer(way, ask);
          return outcome.kind === 'done' ? { kind: 'done', value: { ...outcome.value, canConfirm: true } } : outcome;
        },
      })),
  },
  {
    name: 'one page of conversions',
    mistake: 'the first page of the list of conversions is taken for all of it',
    seams: () => ({
      client: client => ({
        ...client,
        rfq: {
          ...client.rfq,
          conversions: async query => {
            const outcome = await client.rfq.conversions(query);
            if (outcome.kind !== 'done') return outcome;
            const { nextPageToken: _, ...page } = outcome.value;
            return { kind: 'done', value: page };
          },
        },
      }),
    }),
  },
  {
    name: 'hedges forgotten',
    mistake: 'hedges of earlier runs are not taken up',
    seams: () => ({
      journal: journal => ({ ...journal, leftovers: { ...journal.leftovers, hedges: [] } }),
    }),
  },
  {
    name: 'hedge not on disk',
    mistake: 'hedges are kept in memory',
    seams: () => ({
      journal: journal => ({ ...journal, keep: (mark, entries) => journal.keep({ ...mark, hedges: [] }, entries) }),
    }),
  },
  {
    name: 'hedge at any price',
    mistake: 'the limit of what a hedge may cost is ten times too high',
    seams: () => ({
      engineConfig: config =>
        config.hedge ? { ...config, hedge: { ...config.hedge, costMaxBps: config.hedge.costMaxBps * 10 } } : config,
    }),
  },
  {
    name: 'webhook changes a number',
    mistake: 'a deposit is booked because a delivery says so',
    seams: () => ({
      inbox: engine => ({
        told: body => {
          if (!body.includes('CRYPTO_DEPOSIT')) return;
          const at = engine()?.decidesAt ?? -Infinity;
          if (!(at > 0)) return;
          const [amount, cause] = [moneyOf('1000'), 'deposits'] as const;
          engine()?.step({
            kind: 'transfer',
            at,
            source: body,
            cause,
            currency: 'mxn',
            amount,
            occurredAt: at,
            why: 'told',
          });
        },
      }),
    }),
  },
  {
    name: 'delivery answered before it is stored',
    mistake: 'a delivery is answered, and written down some time later',
    seams: () => ({ inbox: () => ({ store: store => ({ ...store, put: batch => batch.map(() => true) }) }) }),
  },
  {
    name: 'transfer at every look',
    mistake: 'a transfer that is listed is booked under a name of its own at every look',
    seams: () => {
      let looks = 0;
      return {
        client: inner => ({
          ...inner,
          transferLines: async (list, page) => {
            const outcome = await inner.transferLines(list, page);
            if (outcome.kind !== 'done') return outcome;
            looks++;
            return { kind: 'done', value: outcome.value.map(each => ({ ...each, id: `${each.id}-${looks}` })) };
          },
        }),
      };
    },
  },
  {
    name: 'transfers forgotten',
    mistake: 'after a restart every transfer in the lists is new',
    seams: () => ({ journal: journal => ({ ...journal, leftovers: { ...journal.leftovers, transfers: [] } }) }),
  },
  {
    name: 'pause forgotten at a restart',
    mistake: 'a process heeds the pauses alone that are set while it runs',
    actions: true,
    from: 11,
    seams: () => ({
      latch: latch => {
        const atStart = JSON.stringify(latch.readPause());
        const readPause = () => {
          const pause = latch.readPause();
          return JSON.stringify(pause) === atStart ? null : pause;
        };
        return { ...latch, readPause };
      },
    }),
  },
  {
    name: 'pause ends early',
    mistake: 'a pause ends twenty seconds before its time',
    actions: true,
    from: 4,
    seams: () => ({
      latch: latch => ({
        ...latch,
        readPause: () => {
          const pause = latch.readPause();
          return pause === null || pause.until === null ? pause : { ...pause, until: pause.until - 20_000 };
        },
      }),
    }),
  },
  {
    name: 'end of a pause lifts all',
    mistake: 'what ends by itself takes every other hold with it',
    actions: true,
    seams: () => ({
      latch: latch => ({
        ...latch,
        endPause: (pause, ended) => {
          const isOver = latch.endPause(pause, ended) === true;
          if (isOver) latch.lift('the pause is over', ended.at);
          return isOver;
        },
      }),
    }),
  },
  {
    name: 'halt of a person not looked at',
    mistake: 'a halt is heeded at a start, and not while it runs',
    actions: true,
    seams: () => ({
      latch: latch => {
        let own = latch.read();
        return {
          ...latch,
          read: () => (latch.read() === null ? (own = null) : own),
          set: halt => {
            own = halt;
            latch.set(halt);
          },
        };
      },
    }),
  },
  {
    name: 'reduce forgotten at a restart',
    mistake: 'that inventory is only closed is kept in memory',
    actions: true,
    from: 25,
    seams: () => ({
      latch: latch => {
        const atStart = JSON.stringify(latch.readReduce());
        const readReduce = () => {
          const reduce = latch.readReduce();
          return JSON.stringify(reduce) === atStart ? null : reduce;
        };
        return { ...latch, readReduce };
      },
    }),
  },
  {
    name: 'reduce is only said',
    mistake: 'the regime says that inventory is only closed, and neither plan nor risk gate go by it',
    actions: true,
    from: 5,
    seams: () => ({}),
    patch: () => {
      const original = Object.getOwnPropertyDescriptor(BookEngine.prototype, 'riskContext')!;
      const contextOf = original.value as BookEngine['riskContext'];
      Object.defineProperty(BookEngine.prototype, 'riskContext', {
        ...original,
        value(this: BookEngine, at: number) {
          const context = contextOf.call(this, at as never);
          return { ...context, reduceOnly: false };
        },
      });
      return () => Object.defineProperty(BookEngine.prototype, 'riskContext', original);
    },
  },
  {
    name: 'flatten at any cost',
    mistake: 'what a flatten may cost in all is not looked at',
    actions: true,
    from: 23,
    seams: () => ({
      flatten: file => ({
        ...file,
        read: () => {
          const asked = file.read();
          return asked && { ...asked, costMax: moneyOf('1000000') };
        },
      }),
    }),
  },
  {
    name: 'flatten over too soon',
    mistake: 'a flatten is over as soon as one hedge was looked for',
    actions: true,
    seams: () => ({
      flatten: file => {
        let looks = 0;
        return {
          ...file,
          read: () => {
            const asked = file.read();
            if (asked !== null && ++looks % 40 === 0) file.end('it was looked at', asked.at);
            return asked;
          },
        };
      },
    }),
  },
  {
    name: 'cancel answered before it is done',
    mistake: 'that every order is gone is told as soon as it was asked for',
    actions: true,
    from: 10,
    seams: () => ({
      cancels: box => ({
        ...box,
        waiting: () => {
          const asked = box.waiting();
          if (asked !== null) box.answer({ id: asked.id, end: 'gone', lines: ['verified: nothing is left'] });
          return asked;
        },
      }),
    }),
  },
  {
    name: 'book dated by its arrival',
    mistake: 'the age of a book is counted from when its answer came',
    seams: () => ({}),
    patch: hearing(event =>
      event.kind === 'book' && event.startedAt !== null ? { ...event, startedAt: event.at } : event,
    ),
  },
  {
    name: 'a cancel takes no longer than a placing',
    mistake: 'a cancel without an answer after ten times the longest placing counts as done',
    only: ['slow canceling'],
    seams: () => {
      const [gaveUp, seen] = [new Set<string>(), new Map<string, OrderReport>()];
      let longest = 0;
      return exchange((inner, clock) => ({
        place: async (order, mayPlace) => {
          const from = clock.elapsed();
          const outcome = await inner.place(order, mayPlace);
          if (outcome.kind === 'done') longest = Math.max(longest, clock.elapsed() - from);
          return outcome;
        },
        openOrders: async query => {
          const outcome = await inner.openOrders(query);
          if (outcome.kind === 'done') for (const row of outcome.value) if (row.originId) seen.set(row.originId, row);
          return outcome;
        },
        cancel: async of => {
          let isAnswered = false;
          const answer = inner.cancel(of).finally(() => (isAnswered = true));
          const patience = pause(clock, 10 * longest).then(() => {
            if (!isAnswered && 'originIds' in of) for (const id of of.originIds) gaveUp.add(id);
            return { kind: 'done', value: [] } as const;
          });
          return await Promise.race([answer, patience]);
        },
        lookUp: async of => {
          if (!('originIds' in of)) return inner.lookUp(of);
          const value = of.originIds.flatMap((id): OrderReport[] => {
            const row = gaveUp.has(id) ? seen.get(id) : undefined;
            return row ? [{ ...row, status: 'cancelled' }] : [];
          });
          return value.length > 0 ? { kind: 'done', value } : inner.lookUp(of);
        },
      }));
    },
  },
  {
    name: 'removed book not heeded',
    mistake: 'a list that the book is missing from is taken for one that was cut, and the last whole one is kept',
    only: ['removed book'],
    seams: () => {
      let whole: Awaited<ReturnType<Exchange['availableBooks']>> | null = null;
      const lists = (rows: readonly { readonly book: string }[]) => rows.some(({ book }) => book === BOOK);
      return exchange(inner => ({
        availableBooks: async () => {
          const outcome = await inner.availableBooks();
          if (outcome.kind !== 'done' || whole === null || lists(outcome.value)) whole = outcome;
          return whole;
        },
      }));
    },
  },
  {
    name: 'suspended trading is a refusal',
    mistake: 'an order that is refused because nothing is traded is tried again like any other',
    only: ['suspended trading'],
    seams: () =>
      exchange(inner => ({
        place: async (order, mayPlace) => {
          const outcome = await inner.place(order, mayPlace);
          return outcome.kind === 'refused' && outcome.code === '0410' ? REFUSED : outcome;
        },
      })),
  },
  {
    name: 'fees read once',
    mistake: 'the fees of the account are those of the start',
    only: ['changed fees'],
    seams: () => {
      let first: Awaited<ReturnType<Exchange['fees']>> | null = null;
      return exchange(inner => ({
        fees: async () => {
          const outcome = await inner.fees();
          if (outcome.kind === 'done') first ??= outcome;
          return first ?? outcome;
        },
      }));
    },
  },
  {
    name: 'fee of takers ignored',
    mistake: 'a hedge by the book is chosen by its price, without the fee',
    only: ['hedges by the book'],
    seams: () =>
      exchange(inner => ({
        fees: async () => {
          const outcome = await inner.fees();
          return outcome.kind === 'done'
            ? { ...outcome, value: outcome.value.map(row => ({ ...row, taker: '0' })) }
            : outcome;
        },
      })),
  },
  {
    name: 'taker order not counted',
    mistake: 'a taker order without an answer is taken for one that did not arrive',
    only: ['hedges by the book', 'lost replies'],
    seams: () =>
      exchange(inner => ({
        place: async (order, mayPlace) => {
          const outcome = await inner.place(order, mayPlace);
          return outcome.kind === 'unknown' && order.timeInForce === 'immediate or cancel' ? REFUSED : outcome;
        },
      })),
  },
  {
    name: 'second leg at any price',
    mistake: 'what the second leg must bring is not kept with the first',
    only: ['hedges over dollars'],
    seams: () => ({}),
    patch: () => {
      const original = Object.getOwnPropertyDescriptor(HedgeHistory.prototype, 'change')!;
      const change = original.value as HedgeHistory['change'];
      Object.defineProperty(HedgeHistory.prototype, 'change', {
        ...original,
        value(this: HedgeHistory, to: Parameters<HedgeHistory['change']>[0]) {
          return change.call(this, to.route ? { ...to, route: { ...to.route, least: '0' } } : to);
        },
      });
      return () => Object.defineProperty(HedgeHistory.prototype, 'change', original);
    },
  },
  {
    name: 'route forgotten at a restart',
    mistake: 'a hedge that waits between its legs is not taken up by the next run',
    only: ['hedges over dollars', 'crashes'],
    seams: () => ({
      journal: journal => ({
        ...journal,
        leftovers: {
          ...journal.leftovers,
          hedges: journal.leftovers.hedges.filter(({ state }) => state !== 'between'),
        },
      }),
    }),
  },
  {
    name: 'clocks of two machines compared',
    mistake: "the sentinel takes the bot's clock from its own, as if both showed the same time",
    only: ['drifting clocks'],
    seams: () => {
      let readAt = -Infinity;
      return {
        exchange: (inner, life) => ({
          ...inner,
          openOrders: query => {
            readAt = life.clock.now();
            return inner.openOrders(query);
          },
        }),
        sentinel: {
          options: options => ({ ...options, watch: new ComparedClocks(options.watch, options.clock, () => readAt) }),
        },
      };
    },
  },
  {
    name: 'the journal knows every order',
    mistake: 'an open order that is not in the journal is taken for one of another program',
    only: ['lying disk', 'crashes'],
    seams: () => {
      let left: readonly string[] = [];
      return {
        journal: journal => {
          left = journal.leftovers.orders.map(({ id }) => id);
          return journal;
        },
        exchange: inner => {
          const known = new Set(left);
          return {
            ...inner,
            place: (order, mayPlace) => {
              known.add(order.originId);
              return inner.place(order, mayPlace);
            },
            openOrders: async query => {
              const outcome = await inner.openOrders(query);
              return outcome.kind === 'done'
                ? { kind: 'done', value: outcome.value.filter(({ originId }) => known.has(originId ?? '')) }
                : outcome;
            },
          };
        },
      };
    },
  },
  {
    name: 'collar not looked at',
    mistake: 'how far an order is from the market is left to the strategy, which is far from it',
    seams: () => ({
      engineConfig: config => ({
        ...config,
        limits: { ...config.limits, collarBps: 5_000 },
        ...(config.strategy.name === 'ladder' && { strategy: { ...config.strategy, halfSpreadBps: 300 } }),
      }),
    }),
  },
  {
    name: 'amount of an order not looked at',
    mistake: 'limits.orderAmountMax is left to the strategy',
    seams: () => limits({ orderAmountMax: undefined }),
  },
  {
    name: 'past prices not looked at',
    mistake: 'limits.priceMove is not handed to the risk gate',
    seams: () => limits({ priceMove: undefined }),
  },
  {
    name: 'cost of a day not looked at',
    mistake: 'hedge.costDayMax is not handed to the hedger',
    seams: () => ({
      engineConfig: config =>
        config.hedge === undefined ? config : { ...config, hedge: { ...config.hedge, costDayMax: undefined } },
    }),
  },
  {
    name: 'hedge elsewhere sent again',
    mistake: 'an order elsewhere whose answer is lost is sent once more',
    elsewhere: true,
    only: ['elsewhere answers lost', 'elsewhere requests lost'],
    seams: () => ({
      there: client => ({
        ...client,
        place: async order => {
          const first = await client.place(order);
          return first.kind === 'unknown' ? client.place(order) : first;
        },
      }),
    }),
  },
  {
    name: 'unknown hedge elsewhere is failed',
    mistake: 'an order elsewhere whose answer is lost counts as not executed',
    elsewhere: true,
    only: ['elsewhere answers lost'],
    seams: () => ({
      there: client => ({
        ...client,
        place: async order => {
          const first = await client.place(order);
          return first.kind === 'unknown' ? REFUSED : first;
        },
      }),
    }),
  },
  {
    name: 'hedge elsewhere not on disk',
    mistake: 'hedges elsewhere are kept in memory',
    elsewhere: true,
    only: [],
    seams: () => ({
      journal: journal => ({ ...journal, keep: (mark, entries) => journal.keep({ ...mark, hedges: [] }, entries) }),
    }),
  },
  {
    name: 'hedges elsewhere forgotten',
    mistake: 'a hedge elsewhere of an earlier run is not looked up',
    elsewhere: true,
    only: ['elsewhere late', 'crashes', 'crashes at a step'],
    seams: () => ({
      journal: journal => ({ ...journal, leftovers: { ...journal.leftovers, hedges: [] } }),
    }),
  },
  {
    name: 'drift without bound',
    mistake: 'the limit on drift is not handed to the engine',
    elsewhere: true,
    only: ['busy market'],
    seams: () => ({
      engineConfig: config => {
        const { hedge } = config;
        if (hedge?.elsewhere === undefined) return config;
        return { ...config, hedge: { ...hedge, elsewhere: { ...hedge.elsewhere, driftMax: '100000000' } } };
      },
    }),
  },
  {
    name: 'hedge debt without bound',
    mistake: 'the bounds of hedge debt are not handed to the engine',
    elsewhere: true,
    only: ['elsewhere rejects', 'elsewhere silence', 'busy market'],
    seams: () => ({
      engineConfig: config => {
        const { hedge, limits: all } = config;
        if (hedge?.elsewhere === undefined) return config;
        const unbounded = { ...hedge.elsewhere, debtMax: all.positionMax, failuresMax: 20 };
        return { ...config, hedge: { ...hedge, elsewhere: unbounded } };
      },
    }),
  },
  {
    name: 'funds elsewhere not looked at',
    mistake: 'sides are quoted for which the account elsewhere has no funds to hedge',
    elsewhere: true,
    only: ['elsewhere short funds', 'busy market'],
    seams: () => ({
      engineConfig: config => {
        const { hedge } = config;
        return hedge === undefined ? config : { ...config, hedge: { ...hedge, venues: [...hedge.venues, 'book'] } };
      },
    }),
  },
  {
    name: 'waits elsewhere not kept',
    mistake: 'after an answer with a waiting time, requests go on',
    elsewhere: true,
    only: ['elsewhere budget'],
    seams: () => ({}),
    patch: replacing(Budget.prototype, 'lockOut', () => () => undefined),
  },
  {
    name: 'drift in the wrong currency',
    mistake: 'the limit on drift is taken for a sum of the quote currency elsewhere',
    elsewhere: true,
    only: ['elsewhere other currency', 'busy market'],
    seams: () => ({
      engineConfig: config => {
        const { hedge, elsewhere } = config;
        if (hedge?.elsewhere === undefined || elsewhere?.book !== 'btc_usdt') return config;
        const driftMax = String(Number(hedge.elsewhere.driftMax) * 18.5);
        return { ...config, hedge: { ...hedge, elsewhere: { ...hedge.elsewhere, driftMax } } };
      },
    }),
  },
  {
    name: 'funds reserved twice',
    mistake: 'a book does not subtract what orders of the other books may spend',
    books: true,
    only: [],
    seams: () => ({}),
    patch: replacing(
      AccountState.prototype,
      'funds',
      () =>
        function (this: AccountState, currency: string) {
          return this.accounts.own.funds(currency);
        },
    ),
  },
  {
    name: 'fill of another book',
    mistake: 'a fill is booked in another book with this base currency',
    books: true,
    only: [],
    seams: () => ({}),
    patch: () => {
      const original = Object.getOwnPropertyDescriptor(Engine.prototype, 'step')!;
      const step = original.value as Engine['step'];
      const inOther = (engine: Engine, trade: OwnTrade): OwnTrade => {
        const own = engine.books.find(({ symbol }) => symbol === trade.book);
        const other = engine.books.find(book => book !== own && book.major === own?.major);
        return other === undefined ? trade : { ...trade, book: other.symbol };
      };
      Object.defineProperty(Engine.prototype, 'step', {
        ...original,
        value(this: Engine, event: EngineEvent) {
          if (event.kind !== 'trades') return step.call(this, event);
          return step.call(this, { ...event, trades: event.trades.map(trade => inOther(this, trade)) });
        },
      });
      return () => void Object.defineProperty(Engine.prototype, 'step', original);
    },
  },
  {
    name: 'inventory of other books counted twice',
    mistake: 'the home of a currency has all of it, also what belongs to the other books',
    books: true,
    only: ['crashes'],
    seams: () => ({}),
    patch: replacing(
      AccountState.prototype,
      'held',
      () =>
        function (this: AccountState, of: AccountBook) {
          return this.isHome(of) ? this.accounts.held(of.major) : of.position;
        },
    ),
  },
  {
    name: 'halt of another book',
    mistake: 'the latch of each book is that of btc_mxn',
    books: true,
    only: [],
    seams: () => ({ latchedBook: () => BOOK }),
  },
  {
    name: 'cancels of the first book',
    mistake: 'a cancel leaves out the orders of other books',
    books: true,
    only: [],
    seams: () => {
      const books = new Map<string, string>();
      const first = () => books.values().next().value;
      return exchange(inner => ({
        place: order => {
          books.set(order.originId, order.book);
          return inner.place(order);
        },
        cancel: of => {
          const ids: readonly string[] = 'originIds' in of ? of.originIds : [];
          const originIds = ids.filter(id => (books.get(id) ?? first()) === first());
          return originIds.length === 0 ? Promise.resolve({ kind: 'done', value: [] }) : inner.cancel({ originIds });
        },
      }));
    },
  },
  {
    name: 'limits by currency not looked at',
    mistake: 'accountLimits is not handed to the engine',
    books: true,
    only: ['tight limits', 'busy market'],
    seams: () => ({ engineConfig: config => ({ ...config, accountLimits: undefined }) }),
  },
];
