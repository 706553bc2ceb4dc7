/**
 * Lives of own orders at the embedded exchange, whose matching decides their fills. The models receive only what a bot
 * sees: public trades and the lots of others at each price.
 */
import { HypotheticalFills, type OwnLife } from '../../../backtest/fitted/ownLives.ts';
import { randomOf, VirtualClock, type Amount, type Price, type Side } from '../../../src/core/index.ts';
import { createVenue, FLOW_PROFILES, seededFlow } from '../../../src/sandbox/index.ts';

const BOOK = 'btc_mxn';
/** Time between two decisions of the bot, in ms. */
const DECIDE_MS = 1_000;
/** Time for which a filled order stays in the models, in ms. */
const GRACE_MS = 30_000;
const SIDES = ['buy', 'sell'] as const;

export type OwnFillsOptions = {
  readonly seed: number;
  readonly seconds: number;
  /** Lots of one order. */
  readonly lots?: number;
  /** Orders that stand ahead of an own order without being shown: lots drawn up to so many times its own. */
  readonly hidden?: number;
};

type Own = {
  readonly side: Side;
  readonly price: Price;
  readonly at: number;
  readonly until: number;
  readonly tracked: ReturnType<HypotheticalFills['join']>;
  /** Ids at the exchange: the order, and the hidden lots ahead of it. */
  readonly id: number;
  readonly hidden: number | null;
  filledAt: number;
  isLive: boolean;
  shown: number;
};

/** Returns the complete lives, by the time of their end. */
export function ownFills({ seed, seconds, lots = 1_000, hidden = 0 }: OwnFillsOptions): readonly OwnLife[] {
  const clock = new VirtualClock();
  const random = randomOf(seed ^ 0x51);
  const venue = createVenue({ clock, seed });
  const place = venue.marketplace(BOOK);
  const flow = seededFlow({ seed, profile: FLOW_PROFILES[BOOK]! });
  const fills = new HypotheticalFills();
  const own = new Set<Own>();
  const lives: OwnLife[] = [];
  const open = new Map<number, { side: Side; price: Price; lots: number }>();
  const othersAt = (side: Side, price: Price): number => {
    let total: number = place.amountAt(side, price);
    for (const one of open.values()) if (one.side === side && one.price === price) total -= one.lots;
    return Math.max(0, total);
  };
  const best = (side: Side): Price => (side === 'buy' ? place.bestBid() : place.bestAsk());

  place.onSyntheticFill((id, _side, _price, amount) => {
    const resting = open.get(id);
    if (resting === undefined) return;
    resting.lots -= amount;
    if (resting.lots <= 0) open.delete(id);
    for (const order of own) if (order.id === id) order.filledAt = Math.min(order.filledAt, clock.now());
  });
  venue.venue.onBookEvent(event => {
    if (event.book !== BOOK) return;
    for (const { takerSide, price, amount } of event.trades) fills.trade(takerSide, price, amount, clock.now());
    for (const { side, price } of event.changes)
      for (const order of own)
        if (order.side === side && order.price === price) fills.level(order.tracked, othersAt(side, price));
  });

  const enter = (side: Side): void => {
    const away = random.integer(0, 3) * (side === 'buy' ? -1 : 1);
    const price = (best(side) + away) as Price;
    if (!(best('buy') > 0 && best('sell') > 0) || (side === 'buy' ? price >= best('sell') : price <= best('buy')))
      return;
    const shown = othersAt(side, price);
    const ahead = Math.round(hidden * lots * random.next());
    let hiddenId: number | null = null;
    if (ahead > 0) {
      hiddenId = place.place(side, price, ahead as Amount, 'GTC').id;
      open.set(hiddenId, { side, price, lots: ahead });
    }
    const { id } = place.place(side, price, lots as Amount, 'GTC');
    open.set(id, { side, price, lots });
    const at = clock.now();
    own.add({
      ...{ side, price, at, id, hidden: hiddenId, isLive: true, filledAt: Infinity, shown },
      until: at - 20_000 * Math.log(1 - random.next()),
      tracked: fills.join(side, price, lots, at, shown),
    });
  };
  const withdraw = (order: Own): void => {
    order.isLive = false;
    for (const id of [order.id, order.hidden]) {
      if (id === null || !open.has(id)) continue;
      open.delete(id);
      place.cancel(id);
    }
  };
  const settle = (order: Own, leftAt: number): void => {
    fills.leave(order.tracked);
    own.delete(order);
    const filledAfter = order.filledAt - order.at;
    const endedAfter = Math.min(filledAfter, leftAt - order.at);
    lives.push({ arrivedAt: order.at, filledAfter, endedAfter, reached: order.tracked.reached });
  };
  const decide = (): void => {
    const now = clock.now();
    for (const order of [...own]) {
      if (order.isLive && order.filledAt < Infinity) withdraw(order);
      else if (order.isLive && now >= order.until) {
        withdraw(order);
        settle(order, now);
      } else if (!order.isLive && now >= order.filledAt + GRACE_MS) settle(order, now);
    }
    for (const side of SIDES) if (![...own].some(order => order.isLive && order.side === side)) enter(side);
  };

  flow.start(place);
  const tick = (): void => {
    decide();
    clock.after(DECIDE_MS, tick);
  };
  clock.after(5_000, tick);
  while ((clock.nextDue() ?? Infinity) <= seconds * 1_000) clock.runNext();
  flow.stop();
  venue.close();
  return lives;
}
