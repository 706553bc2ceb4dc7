/** Tells a person what the bot does: every fill, every change of mind, and where it stands every few seconds. */
import { approximately, moneyOfAmount, textOfMoney, textOfPrice } from '../core/index.ts';
import type { Amount, Clock, EngineNews, Instrument, Order, Side, Snapshot, Timer } from '../core/index.ts';
import type { Log } from '../live/log.ts';

/** Writes news as log lines; `resumeCommand` lifts a halt of this very bot. */
export function narrate(log: Log, instrument: Instrument, news: EngineNews, resumeCommand: string): void {
  switch (news.kind) {
    case 'fill': {
      const { fill } = news;
      const role = fill.maker ? 'maker' : 'taker';
      const major = textOfMoney(fill.major);
      log.info(
        {
          tid: fill.tid,
          id: fill.id,
          side: fill.side,
          price: textOfPrice(instrument, fill.price),
          major,
          role,
        },
        `${fill.side === 'buy' ? 'bought' : 'sold'} ${major} ${instrument.major} at ${textOfPrice(instrument, fill.price)} as ${role}`,
      );
      return;
    }
    case 'quoting':
      tellQuoting(log, news);
      return;
    case 'placing': {
      const { id, side, price, amount } = news.command;
      const why = news.level.why.map(step => `${step.name} ${step.ticks.toFixed(2)}`).join(', ');
      log.debug({ id, why }, `placing ${side} ${amountText(instrument, amount)} at ${textOfPrice(instrument, price)}`);
      return;
    }
    case 'taking': {
      const { id, side, price, amount } = news.command;
      const limit = `at ${textOfPrice(instrument, price)} or better`;
      log.info(
        { id },
        `taking: ${side} ${amountText(instrument, amount)} ${limit}, what cannot be had at once is gone`,
      );
      return;
    }
    case 'canceling':
      log.debug(
        { id: news.order.id },
        `canceling ${news.order.side} at ${textOfPrice(instrument, news.order.price)}: ${news.reason}`,
      );
      return;
    case 'refused':
      log.warn({ id: news.order.id, code: news.code }, `${news.order.id} was refused (${news.code}): ${news.message}`);
      return;
    case 'order':
      if (news.news.kind === 'ended')
        log.debug({ id: news.news.order.id }, `${news.news.order.id} ended: ${news.news.ending}`);
      else log.warn({ id: news.news.order.id, news: news.news.kind }, `${news.news.order.id}: ${news.news.kind}`);
      return;
    case 'regime': {
      const { from, to } = news;
      // A pause and a halt say so themselves.
      const isTold = [from, to].some(({ regime }) => regime === 'wide' || regime === 'reduce only');
      if (!isTold || to.regime === 'paused' || to.regime === 'halted') return;
      const level = to.regime === 'reduce only' ? 'warn' : 'info';
      log[level](
        { from: from.regime, to: to.regime, why: to.why },
        `regime: ${to.regime} (${to.why}), was ${from.regime}`,
      );
      return;
    }
    case 'halted':
      log.error({ reason: news.reason }, `halted: ${news.reason}; look, then lift it with: ${resumeCommand}`);
      return;
    case 'count':
      return;
  }
}

/** An amount as a person writes it, without the zeros of the exchange: the same of an order as of its fills. */
const amountText = (instrument: Instrument, amount: Amount): string => textOfMoney(moneyOfAmount(instrument, amount));

function tellQuoting(log: Log, { reason, why }: Extract<EngineNews, { kind: 'quoting' }>): void {
  // A stop says so itself.
  if (reason === 'stopping') return;
  if (reason !== null) log.warn({ reason }, `not quoting: ${reason}${why === null ? '' : ` (${why})`}`);
  else if (why !== null) log.warn({ why }, `nothing is quoted: ${why}`);
  else log.info({}, 'quoting');
}

const STATUS_EVERY_MS = 10_000;

/** A line on where the bot stands: as soon as both sides are quoted, then every ten seconds of the wall. */
export function status(
  log: Log,
  instrument: Instrument,
  now: () => Snapshot,
  clock: Clock,
  speed: number,
  queueAhead: () => Readonly<Record<Side, Amount | null>>,
): { stop(): void } {
  let timer: Timer;
  let told = false;
  const tell = () => {
    const snapshot = now();
    const live = (side: Side) => snapshot.orders.filter(order => order.side === side && isShown(order));
    const bids = live('buy');
    const asks = live('sell');
    const isTwoSided = bids.length > 0 && asks.length > 0;
    if (told || isTwoSided) {
      told = true;
      const { profit } = snapshot;
      const ahead = queueAhead();
      log.info(
        { bids: bids.length, asks: asks.length, fills: snapshot.fills },
        `bid ${bestText(instrument, bids, ahead.buy)} | ask ${bestText(instrument, asks, ahead.sell)} | market ${textOfPrice(instrument, snapshot.bid)} / ${textOfPrice(instrument, snapshot.ask)} | ` +
          `${snapshot.fills} fills, ${instrument.major} ${signed(approximately(snapshot.inventory), 4)} from target, ` +
          `profit ${signed(approximately(profit.total), 2)} ${instrument.minor} (spread ${signed(approximately(profit.spread), 2)}, inventory ${signed(approximately(profit.inventory), 2)}, fees ${signed(approximately(profit.fees), 2)})`,
      );
    }
    timer = clock.after((told ? STATUS_EVERY_MS : 250) * speed, tell);
  };
  timer = clock.after(0, tell);
  return { stop: () => timer.stop() };
}

const isShown = (order: Order): boolean => order.state === 'open' || order.state === 'partially filled';

function bestText(instrument: Instrument, orders: readonly Order[], ahead: Amount | null): string {
  if (orders.length === 0) return 'none';
  const prices = orders.map(order => order.price);
  const queue =
    ahead === null ? '' : `, ${approximately(moneyOfAmount(instrument, ahead)).toFixed(4)} ${instrument.major} ahead`;
  const best = orders[0]!.side === 'buy' ? Math.max(...prices) : Math.min(...prices);
  return `${textOfPrice(instrument, best as Order['price'])} (${orders.length} level${orders.length === 1 ? '' : 's'}${queue})`;
}

const signed = (x: number, decimals: number): string => `${x >= 0 ? '+' : ''}${x.toFixed(decimals)}`;
