/** Transfers that a person makes between both exchanges: held until they arrive, whatever happens meanwhile, and exact at the end. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  amountToHedge,
  money,
  moneyOf,
  textOfMoney,
  TRANSIT,
  type EngineEvent,
  type HedgeRules,
  type Money,
  type TransferEvent,
} from '../../../src/core/index.ts';
import { ElsewhereTransfers } from '../../../src/live/loop/elsewhereTransfers.ts';
import { ToyExchange, PATIENCE } from '../../core/toyExchange.ts';
import { plain } from '../../core/market.ts';
import { TwoToyExchanges } from '../../core/twoToyExchanges.ts';
import { memoryLog } from '../../memoryLog.ts';
import { isMany, runsOf } from '../../many.ts';

const HOUR_MS = 3_600_000;
const LIST_WAIT_MS = 60_000;
const FEE_MAX = 3;
const lots = (count: number): Money => money(BigInt(count) * 10n ** 18n);
type Currency = 'btc' | 'usdt';
type Sent = { readonly currency: Currency; readonly isOut: boolean; readonly sent: number; readonly fee: number };

/** Both accounts with their true balances, the bot, and what is on its way between them. */
class World {
  readonly two: TwoToyExchanges;
  readonly here = new Map([
    ['btc', moneyOf('999999500')],
    ['mxn', moneyOf('1000000')],
    ['usdt', moneyOf('500')],
  ]);
  onItsWay: Sent[] = [];
  /** Fees of transfers of base currency that have arrived. */
  fees = 0;
  readonly hasLists: boolean;
  #unlisted: (() => void)[] = [];
  /** Whether the lists show transfers at present. */
  isListing = true;
  /** Whether the balances there can be read. */
  isThereRead: boolean;
  /** Whether the operator may have booked a wrong amount, so that a difference remains. */
  mayHalt = false;
  #lines = 0;
  #run = 7;
  transfers: ElsewhereTransfers;
  /** Bookings of arrivals, departures and returns that no list shows. */
  booked = 0;

  /** `fallMax`: maximum in transit by falls that no list announced, in lots of each currency. */
  constructor(hasLists: boolean, fallMax = 1_000_000, isThereRead = true) {
    this.isThereRead = isThereRead;
    const ofEach = (count: number) => new Map(['btc', 'usdt'].map(currency => [currency, lots(count)]));
    this.two = new TwoToyExchanges({
      timing: { ...PATIENCE, listWaitMs: LIST_WAIT_MS },
      transfers: { feeMax: ofEach(FEE_MAX), fallMax: ofEach(fallMax), waitMs: 24 * HOUR_MS },
    });
    this.hasLists = hasLists;
    this.transfers = this.#newTransfers();
    this.#begins();
    this.reads(4_000);
  }

  get toy() {
    return this.two.toy;
  }

  get engine() {
    return this.toy.engine;
  }

  get inventory(): Money {
    return this.engine.book.snapshot(this.toy.now).booked.inventory;
  }

  get missing(): string | null {
    return this.engine.book.riskContext(this.toy.now).missing;
  }

  #newTransfers(): ElsewhereTransfers {
    const step = (event: EngineEvent) => {
      this.toy.step(event);
      if (event.kind !== 'transfer') return;
      this.transfers.onTransfer(event);
      // That a deposit came from outside follows from balances that the earlier bookings of a pass may have made equal.
      if (!event.source.startsWith('outside ')) this.booked++;
    };
    return new ElsewhereTransfers({
      run: { clock: {} as never, time: () => this.toy.now, log: memoryLog().log, step },
      ...{ engine: this.engine, place: 'binance', hasLists: this.hasLists, currencies: ['btc', 'usdt'] },
    });
  }

  restart(was?: Parameters<TwoToyExchanges['restart']>[2]): void {
    this.two.restart(++this.#run, true, was);
    this.#begins();
    this.transfers = this.#newTransfers();
  }

  /** A run without the other exchange, which books no transfers. */
  runsAlone(): void {
    this.two.restart(++this.#run, false);
    this.#begins();
    for (let reads = 0; reads < 10; reads++) {
      this.toy.now += 2_000;
      this.#readsHere();
    }
  }

  /** A trial order, in a run without the other exchange. */
  tries(): void {
    this.runsAlone();
    expect(this.engine.book.haltedBecause).toBeNull();
    expect(amountToHedge(this.inventory, RULES_OF_HEDGE)).toBe(0n);
    this.restart();
  }

  #begins(): void {
    this.toy.step({ kind: 'rules', at: this.toy.now, instrument: plain, makerRate: 0, takerRate: 0 });
    this.toy.readPrivate();
  }

  #move(isHere: boolean, currency: Currency, by: number, listed: TransferEvent['cause'] | null = null): void {
    const balances = isHere ? this.here : this.two.truth;
    balances.set(currency, money(balances.get(currency)! + lots(by)));
    if (!isHere || !this.hasLists) return;
    const cause = listed ?? (by < 0 ? 'withdrawals' : 'deposits');
    const source = `line ${++this.#lines}`;
    this.#unlisted.push(() => {
      const at = this.toy.now;
      const of = { source, cause, currency, amount: lots(by), occurredAt: at, why: 'listed' };
      const isBetween = this.transfers.isBetween(of);
      this.toy.step({ kind: 'transfer', at, ...of, ...(isBetween ? { inTransit: true } : {}) });
    });
  }

  sends(transfer: Sent): void {
    this.#move(transfer.isOut, transfer.currency, -transfer.sent);
    this.onItsWay.push(transfer);
  }

  arrives(which: number): void {
    const [transfer] = this.onItsWay.splice(which % Math.max(1, this.onItsWay.length), 1);
    if (transfer === undefined) return;
    const { currency, isOut, sent, fee } = transfer;
    this.#move(!isOut, currency, sent - fee);
    if (currency === 'btc') this.fees += fee;
  }

  /** A withdrawal comes back in full, unless it could be an arrival from the other side. */
  returns(isOut: boolean, fee = 0): boolean {
    const transfer = this.onItsWay.find(each => each.isOut === isOut);
    if (transfer === undefined) return false;
    const { currency, sent } = transfer;
    if (this.onItsWay.some(each => each.currency === currency && each.isOut !== isOut)) return false;
    this.onItsWay = this.onItsWay.filter(each => each !== transfer);
    this.#move(isOut, currency, sent - fee, 'refunds');
    if (currency === 'btc') this.fees += fee;
    return true;
  }

  /** The operator resumes, which books what differs. */
  resumes(): void {
    this.toy.step({ kind: 'resume', at: this.toy.now });
  }

  /** The operator books a departure, which no list announced. */
  booksDeparture({ currency, isOut, sent }: Sent, isSaid: boolean): void {
    this.books(isOut ? currency : `${currency}@binance`, -sent, isSaid);
  }

  books(currency: string, by: number, isInTransit = false): void {
    const at = this.toy.now;
    const of = { cause: 'adjustments', currency, amount: lots(by) } as const;
    const source = `adjust ${++this.#lines}`;
    const why = 'ann: sent to the other exchange';
    this.toy.step({
      ...{ kind: 'transfer', at, source, ...of, occurredAt: at, why },
      ...(isInTransit ? { inTransit: true } : {}),
    });
  }

  comesFromOutside(currency: Currency, by: number): void {
    this.#move(true, currency, by);
  }

  /** Reads of both accounts each 2 s, and of the lists a little later. */
  reads(ms: number): void {
    for (let passed = 0; passed < ms; passed += 2_000) {
      this.toy.now += 2_000;
      this.#readsHere();
      if (this.isListing) for (const line of this.#unlisted.splice(0)) line();
      if (this.isThereRead) {
        this.two.readThere();
        this.transfers.explain();
        const { booked } = this;
        this.transfers.explain();
        expect(this.booked, 'one pass books all that a read explains').toBe(booked);
      }
      const { haltedBecause } = this.engine.book;
      if (!this.mayHalt) expect(haltedBecause, haltedBecause ?? '').toBeNull();
    }
  }

  #readsHere(): void {
    const { now } = this.toy;
    const balances = [...this.here].map(([currency, sum]) => {
      const total = textOfMoney(sum);
      return { currency, total, locked: '0', available: total };
    });
    this.toy.step({ kind: 'balances', at: now, startedAt: now, quiet: true, balances });
  }

  /** Both ledgers are what the accounts have. */
  expectExact(): void {
    const totals = this.engine.account.totals;
    expect([...this.here].map(([currency]) => totals.get(currency))).toEqual([...this.here.values()]);
    const there = this.engine.elsewhere!.view.totals;
    expect([...this.two.truth].map(([currency]) => there.get(`${currency}@binance`))).toEqual([
      ...this.two.truth.values(),
    ]);
  }
}

const step = fc.record({
  what: fc.constantFrom(
    'sends',
    'sends',
    'arrives',
    'arrives',
    'reads',
    'waits',
    'restart',
    'tries',
    'returns',
    'resumes',
  ),
  currency: fc.constantFrom<Currency>('btc', 'btc', 'usdt'),
  /** In 50 lots: more than all fees of merged transfers together, which could otherwise look like a transfer. */
  fifties: fc.integer({ min: 1, max: 4 }),
  fee: fc.integer({ min: 0, max: FEE_MAX }),
  isOut: fc.boolean(),
  /** When and how the operator books a departure that nothing announces. */
  booked: fc.constantFrom('before the arrival', 'after the arrival', 'after the arrival, as an ordinary loss'),
});
const stepOfOpening = fc.record({
  what: fc.constantFrom('sends', 'sends', 'arrives', 'restart', 'outside', 'waits'),
  currency: fc.constantFrom<Currency>('btc', 'btc', 'usdt'),
  fifties: fc.integer({ min: 1, max: 4 }),
  fee: fc.integer({ min: 0, max: FEE_MAX }),
  /** Whether lists show a departure later, or an arrival may be seen there before its departure is booked. */
  isEarly: fc.boolean(),
});
const SAID = /--currency (\w+)@transit --amount=(-?\d+)/;
const RULES_OF_HEDGE = { band: lots(45), residual: lots(0) } as HedgeRules;

describe('transfers between both exchanges', () => {
  test('are never hedged, whatever leaves, arrives less a fee, returns and restarts, and both ledgers are exact', () => {
    const cameUp = new Set<string>();
    fc.assert(
      fc.property(
        fc.array(step, { minLength: 1, maxLength: 11 }),
        fc.boolean(),
        fc.boolean(),
        fc.boolean(),
        (steps, hasLists, isApart, isFallBooked) => {
          const world = new World(hasLists, isFallBooked ? 0 : undefined);
          // Amounts that merge on both sides between two reads have one fee at most.
          const [afterSent, afterArrived] = isApart ? [30_000, 0] : [0, 30_000];
          for (const { what, currency, fifties, fee, isOut, booked } of steps) {
            if (what === 'sends') {
              const sent: Sent = { currency, isOut, sent: fifties * 50, fee };
              // The operator sees what is open before one sends more.
              if (isFallBooked) world.reads(20_000);
              const isOnly = world.engine.transit.items.length === 0;
              world.sends(sent);
              if (isFallBooked && !(isOut && hasLists)) {
                world.reads(2_000);
                if (booked !== 'before the arrival') world.arrives(world.onItsWay.length - 1);
                world.reads(4_000);
                // Without a seen arrival, which may be that of another transfer, it would be an ordinary loss indeed.
                const isSeen = isOnly && hasLists;
                world.booksDeparture(sent, booked !== 'after the arrival, as an ordinary loss' || !isSeen);
                world.reads(20_000);
              }
              world.reads(afterSent);
            }
            if (what === 'arrives') {
              // An amount that is not known to have left cannot arrive yet.
              world.reads(20_000);
              world.arrives(fifties);
              // An amount that arrives and leaves again between two reads cancels out, and is never seen.
              world.reads(20_000);
            }
            // Without lists, one of two transfers that left together cannot be recognized when it returns.
            if (what === 'returns' && (isApart || (hasLists && isOut))) {
              world.reads(20_000);
              // Only a list shows that an amount less than what left is a return.
              if (world.returns(isOut, hasLists && isOut ? fee : 0))
                cameUp.add(isOut ? 'returned here' : 'returned there');
              world.reads(20_000);
            }
            if (what === 'resumes') {
              world.reads(20_000);
              world.arrives(fifties);
              world.resumes();
              // A departure before the resume has booked the difference would be booked with it as one amount.
              world.reads(60_000);
            }
            if (what === 'reads') world.reads(4_000);
            if (what === 'waits') world.reads(100_000);
            if (what === 'restart') world.restart();
            if (what === 'tries') world.tries();
            const { inventory } = world;
            expect(inventory <= 0n && inventory >= -lots(world.fees)).toBe(true);
            expect(amountToHedge(inventory, RULES_OF_HEDGE)).toBe(0n);
            if (what === 'restart' && world.engine.transit.items.length > 0) cameUp.add('restart in transit');
            if (world.engine.transit.items.length > 1) cameUp.add('several');
          }
          world.reads(30_000);
          world.expectExact();
          while (world.onItsWay.length > 0) {
            world.arrives(0);
            world.reads(afterArrived);
          }
          world.reads(140_000);
          world.expectExact();
          expect(world.engine.transit.items).toEqual([]);
          expect([world.inventory, world.missing]).toEqual([-lots(world.fees), null]);
          expect(world.engine.transit.held('btc')).toBe(0n);
        },
      ),
      runsOf(2_000, 30),
    );
    // A few draws need not have them all.
    if (isMany)
      expect([...cameUp].toSorted()).toEqual(['restart in transit', 'returned here', 'returned there', 'several']);
  });

  test('that may be in the opening balances of the other exchange never count twice in silence', () => {
    const cameUp = new Set<string>();
    fc.assert(
      fc.property(
        fc.array(stepOfOpening, { minLength: 1, maxLength: 6 }),
        fc.array(stepOfOpening, { maxLength: 5 }),
        fc.boolean(),
        fc.integer({ min: 0, max: 3 }),
        fc.boolean(),
        (before, after, hasLists, lag, booksSaid) => {
          const world = new World(hasLists, undefined, false);
          let inOpening: Sent[] = [];
          const isOver = () => {
            const held = world.inventory + lots(1e9);
            const road = world.onItsWay.reduce((sum, { currency, sent }) => sum + (currency === 'btc' ? sent : 0), 0);
            // The fees of merged amounts are known only at the end.
            const fees = lots(FEE_MAX * (before.length + after.length));
            return held > world.here.get('btc')! + world.two.truth.get('btc')! + lots(road) + fees;
          };
          const expectSaid = () => {
            const views = [world.engine.account, world.engine.elsewhere!.view];
            const isDifferent = views.some(view => view.differences().length > 0);
            if (isOver() && !isDifferent) expect(world.missing).not.toBeNull();
          };
          let reads = 0;
          const does = ({ what, currency, fifties, fee, isEarly }: (typeof before)[number]) => {
            if (what === 'sends') world.sends({ currency, isOut: true, sent: fifties * 50, fee });
            if (what === 'arrives') {
              // An amount that is not known to have left cannot arrive yet, except in the opening balances or as another.
              const isAsOther = isEarly && world.engine.transit.items.length > 0;
              if (!world.isThereRead) inOpening = [...inOpening, ...world.onItsWay.slice(0, 1)];
              else if (!isAsOther) {
                world.isListing = true;
                world.reads(20_000);
              }
              world.arrives(0);
              if (world.isThereRead && isAsOther) world.reads(16_000);
            }
            if (what === 'restart') world.restart();
            if (what === 'outside' && hasLists) world.comesFromOutside(currency, 1);
            // The lists show a transfer some reads later than the balances.
            if (what !== 'restart') world.isListing = ++reads > lag && !(isEarly && what === 'sends');
            world.reads(what === 'waits' && world.isThereRead ? 20_000 : 2_000);
          };
          for (const step of before) does(step);
          world.isThereRead = true;
          for (const [n, step] of after.entries()) {
            does(step);
            expectSaid();
            if (!booksSaid || n !== lag) continue;
            // The operator books exactly the amount that is printed, although not all of it was in the opening.
            const [, currency, amount] = SAID.exec(world.missing ?? '') ?? [];
            if (amount === undefined) continue;
            cameUp.add('is booked as said');
            world.mayHalt = true;
            books(world, amount, currency);
            world.reads(2_000);
            expectSaid();
          }
          world.isListing = true;
          world.reads(30_000);
          expectSaid();
          if (booksSaid) return;
          if (isOver()) cameUp.add('counts twice');
          else if (world.missing !== null) cameUp.add('is on its way');
          // The operator sees which amounts had arrived before the opening, and books them.
          for (const { currency, sent } of inOpening) books(world, `-${sent}`, currency);
          world.reads(2_000);
          while (world.onItsWay.length > 0) {
            world.arrives(0);
            world.reads(30_000);
          }
          // All amounts have arrived: what is still in transit, such as the fee of merged amounts, is lost.
          waitedFor(25, world);
          for (let said = 0; said < 3 && world.missing !== null; said++) {
            const [, currency, amount] = SAID.exec(world.missing)!;
            books(world, amount!, currency);
            world.reads(2_000);
          }
          world.expectExact();
          expect([world.engine.transit.items, world.missing]).toEqual([[], null]);
          expect(world.inventory + lots(1e9)).toBe(world.here.get('btc')! + world.two.truth.get('btc')!);
        },
      ),
      runsOf(2_000, 60),
    );
    if (isMany) expect([...cameUp].toSorted()).toEqual(['counts twice', 'is booked as said', 'is on its way']);
  });

  const waitedFor = (hours: number, world: World) => {
    world.toy.now += hours * HOUR_MS;
    world.toy.readPrivate();
    world.reads(20_000);
    world.toy.readPrivate();
  };
  let bookings = 0;
  const books = (world: World, amount: string, currency = 'btc') => {
    const at = world.toy.now;
    const of = {
      source: `adjust ${at} ${++bookings}`,
      cause: 'adjustments',
      currency: `${currency}@transit`,
      amount: moneyOf(amount),
    } as const;
    world.toy.step({ kind: 'transfer', at, ...of, occurredAt: at, why: 'ann: lost' });
  };
  const sends = (sent: number, fee = 0, isOut = true): Sent => ({ currency: 'btc', isOut, sent, fee });
  const state = (world: World) => [
    textOfMoney(world.inventory),
    world.engine.transit.items.map(({ amount }) => textOfMoney(amount)),
  ];

  const doubt = (amount: number, otherwise = 'wait until the amount arrives', isRest = false) =>
    `${amount} btc was sent to the other exchange, possibly before the bot read the opening balances there; if these balances include the amount${isRest ? ', or if the amount is the fee of a transfer that has arrived' : ''}, run puntas ledger adjust -c FILE --currency btc@transit --amount=-${amount} --reason "..."; otherwise ${otherwise}`;
  const ALONE =
    'restore the section hedge.elsewhere, or book the arrival with puntas ledger adjust -c FILE --currency btc@PLACE --amount AMOUNT --reason "..."';

  test('are in doubt from the opening there on, however they are booked, until the arrival or the booking of the operator', () => {
    for (const isListed of [true, false]) {
      const world = new World(true, 0, false);
      const unread = () => ['btc', 'btc@binance', 'btc@kraken'].map(name => world.transfers.isUnread(name));
      expect(unread()).toEqual([false, true, false]);
      world.sends(sends(50));
      if (isListed) world.reads(4_000);
      world.arrives(0);
      [world.isThereRead, world.isListing] = [true, false];
      world.reads(4_000);
      expect(unread()).toEqual([false, false, false]);
      // No list shows it, so the operator books it as sent to the other exchange.
      if (!isListed) world.booksDeparture(sends(50), true);
      world.reads(4_000);
      expect([world.missing, ...state(world)]).toEqual([doubt(50), '50', ['50']]);
      // A run without the other exchange, and the next one with it, say so too.
      world.runsAlone();
      expect(world.missing).toBe(doubt(50, ALONE));
      world.restart();
      world.isListing = isListed;
      world.reads(4_000);
      // The arrival of another transfer fits better to the one in doubt, so the other one is in doubt.
      world.sends(sends(52, 2));
      if (!isListed) world.booksDeparture(sends(52, 2), true);
      world.reads(20_000);
      expect([world.missing, ...state(world)]).toEqual([doubt(50), '50', ['50', '52']]);
      world.arrives(0);
      world.reads(20_000);
      expect([world.missing, ...state(world)]).toEqual([doubt(52), '50', ['52']]);
      books(world, '-52');
      world.reads(4_000);
      expect([world.missing, ...state(world)]).toEqual([null, '-2', []]);
      world.expectExact();
    }
  });

  /** A world with 50 in doubt, which are in the opening balances there, and that has seen its own balances equal since. */
  const inOpening = (hasLists: boolean) => {
    const world = new World(hasLists, undefined, false);
    world.sends(sends(50));
    if (!hasLists) world.booksDeparture(sends(50), true);
    world.reads(4_000);
    world.arrives(0);
    world.isThereRead = true;
    world.reads(4_000);
    expect([world.missing, isOpening(world)]).toEqual([doubt(50), false]);
    return world;
  };
  const isOpening = (world: World) => world.engine.ledger([])!.openings!.includes('btc');

  test.each([true, false])(
    'that arrive before they are booked as sent are in doubt, if they ended what was (lists: %s)',
    hasLists => {
      const world = inOpening(hasLists);
      world.isListing = false;
      world.sends(sends(50));
      world.arrives(0);
      world.reads(20_000);
      if (hasLists) {
        expect([state(world)[1], isOpening(world)]).toEqual([[], true]);
        world.restart();
        world.isListing = true;
        world.reads(4_000);
      }
      expect([world.missing, ...state(world)]).toEqual([doubt(50), '50', ['50']]);
      books(world, '-50');
      world.reads(4_000);
      expect([world.missing, isOpening(world), ...state(world)]).toEqual([null, false, '0', []]);
      world.expectExact();
    },
  );

  test('from a third exchange, which is not read, are in doubt whenever they are booked', () => {
    for (const booked of ['before the opening', 'when that exchange was read', 'after the opening'] as const) {
      const world = new World(true, 0, false);
      // An earlier run left the amount there.
      world.books('btc@kraken', 50);
      const surplus = () => money(world.inventory + lots(1e9) - world.here.get('btc')! - world.two.truth.get('btc')!);
      const sent = () => world.books('btc@kraken', -50, true);
      if (booked !== 'after the opening') sent();
      // A run that read that exchange had no doubt about what left it.
      if (booked === 'when that exchange was read')
        world.restart(({ transit = [], ...ledger }) => ({
          ...ledger,
          transit: transit.map(({ mayBeInOpening: _, ...item }) => item),
        }));
      world.two.truth.set('btc', money(world.two.truth.get('btc')! + lots(50)));
      world.isThereRead = true;
      world.reads(4_000);
      if (booked === 'after the opening') sent();
      world.reads(20_000);
      // The opening includes it, so that it counts twice.
      expect([world.missing, surplus(), state(world)[1]]).toEqual([doubt(50), lots(50), ['50']]);
      books(world, '-50');
      world.reads(4_000);
      expect([world.missing, surplus(), state(world)[1]]).toEqual([null, 0n, []]);
      world.expectExact();
      // From the exchange that is read, an amount that leaves later is not in its opening.
      world.sends(sends(20, 0, false));
      world.booksDeparture(sends(20, 0, false), true);
      world.reads(4_000);
      expect([world.missing, state(world)[1]]).toEqual([null, ['20']]);
    }
  });

  test('in doubt are said in full if an arrival is that of another, which is not in doubt', () => {
    const world = inOpening(true);
    world.sends(sends(40));
    world.reads(20_000);
    // The fee is above the maximum, so that the arrival ends no transfer.
    world.two.truth.set('btc', money(world.two.truth.get('btc')! + lots(35)));
    world.onItsWay = [];
    world.reads(20_000);
    expect([world.missing, state(world)[1]]).toEqual([doubt(50), ['50', '40', '-35']]);
    books(world, '-50');
    world.reads(4_000);
    expect([world.missing, state(world)[1]]).toEqual([null, ['40', '-35']]);
    waitedFor(25, world);
    expect(world.missing).toMatch(/^5 btc has been in transit .* --amount=-5 --reason "\.\.\."$/);
    books(world, '-5');
    world.reads(4_000);
    expect([world.missing, ...state(world)]).toEqual([null, '-5', []]);
    world.expectExact();
  });

  test('that are booked as sent after the operator booked out the rest of what was in doubt are in doubt', () => {
    for (const isOther of [true, false]) {
      const world = new World(true, 0, false);
      world.sends(sends(100));
      world.reads(4_000);
      // Only one of the merged amounts was in the opening.
      if (!isOther) world.onItsWay = [sends(40), sends(60)];
      world.arrives(0);
      world.isThereRead = true;
      world.reads(20_000);
      expect([world.missing, state(world)[1]]).toEqual([doubt(100), ['100']]);
      world.isListing = false;
      if (isOther) world.sends(sends(60));
      world.arrives(0);
      world.reads(20_000);
      expect([world.missing, state(world)[1]]).toEqual([doubt(40, undefined, true), ['100', '-60']]);
      books(world, '-40');
      world.reads(4_000);
      expect([world.missing, state(world)[1]]).toEqual([null, []]);
      world.restart();
      world.isListing = true;
      world.reads(20_000);
      expect([world.missing, ...state(world)]).toEqual(isOther ? [doubt(60), '60', ['60']] : [null, '0', []]);
      if (isOther) books(world, '-60');
      world.reads(4_000);
      expect([world.missing, ...state(world)]).toEqual([null, '0', []]);
      world.expectExact();
    }
  });

  test('that remain are in doubt if the operator books an arrival as that of a part of what was', () => {
    const world = inOpening(true);
    world.sends(sends(150));
    world.reads(20_000);
    world.isListing = false;
    world.sends(sends(30));
    world.arrives(1);
    world.reads(20_000);
    expect([world.missing, state(world)[1]]).toEqual([doubt(50), ['50', '150', '-30']]);
    books(world, '-20');
    world.reads(4_000);
    expect([world.missing, state(world)[1]]).toEqual([doubt(150), ['150']]);
    world.isListing = true;
    world.reads(4_000);
    expect([world.missing, state(world)[1]]).toEqual([doubt(180), ['150', '30']]);
  });

  test('that are one fall are in doubt if the arrival of a part of them ended what was', () => {
    const world = inOpening(false);
    for (const sent of [50, 100]) world.sends(sends(sent));
    world.reads(20_000);
    expect(state(world)[1]).toEqual(['50', '150']);
    world.arrives(0);
    world.reads(20_000);
    expect([world.missing, state(world)[1]]).toEqual([doubt(150), ['150']]);
  });

  test('that an arrival cannot have been stay without doubt', () => {
    const world = inOpening(true);
    for (const sent of [sends(150), sends(52, 2)]) {
      world.sends(sent);
      world.reads(20_000);
    }
    world.arrives(1);
    world.reads(20_000);
    expect(world.engine.transit.items).toMatchObject([
      { amount: lots(150) },
      { amount: lots(52), mayBeInOpening: true },
    ]);
    expect(world.engine.transit.items[0]).not.toHaveProperty('mayBeInOpening');
    expect(world.missing).toBe(doubt(52));
  });

  test.each([0, 1])('that are in doubt in a run that does not read their arrival end by its booking (fee: %i)', fee => {
    const world = new World(true, 0, false);
    world.sends(sends(50, fee));
    world.reads(4_000);
    world.isThereRead = true;
    world.reads(4_000);
    world.runsAlone();
    expect([world.missing, ...state(world)]).toEqual([doubt(50, ALONE), '0', ['50']]);
    world.arrives(0);
    world.booksDeparture({ ...sends(fee - 50), isOut: false }, false);
    if (fee > 0) {
      expect([world.missing, state(world)[1]]).toEqual([doubt(fee, ALONE, true), ['50', String(fee - 50)]]);
      books(world, `-${fee}`);
    }
    expect([world.missing, ...state(world)]).toEqual([null, textOfMoney(lots(-fee)), []]);
    world.restart();
    world.reads(4_000);
    world.expectExact();
  });

  test('that do not arrive in time stop quotes and hedges with the remedy, until they arrive or the operator books them', () => {
    for (const ends of ['arrival', 'booking'] as const) {
      const world = new World(true);
      world.sends(sends(20));
      world.reads(20_000);
      waitedFor(20, world);
      expect([world.missing, ...state(world)]).toEqual([null, '0', ['20']]);
      const { inTransit } = world.engine.book.snapshot(world.toy.now).elsewhere!;
      expect(inTransit).toEqual({ base: lots(20), quote: lots(0) });
      world.restart();
      world.sends(sends(7));
      waitedFor(5, world);
      expect(world.missing).toMatch(
        /^20 btc has been in transit between the two exchanges since 1970-01-01T00:16:\d\d\.\d{3}Z, longer than hedge\.elsewhere\.transferWaitHours \(24\); find the transfer, then run puntas ledger adjust -c FILE --currency btc@transit --amount=-20 --reason "\.\.\."$/,
      );
      if (ends === 'arrival') world.arrives(0);
      else books(world, '-20');
      world.reads(20_000);
      expect([world.missing, ...state(world)]).toEqual([null, ends === 'arrival' ? '0' : '-20', ['7']]);
    }
  });

  test('with a fee above the maximum stay in transit, and only the operator ends them', () => {
    const world = new World(true);
    world.sends(sends(20, FEE_MAX + 1, false));
    world.reads(30_000);
    world.arrives(0);
    waitedFor(25, world);
    expect(state(world)).toEqual(['0', ['20', '-16']]);
    expect(world.missing).toMatch(/^4 btc has been in transit .* --amount=-4 --reason "\.\.\."$/);
    books(world, '-4');
    world.reads(2_000);
    expect([world.missing, ...state(world)]).toEqual([null, '-4', []]);
  });

  test.each([
    ['to the other exchange', true],
    ['from the other exchange', false],
  ])('%s that leave and arrive between the same two reads are booked by one pass', (_, isOut) => {
    const world = new World(false);
    world.sends(sends(50, 2, isOut));
    world.arrives(0);
    // Each read asserts that a second pass has nothing left to book.
    world.reads(60_000);
    expect([world.booked, ...state(world)]).toEqual([2, '-2', []]);
    world.expectExact();
  });

  test.each([
    ['to the other exchange', true],
    ['from the other exchange', false],
  ])('%s that arrive while others leave, between the same two reads, count no more against the maximum', (_, isOut) => {
    const world = new World(false, 60);
    world.sends(sends(50, 0, isOut));
    world.reads(100_000);
    expect(world.booked).toBe(1);
    world.arrives(0);
    world.sends(sends(50, 0, isOut));
    world.reads(100_000);
    expect([world.booked, ...state(world)]).toEqual([3, '0', ['50']]);
    world.expectExact();
  });

  test('are not what deposits from outside are, however many there are and in whatever amounts: each is inventory once', () => {
    const deposit = fc.record({
      currency: fc.constantFrom<Currency>('btc', 'btc', 'usdt'),
      by: fc.integer({ min: 1, max: 8 }),
      thenMs: fc.constantFrom(2_000, 2_000, 20_000, 70_000),
      isRestarted: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(deposit, { minLength: 1, maxLength: 6 }), deposits => {
        const world = new World(true);
        const received = { btc: 0, usdt: 0 };
        for (const { currency, by, thenMs, isRestarted } of deposits) {
          world.comesFromOutside(currency, by);
          received[currency] += by;
          world.reads(thenMs);
          if (isRestarted) world.restart();
          const held = world.inventory;
          expect(held >= 0n && held <= lots(received.btc)).toBe(true);
        }
        world.reads(90_000);
        expect([state(world), world.missing]).toEqual([[String(received.btc), []], null]);
        for (const currency of ['btc', 'usdt']) expect(world.engine.transit.held(currency)).toBe(0n);
        world.expectExact();
      }),
      {
        ...runsOf(500, 20),
        // More than are compared with each other, of equal and of different amounts.
        examples: [
          [
            Array.from({ length: 14 }, (_, i) => ({
              currency: 'btc',
              by: 1 + (i % 3),
              thenMs: 2_000,
              isRestarted: false,
            })),
          ],
        ],
      },
    );
  });

  test('are not what a deposit from outside is: it is inventory as soon as the balances there show that it did not leave there', () => {
    const world = new World(true);
    world.comesFromOutside('btc', 10);
    world.reads(30_000);
    expect(state(world)).toEqual(['0', ['-10']]);
    // A withdrawal of another currency is none that may have come back as this deposit.
    world.sends({ currency: 'usdt', isOut: true, sent: 100, fee: 0 });
    world.reads(60_000);
    expect(state(world)).toEqual(['10', ['100']]);
    world.arrives(0);
    world.reads(20_000);
    expect(state(world)).toEqual(['10', []]);
    // As long as more has left the other exchange, it may be a part of that.
    world.sends(sends(20, 2, false));
    world.reads(30_000);
    world.comesFromOutside('btc', 5);
    world.reads(100_000);
    expect(state(world)).toEqual(['10', ['20', '-5']]);
    world.arrives(0);
    world.reads(100_000);
    expect(state(world)).toEqual(['13', []]);
    world.expectExact();
  });

  test.each([
    ['a rise that nothing explains', [['btc', 10]]],
    [
      'an unknown trade',
      [
        ['btc', -10],
        ['usdt', 500],
      ],
    ],
    ['a fall of a currency that is in no transfer', [['bnb', -1]]],
  ] as const)('are not %s there, which halts as before', (_, changes) => {
    const world = new World(true);
    for (const [currency, by] of changes)
      world.two.truth.set(currency, money(world.two.truth.get(currency)! + lots(by)));
    // Only what may be sent can be in transit.
    const isRise = changes.every(([, by]) => by > 0) || changes.some(([currency]) => currency === 'bnb');
    expect(() => world.reads(100_000)).toThrow(
      isRise ? /balances differ .*ours\)(?!;)/ : /balances differ .*--in-transit/,
    );
    expect(state(world)).toEqual(['0', []]);
  });

  test.each([
    ['own', false],
    ['other', true],
  ] as const)('that the operator books in the %s account by a resume or adjustment count once', (_, isOut) => {
    for (const extra of [0, 5]) {
      for (const isResume of [false, true]) {
        const world = new World(true);
        world.sends(sends(20, 0, isOut));
        world.reads(20_000);
        const balances = isOut ? world.two.truth : world.here;
        balances.set('btc', money(balances.get('btc')! + lots(20 + extra)));
        const at = world.toy.now;
        if (isResume) world.toy.step({ kind: 'resume', at });
        else {
          const of = {
            cause: 'adjustments',
            currency: isOut ? 'btc@binance' : 'btc',
            amount: lots(20 + extra),
          } as const;
          world.toy.step({ kind: 'transfer', at, source: 'adjust 1', ...of, occurredAt: at, why: 'ann: arrived' });
        }
        world.reads(20_000);
        expect(state(world)).toEqual([String(extra), []]);
        world.expectExact();
      }
    }
  });

  test('that come back as a deposit stay held with it, and are over in time if nothing of them is missing', () => {
    for (const back of [19, 20]) {
      const world = new World(true);
      world.sends(sends(20));
      world.reads(20_000);
      world.comesFromOutside('btc', back);
      world.reads(100_000);
      expect(state(world)).toEqual(['0', ['20', String(-back)]]);
      waitedFor(25, world);
      if (back === 20) expect(world.missing).toBeNull();
      else expect(world.missing).toMatch(/^1 btc has been in transit .* --amount=-1 --reason "\.\.\."$/);
      if (back === 19) books(world, '-1');
      else world.sends(sends(5));
      world.reads(20_000);
      expect([world.missing, ...state(world)]).toEqual(back === 19 ? [null, '-1', []] : [null, '0', ['5']]);
    }
  });

  test('that come back there in full are returned, as long as they can be no arrival', () => {
    const world = new World(true);
    world.sends(sends(20, 0, false));
    world.reads(20_000);
    expect(state(world)).toEqual(['0', ['20']]);
    expect(world.returns(false)).toBe(true);
    world.reads(20_000);
    expect(state(world)).toEqual(['0', []]);
    world.expectExact();
  });

  test('that are more than can be compared with each other are ended by the booking that their remedy names', () => {
    const world = new World(true);
    // No one of them, and no ten of them, is one transfer: each arrives with a fee above the maximum.
    for (let i = 0; i < 12; i++) {
      world.sends(sends(100 + i, FEE_MAX + 1 + i, false));
      world.reads(20_000);
    }
    while (world.onItsWay.length > 0) {
      world.arrives(0);
      world.reads(20_000);
    }
    waitedFor(25, world);
    const lost = /^(\d+) btc has been in transit .* --amount=-(\d+) --reason/.exec(world.missing ?? '');
    expect(lost?.[1]).toBe(lost?.[2]);
    expect(Number(lost?.[1])).toBeGreaterThan(0);
    books(world, `-${lost?.[1]}`);
    world.reads(2_000);
    expect([world.missing, state(world)[1]]).toEqual([null, []]);
  });

  test.each([0, 1, FEE_MAX])(
    'that a list shows as returned less a fee of %i lots count once, and the fee is lost',
    fee => {
      const world = new World(true);
      world.sends(sends(20, 0, true));
      world.sends(sends(40, 0, true));
      world.reads(30_000);
      expect(state(world)[0]).toBe('0');
      expect(world.returns(true, fee)).toBe(true);
      world.reads(30_000);
      expect(world.inventory).toBe(-lots(fee));
      world.arrives(0);
      world.reads(30_000);
      expect(state(world)).toEqual([textOfMoney(-lots(fee) as Money), []]);
      world.expectExact();
    },
  );

  test('are joined with others of their kind beyond a hundred, the oldest first, and nothing of them is forgotten', () => {
    const world = new World(true);
    for (let i = 1; i <= 105; i++) {
      world.sends(sends(100));
      world.reads(8_000);
    }
    const items = world.engine.transit.items;
    expect(items).toHaveLength(100);
    expect(textOfMoney(items[0]!.amount)).toBe('600');
    expect(textOfMoney(items.at(-1)!.amount)).toBe('100');
    expect(textOfMoney(world.inventory)).toBe('0');
  });

  test('of equal number have the lower fee: what is exactly as large is that transfer', () => {
    const world = new World(true);
    for (const sent of [52, 50]) {
      world.sends(sends(sent, 0));
      world.reads(20_000);
    }
    world.arrives(1);
    world.reads(20_000);
    expect(state(world)).toEqual(['0', ['52']]);
  });

  test('are a fall there only up to the maximum over all open ones, and any other fall there halts', () => {
    const none = new World(true, 0);
    none.sends(sends(20, 0, false));
    expect(() => none.reads(100_000)).toThrow(
      /balances differ .*-20 btc@binance \(reported minus ours\); book what you sent to the other exchange with puntas ledger adjust --in-transit before you resume/,
    );
    expect(state(none)).toEqual(['0', []]);
    const some = new World(true, 30);
    some.sends(sends(20, 0, false));
    some.reads(20_000);
    some.sends(sends(10, 0, false));
    some.reads(20_000);
    expect(state(some)).toEqual(['0', ['20', '10']]);
    some.sends(sends(1, 0, false));
    expect(() => some.reads(100_000)).toThrow(/balances differ/);
    expect(state(some)).toEqual(['0', ['20', '10']]);
    // A deposit that the own list shows announces the fall.
    const announced = new World(true, 0);
    announced.comesFromOutside('btc', 18);
    announced.reads(2_000);
    announced.two.truth.set('btc', money(announced.two.truth.get('btc')! - lots(20)));
    announced.reads(100_000);
    expect(state(announced)).toEqual(['-2', []]);
    announced.expectExact();
  });

  test('are kept by a run without the other exchange, and by a Puntas that knows only the rows of the ledger', () => {
    const world = new World(true);
    world.sends(sends(20));
    world.reads(20_000);
    const ledger = world.engine.ledger([])!;
    const { transit, ...rows } = ledger;
    expect(transit).toMatchObject([{ currency: 'btc', place: null, amount: lots(20) }]);
    const without = new ToyExchange({ target: 1e9 as never, run: 8 });
    without.now = world.toy.now + 1_000;
    without.step({ kind: 'restore', at: without.now, orders: [], ledger });
    expect(textOfMoney(without.engine.book.snapshot(without.now).booked.inventory)).toBe('0');
    expect(without.engine.ledger([])).toMatchObject({ transit, causes: ledger.causes });
    const later = new ToyExchange({ target: 1e9 as never, run: 9 });
    later.step({ kind: 'restore', at: without.now, orders: [], ledger: rows });
    expect(later.engine.transit.items).toMatchObject([{ currency: 'btc', place: TRANSIT, amount: lots(20) }]);
  });
});

test('a listed transfer may be between both exchanges by its cause and currency, and a refund if it ends one; each is told with what is left', () => {
  const asked: unknown[] = [];
  let isEnding = true;
  let isOpen = false;
  const engine = {
    transit: {
      returns: (...of: unknown[]) => (asked.push(of), isEnding),
      held: (currency: string) => moneyOf(currency === 'btc' ? '7' : '0'),
    },
    get elsewhere() {
      return { view: { isOpen } };
    },
  };
  const { log, lines } = memoryLog();
  const options = { run: { log }, engine, place: 'there', hasLists: true, currencies: ['btc', 'usdt'] };
  const transfers = new ElsewhereTransfers(options as never);
  const isBetween = (cause: TransferEvent['cause'], currency: string) =>
    transfers.isBetween({ cause, currency, amount: moneyOf('2') });
  for (const cause of ['deposits', 'withdrawals'] as const)
    expect(['btc', 'usdt@there', 'mxn', 'btc@transit'].map(name => isBetween(cause, name))).toEqual([
      ...[true, true, false, false],
    ]);
  expect([isBetween('adjustments', 'btc'), isBetween('fees', 'btc'), asked]).toEqual([false, false, []]);
  expect(isBetween('refunds', 'usdt')).toBe(true);
  isEnding = false;
  expect([isBetween('refunds', 'usdt'), isBetween('refunds', 'mxn')]).toEqual([false, false]);
  expect(asked).toEqual([1, 2].map(() => [{ place: null, currency: 'usdt', amount: moneyOf('2') }, true]));
  expect(['btc', 'btc@there', 'btc@old'].map(name => transfers.isUnread(name))).toEqual([false, true, false]);
  isOpen = true;
  expect(transfers.isUnread('btc@there')).toBe(false);
  const told = (currency: string, amount: string, inTransit?: true) =>
    transfers.onTransfer({ source: 's', currency, amount: moneyOf(amount), inTransit } as never);
  told('btc', '1');
  told('btc@there', '-2', true);
  told('usdt@transit', '3');
  const between = 'transfer between the two exchanges';
  expect(lines.map(({ level, text }) => [level, text])).toEqual([
    ['warn', `${between}: -2 btc@there; in transit now: 7 btc`],
    ['info', `${between}: 3 usdt@transit; in transit now: 0 usdt`],
  ]);
});
