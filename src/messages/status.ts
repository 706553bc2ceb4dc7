/** Periodic status line of the bot. On a terminal, the line is shortened to one row. */
import {
  counted,
  approximately,
  isInBook,
  mayLive,
  moneyOfAmount,
  REASON_TO_WAIT,
  textOfPrice,
  type Amount,
  type Clock,
  type Instrument,
  type Order,
  type Price,
  type Side,
  type Snapshot,
  type Timer,
} from '../core/index.ts';
import { profitSentence, signedCents } from './shownProfit.ts';
import type { Log } from '../live/log.ts';

const STATUS_EVERY_MS = 10_000;
const FIRST_LOOK_EVERY_MS = 250;

export type StatusOptions = {
  readonly log: Log;
  readonly instrument: () => Instrument;
  readonly now: () => Snapshot;
  readonly clock: Clock;
  readonly speed: number;
  readonly queueAhead: () => QueueAhead;
  /** Returns the width of one row, in characters. */
  readonly room: () => number;
  /** Whether each line begins with the book; default: `false`. */
  readonly isNamed?: boolean;
};
type QueueAhead = Readonly<Record<Side, Amount | null>>;

/**
 * Starts the status line. The first line is printed when both sides are quoted or ten seconds of wall time have passed.
 * Further lines follow every ten seconds.
 */
export function status({ log, instrument, now, clock, speed, queueAhead, room, isNamed = false }: StatusOptions): {
  stop(): void;
} {
  let timer: Timer;
  let told = false;
  const every = STATUS_EVERY_MS * speed;
  const began = clock.elapsed();
  const tell = () => {
    const snapshot = now();
    const [bids, asks] = [ordersShown(snapshot, 'buy').length, ordersShown(snapshot, 'sell').length];
    if (told || (bids > 0 && asks > 0) || clock.elapsed() - began >= every) {
      told = true;
      const { emptySidesText, known } = snapshot;
      const fills = known.trades && known.trades.fills;
      const name = isNamed ? `${snapshot.symbol}: ` : '';
      log.info(
        { bids, asks, fills, ...(emptySidesText !== null && { whyNot: emptySidesText }) },
        `${name}${statusLine(snapshot, instrument(), queueAhead(), room() - name.length)}`,
      );
    }
    timer = clock.after(told ? every : FIRST_LOOK_EVERY_MS * speed, tell);
  };
  timer = clock.after(0, tell);
  return { stop: () => timer.stop() };
}

/**
 * Returns the most complete form of the status line with at most `room` characters. Cuts the shortest form if no form
 * fits.
 */
export function statusLine(of: Snapshot, instrument: Instrument, ahead: QueueAhead, room: number): string {
  const forms =
    of.quoting === 'stopping' ? [stoppingText(of)] : [whole(of, instrument, ahead), ...shorter(of, instrument)];
  return forms.find(form => form.length <= room) ?? `${forms.at(-1)!.slice(0, Math.max(0, room - 1))}…`;
}

/** While a bot stops, its orders can fill, so the figures of the status line are not known until the summary. */
function stoppingText({ orders }: Snapshot): string {
  const open = orders.filter(mayLive).length;
  return `stopping: ${open === 0 ? 'verifying open orders' : `${counted(open, 'order')} may still be open`}`;
}

function whole(of: Snapshot, instrument: Instrument, ahead: QueueAhead): string {
  const side = (name: Side) => ordersShown(of, name).length > 0 || !isEmpty(of, name);
  const best = (name: Side): string[] =>
    side(name) ? [sideText(of, instrument, name, levelsText(instrument, ahead))] : [];
  const quotes =
    of.quoting !== null
      ? [notQuoting(of, true)]
      : [...best('buy'), ...best('sell'), ...(of.emptySidesText === null ? [] : [of.emptySidesText])];
  return [
    ...quotes,
    `market ${textOfPrice(instrument, of.bid)} / ${textOfPrice(instrument, of.ask)}`,
    figuresText(of, instrument),
  ].join(' | ');
}

function figuresText({ known: { trades, unknown } }: Snapshot, { major, minor }: Instrument): string {
  if (trades === null) return `fills, inventory and profit unknown: ${unknown ?? ''}`;
  const { fills, inventory, sinceOpening, runProfit } = trades;
  const { profit } = sinceOpening;
  const hedging = profit.hedging === 0n ? '' : `, hedging ${signedCents(profit.hedging)}`;
  const parts = `spread ${signedCents(profit.spread)}, inventory ${signedCents(profit.inventory)}, fees ${signedCents(profit.fees)}${hedging}`;
  return (
    `${counted(fills, 'fill')}, ${major} ${signedNumber(approximately(inventory))} from target, ` +
    `profit ${profitSentence({ ...sinceOpening, since: null }, runProfit, minor, parts)}`
  );
}

/**
 * Returns shortened status lines, each at most as long as the one before. Every version keeps the quotes, or the reason
 * for missing quotes.
 */
function shorter(of: Snapshot, instrument: Instrument): readonly string[] {
  const { major, minor } = instrument;
  const { trades } = of.known;
  const fills = trades === null ? 'fills unknown' : counted(trades.fills, 'fill');
  const held = `${major} ${trades === null ? 'unknown' : signedNumber(approximately(trades.inventory))}`;
  const profit = `${minor} ${trades === null ? 'unknown' : signedCents(trades.sinceOpening.profit.total)}`;
  const quotes = (levels: (orders: readonly Order[]) => string) => {
    if (of.quoting !== null) return notQuoting(of, false);
    const { buy, sell } = of.unshown;
    if (buy !== null && buy.reason === sell?.reason) return `no bid, no ask: ${buy.reason}`;
    return `${sideText(of, instrument, 'buy', levels)} | ${sideText(of, instrument, 'sell', levels)}`;
  };
  const withCounts = quotes(orders => ` x${orders.length}`);
  const bare = quotes(() => '');
  // If only the ask is missing, the reason for the missing ask comes first. A cut at the end of the row then shortens
  // the bid price instead.
  const last = of.quoting === null && of.unshown.buy === null && of.unshown.sell !== null ? turned(bare) : bare;
  const forms = [
    [withCounts, held, profit, fills],
    [withCounts, held, profit],
    [bare, held, profit],
    [bare, profit],
    [bare],
    [last],
  ];
  return forms.map(parts => parts.join(' | '));
}

const turned = (text: string): string => text.split(' | ').reverse().join(' | ');

const notQuoting = ({ quoting, waitsFor }: Snapshot, isWhole: boolean): string =>
  `not quoting: ${quoting ?? ''}${isWhole && waitsFor !== null ? ` (${waitsFor})` : ''}`;

const ordersShown = ({ orders }: Snapshot, side: Side): readonly Order[] =>
  orders.filter(order => order.side === side && isInBook(order));
/** Whether a side has no order that is live, pending or being replaced. */
const isEmpty = ({ unshown }: Snapshot, side: Side): boolean => unshown[side] !== null;

function sideText(
  of: Snapshot,
  instrument: Instrument,
  side: Side,
  levels: (orders: readonly Order[], side: Side) => string,
): string {
  const name = side === 'buy' ? 'bid' : 'ask';
  const orders = ordersShown(of, side);
  if (orders.length > 0) {
    const prices = orders.map(order => order.price);
    const best = (side === 'buy' ? Math.max(...prices) : Math.min(...prices)) as Price;
    return `${name} ${textOfPrice(instrument, best)}${levels(orders, side)}`;
  }
  const empty = of.unshown[side];
  if (empty !== null) return `no ${name}: ${empty.reason}`;
  const state = of.orders.find(order => order.side === side)?.state;
  return `no ${name}: ${(state && REASON_TO_WAIT[state]) ?? 'its order is on its way'}`;
}

const levelsText =
  (instrument: Instrument, ahead: QueueAhead) =>
  (orders: readonly Order[], side: Side): string => {
    const lots = ahead[side];
    const queue =
      lots === null ? '' : `, ${approximately(moneyOfAmount(instrument, lots)).toFixed(4)} ${instrument.major} ahead`;
    return ` (${counted(orders.length, 'level')}${queue})`;
  };

const signedNumber = (x: number): string => `${x >= 0 ? '+' : ''}${x.toFixed(4)}`;
