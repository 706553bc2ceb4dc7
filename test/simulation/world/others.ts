/** Everybody else: other programs on the account, the venue's own whims, what happens to the machine, and the person in charge. */
import { createHmac } from 'node:crypto';
import { moneyOf } from '../../../src/core/index.ts';
import type { EmbeddedExchange } from '../../../src/sandbox/index.ts';
import type { Bot } from '../processes/bot.ts';
import type { Life } from '../processes/life.ts';
import type { Checker, Laws } from '../judges/checker.ts';
import { envelopeOf } from './wire.ts';
import type { Chance } from './chance.ts';
import { INSTANCE } from './scenario.ts';
import type { ReplyFaults } from './replyFaults.ts';
import type { SentinelJudge } from '../judges/sentinelJudge.ts';
import type { Store } from '../processes/store.ts';
import type { World } from './world.ts';

export type Scene = {
  readonly world: World;
  readonly exchange: EmbeddedExchange;
  readonly accountId: string;
  readonly bot: Bot;
  readonly store: Store;
  readonly checker: Laws;
  readonly judge: SentinelJudge | null;
  /** Books that the bot quotes, each with its own checker and faults. */
  readonly books: readonly QuotedBook[];
  /** Whether persons may resume now; by default always. */
  readonly mayResume: () => boolean;
};

export type QuotedBook = {
  readonly symbol: string;
  readonly checker: Pick<Checker, 'rulesChanged'>;
  readonly replies: ReplyFaults;
};

/** Amounts of others, in the base currency. */
type OtherAmounts = { readonly resting: string; readonly taken: string };
const AMOUNTS: Readonly<Record<string, OtherAmounts>> = {
  eth_mxn: { resting: '0.02', taken: '0.001' },
  usd_mxn: { resting: '80', taken: '4' },
};
const IN_BTC: OtherAmounts = { resting: '0.001', taken: '0.00005' };

const OTHER_PEER = '198.51.100.9';

export function startOthers(scene: Scene): void {
  otherPrograms(scene);
  venueWhims(scene);
  venueDecisions(scene);
  machine(scene);
  person(scene);
}

/** A program of its own, with its own key: it signs as the documents say, and shares nothing with the bot's client. */
function otherPrograms({ world, exchange, accountId, checker, books }: Scene): void {
  const { key, secret } = exchange.venue.addKey(accountId, {});
  let nonce = 10n ** 18n;
  const ask = (method: 'POST' | 'DELETE', path: string, body = '') => {
    nonce += 1n;
    const target = `/api${path}`;
    const signature = createHmac('sha256', secret).update(`${nonce}${method}${target}${body}`).digest('hex');
    const headers = { authorization: `Bitso ${key}:${nonce}:${signature}`, 'content-type': 'application/json' };
    return envelopeOf(exchange.respond({ method, target, headers, body }, OTHER_PEER));
  };
  const amountsOf = (book: string) => AMOUNTS[book] ?? IN_BTC;
  /** Places an order at a multiple of the mid price. */
  const place = (book: string, side: string, times: number, originId?: string) => {
    const at = exchange.marketplace(book);
    const tick = Number(at.instrument.tick);
    const price = ((at.bestBid() + at.bestAsk()) / 2) * tick * times;
    return ask(
      'POST',
      '/v3/orders',
      JSON.stringify({
        book,
        side,
        type: 'limit',
        major: amountsOf(book).resting,
        price: String(Number((Math.round(price / tick) * tick).toFixed(8))),
        ...(originId === undefined ? {} : { origin_id: originId }),
      }),
    );
  };

  const resting: string[] = [];
  world.often('orders of others', 20_000, chance => {
    const buy = chance.hit(0.5);
    const book = oneOf(books, chance);
    return () => {
      const reply = place(book.symbol, buy ? 'buy' : 'sell', buy ? 0.93 : 1.07);
      const oid = (reply?.payload as { oid?: string })?.oid;
      if (oid !== undefined) {
        world.count('orders of others');
        resting.push(oid);
        checker.othersPlaced(oid);
      }
      if (resting.length <= 3) return;
      const gone = resting.shift()!;
      checker.othersCanceled(gone);
      ask('DELETE', `/v3/orders/${gone}`);
    };
  });

  world.often('trades of others', 60_000, chance => {
    const side = chance.hit(0.5) ? 'buy' : 'sell';
    // Now and then so many that no page holds them.
    const many = chance.hit(0.1) ? 130 : 1;
    const book = oneOf(books, chance).symbol;
    return () => {
      world.count('trades of others');
      if (many > 1) world.marks.see('a full page of trades');
      for (let i = 0; i < many; i++) {
        ask('POST', '/v3/orders', JSON.stringify({ book, side, type: 'market', major: amountsOf(book).taken }));
      }
    };
  });

  world.often('orphans', 150_000, chance => {
    const buy = chance.hit(0.5);
    const id = `${INSTANCE}-9${chance.integer(1_000, 9_999)}-${chance.integer(1, 9)}`;
    const book = oneOf(books, chance);
    return () => {
      world.count('orphans');
      checker.orphan(id);
      place(book.symbol, buy ? 'buy' : 'sell', buy ? 0.97 : 1.03, id);
    };
  });

  world.often('transfers', 240_000, chance => {
    const account = exchange.venue.accounts.get(accountId)!;
    const sum = moneyOf(chance.integer(1, 900).toString());
    // Now and then no list shows it: then a person has to look.
    const isListed = !chance.hit(0.25);
    const isDeposit = chance.hit(0.5);
    return () => {
      world.count('transfers');
      checker.transferred(isListed);
      const { venue } = exchange;
      if (isDeposit) venue.deposit(account, 'mxn', sum, isListed ? 'funding' : null);
      else venue.withdraw(account, 'mxn', sum, isListed ? 'withdrawal' : null);
    };
  });
}

/** Rates for makers; takers pay 1.3 times as much. */
const FEES = ['0', '0.0005', '0.002', '0.006'];

/** Decisions of the exchange about the book and the account. */
function venueDecisions({ world, exchange, accountId, checker, books }: Scene): void {
  const { venue } = exchange;
  const inBook = (symbol: string) =>
    [...venue.accounts.get(accountId)!.active.values()].filter(({ book }) => book === symbol);
  const inAny = () => books.flatMap(({ symbol }) => inBook(symbol));
  const isOurs = ({ originId }: { readonly originId?: string | undefined }) => originId?.startsWith(`${INSTANCE}-`);
  world.often('removed book', 150_000, chance => {
    const isShown = chance.hit(0.5);
    const ms = chance.between(5_000, 90_000);
    const { symbol, replies } = oneOf(books, chance);
    if (replies.isRemoved) return null;
    return () => {
      world.count('removed book');
      const orders = inBook(symbol);
      if (orders.some(isOurs)) world.marks.see('the book was removed under live orders');
      replies.remove(isShown);
      for (const order of orders) {
        checker.othersCanceled(order.oid);
        venue.cancel(order);
      }
      world.touched = true;
      world.clock.after(ms, () => replies.listAgain());
    };
  });
  world.often('suspended trading', 200_000, chance => {
    const ms = chance.between(5_000, 60_000);
    if (venue.switches.trading === 'off') return null;
    return () => {
      world.count('suspended trading');
      if (inAny().some(isOurs)) world.marks.see('trading was suspended while quoting');
      venue.set({ trading: 'off' });
      world.trace.add('trading suspended');
      world.clock.after(ms, () => venue.set({ trading: 'on' }));
    };
  });
  const changeFees = (chance: Chance) => {
    const maker = chance.pick(FEES);
    const { symbol } = oneOf(books, chance);
    return () => {
      world.count('changed fees');
      if (inBook(symbol).some(isOurs)) world.marks.see('fees changed while quoting');
      venue.changeBook(symbol, {}, { maker, taker: (Number(maker) * 1.3).toFixed(5) });
      world.trace.add(`maker fee ${maker}`);
    };
  };
  // The first comes early: what is never traded at the new rate is read every five minutes.
  if (world.intensity('changed fees') > 0) {
    const chance = world.chance('fees');
    world.clock.after(chance.between(5_000, 60_000), () => world.happens('changed fees', changeFees(chance)));
  }
  world.often('changed fees', 300_000, changeFees);
}

/** Draws only among several books, so that the draws of one book stay what they are. */
const oneOf = (books: readonly QuotedBook[], chance: Chance): QuotedBook =>
  books.length === 1 ? books[0]! : chance.pick(books);

function venueWhims({ world, exchange, accountId }: Scene): void {
  world.often('cancels by the venue', 45_000, chance => {
    const ours = [...exchange.venue.accounts.get(accountId)!.active.values()].filter(order =>
      order.originId?.startsWith(`${INSTANCE}-`),
    );
    if (ours.length === 0) return null;
    const order = chance.pick(ours);
    return () => {
      if (!exchange.venue.cancel(order)) return;
      world.count('cancels by the venue');
      world.marks.see('an order was canceled by the venue');
      world.touched = true;
    };
  });
}

function machine({ world, exchange, accountId, bot, store, checker }: Scene): void {
  const hasLive = () => [...exchange.venue.accounts.get(accountId)!.active.values()].length > 0;
  const freeze = (life: Life, ms: number) => {
    life.freeze(ms);
    checker.froze(life.number, world.clock.elapsed() + ms);
  };
  world.often('crashes', 90_000, () => {
    const { life } = bot;
    if (!life) return null;
    return () => {
      world.count('crashes');
      if (!bot.isRunning) world.marks.see('a crash during recovery');
      life.kill('SIGKILL');
    };
  });
  world.often('crashes at a step', 60_000, chance => {
    const { life } = bot;
    if (!life) return null;
    const step = chance.integer(1, 60);
    return () => life.dieAtStep(step);
  });
  world.often('freezes', 120_000, chance => {
    const { life } = bot;
    if (!life || life.isFrozen) return null;
    const ms = chance.between(1_000, 120_000);
    return () => {
      world.count('freezes');
      if (hasLive()) world.marks.see('the process was frozen with live orders');
      world.trace.add(`freeze for ${ms.toFixed(0)}`);
      freeze(life, ms);
    };
  });
  world.often('long absences', 240_000, chance => {
    const { life } = bot;
    if (!life || life.isFrozen) return null;
    const ms = chance.between(40_000, 200_000);
    const isDown = chance.hit(0.5);
    return () => {
      world.count('long absences');
      world.trace.add(`absent for ${ms.toFixed(0)}`);
      if (hasLive()) world.marks.see('the bot was gone for long with live orders');
      if (isDown) bot.keepDown(ms);
      else freeze(life, ms);
    };
  });
  world.often('clock steps', 120_000, chance => {
    const step = chance.pick([-1, 1]) * chance.pick([1_000, 60_000, 3_600_000]);
    return () => {
      world.count('clock steps');
      if (step < -3_000_000) world.marks.see('the clock stepped back over an hour');
      world.steps += step;
      world.trace.add(`clock stepped by ${step}`);
    };
  });
  world.often('disk full', 150_000, chance => {
    if (store.isFull) return null;
    const ms = chance.between(2_000, 150_000);
    return () => {
      world.count('disk full');
      if (hasLive()) world.marks.see('the disk was full while quoting');
      store.fill(true);
      world.clock.after(ms, () => store.fill(false));
    };
  });
}

/** Lifts halts after a while, stops and halts the bot at will. */
function person({ world, bot, store, checker, judge, mayResume }: Scene): void {
  world.often('stops by a person', 120_000, () => {
    if (!bot.isRunning) return null;
    return () => {
      world.count('stops by a person');
      bot.stop(false);
    };
  });
  // Where persons act by commands, they halt and resume by them too.
  if (store.files !== null) return;
  world.often('halts by a person', 120_000, () => {
    if (store.halt !== null) return null;
    return () => {
      world.count('halts by a person');
      store.setHalt({ reason: 'by hand', at: world.clock.now(), by: 'person' });
    };
  });
  let since = -1;
  let heldSince = -1;
  const look = () => {
    const now = world.clock.elapsed();
    if (store.halt === null) since = -1;
    else if (since < 0) since = now;
    else if (now - since >= (world.isFaulty ? 20_000 : 2_000) && !store.isFull && mayResume()) {
      store.setHalt(null);
      checker.haltLifted();
      judge?.lifted();
      world.marks.see('a halt was lifted');
    }
    // Now and then before the sentinel does.
    if (store.hold === null) heldSince = -1;
    else if (heldSince < 0) {
      const isPatient = world.chance('a person and a hold').hit(0.7);
      heldSince = isPatient ? Infinity : now;
    } else if (now - heldSince >= 10_000 && !store.isFull && mayResume()) {
      store.setHalt(null);
      checker.haltLifted();
      world.marks.see('a person lifted a hold');
    }
    world.clock.after(1_000, look);
  };
  look();
}
