/**
 * Realm of one of the user's own files: its own `Object`, `Array`, `Math` and so on, so that a file that
 * changes them changes neither the program nor another file. Without clocks, random numbers and timers, because a
 * backtest would differ from run to run, and no time limit could end a loop in a timer.
 */
import { constants, createContext, Script, type Context } from 'node:vm';

export type OwnRealm = {
  readonly context: Context;
  /** Global object as the file sees it. A change throws, because the memory of a strategy belongs to `make`. */
  readonly shown: unknown;
};

/** Global functions that run code after the call that started it, where no time limit can end a loop. */
const TIMERS = ['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask'] as const;
/** Members of `process` that would end the bot with live orders, and its timer. */
const ENDS: readonly unknown[] = ['exit', 'reallyExit', 'kill', 'abort', 'nextTick'];
/** Members of global objects that return the time or random numbers. */
const CHANCE: Readonly<Record<string, readonly unknown[]>> = {
  process: ['hrtime', 'uptime'],
  performance: ['now', 'timeOrigin', 'mark', 'measure'],
  crypto: ['getRandomValues', 'randomUUID'],
};

/** Removes the clock and the random numbers of the language from a realm; `refuse` throws, with the name. */
const withoutClock = new Script(
  `(refuse => {
    const Clock = Date;
    Math.random = () => refuse('Math.random');
    Clock.now = () => refuse('Date.now');
    globalThis.Date = new Proxy(Clock, {
      construct: (own, given, by) => (given.length === 0 ? refuse('new Date()') : Reflect.construct(own, given, by)),
      apply: () => refuse('Date()'),
    });
    Clock.prototype.constructor = globalThis.Date;
  })`,
  { filename: 'realm of a file' },
);

/** Returns a new realm. `given`: what the file may use instead of clocks and random numbers, for the message. */
export function ownRealm(given: string): OwnRealm {
  const context = createContext(constants.DONT_CONTEXTIFY);
  const refuse = (name: string, remedy = ''): never => {
    throw new Error(`this file cannot call ${name}${remedy}`);
  };
  const refuseChance = (name: string): never => refuse(name, `; ${given}`);
  const refuseSet = (name: string) => (_: object, key: string | symbol) => {
    throw new Error(`this file cannot set ${name}.${String(key)}; keep its memory in the variables of make`);
  };
  const changes = (name: string) => ({
    set: refuseSet(name),
    defineProperty: refuseSet(name),
    deleteProperty: refuseSet(name),
  });
  /** Returns a global object of the process without the members that files cannot use. */
  const guardedGlobal = (name: 'process' | 'performance' | 'crypto'): unknown =>
    new Proxy<object>(globalThis[name], {
      ...changes(name),
      get: (own, key) => {
        const path = `${name}.${String(key)}`;
        if (name === 'process' && ENDS.includes(key)) return () => refuse(path);
        if (CHANCE[name]!.includes(key)) return () => refuseChance(path);
        const value: unknown = Reflect.get(own, key);
        return typeof value === 'function' ? (value.bind(own) as unknown) : value;
      },
    });
  const own: Readonly<Record<string, unknown>> = {
    console: Object.freeze({ ...console }),
    ...Object.fromEntries((['process', 'performance', 'crypto'] as const).map(name => [name, guardedGlobal(name)])),
    ...Object.fromEntries(TIMERS.map(name => [name, () => refuse(name)])),
  };
  // `global` would be the global object of the process.
  for (const name of Object.getOwnPropertyNames(globalThis).filter(each => each !== 'global'))
    if (!Object.hasOwn(own, name) && !Object.hasOwn(context, name))
      Object.defineProperty(context, name, { get: () => Reflect.get(globalThis, name) as unknown });
  Object.assign(context, own);
  (withoutClock.runInContext(context) as (refuse: typeof refuseChance) => void)(refuseChance);
  const shown: unknown = new Proxy(context, {
    ...changes('globalThis'),
    get: (realm, name) => (name === 'globalThis' || name === 'global' ? shown : (Reflect.get(realm, name) as unknown)),
  });
  return { context, shown };
}
