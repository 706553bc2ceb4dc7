/** Log of the bot's events: every fill and every change of state. */
import {
  disagreementText,
  moneyOfAmount,
  textOfMoney,
  textOfPrice,
  type Amount,
  type EngineNews,
  type Instrument,
  type OrderNews,
} from '../core/index.ts';
import type { Log } from '../live/log.ts';
import { signedCents } from './shownProfit.ts';

/** Writes engine news as log lines. `resumeCommand` is the command that ends a halt of this bot. */
export function logEvent(log: Log, instrument: Instrument, news: EngineNews, resumeCommand: string): void {
  switch (news.kind) {
    case 'fill': {
      const { fill, level, gain } = news;
      const role = fill.maker ? 'maker' : 'taker';
      const major = textOfMoney(fill.major);
      log.info(
        {
          tid: fill.tid,
          id: fill.id,
          // The field names equal the column names of `puntas export`.
          ...{ trade_id: fill.tid, order_id: fill.oid, client_order_id: fill.id },
          side: fill.side,
          price: textOfPrice(instrument, fill.price),
          major,
          role,
          fee: textOfMoney(fill.fee),
          ...(level === null ? {} : { quoteLevel: level }),
          ...(gain === null ? {} : { profit: textOfMoney(gain) }),
        },
        fillText(news, instrument),
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
        `taker order: ${side} ${amountText(instrument, amount)} ${limit}; the unfilled rest is canceled`,
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
      log.warn({ id: news.order.id, code: news.code }, `${news.order.id} was rejected (${news.code}): ${news.message}`);
      return;
    case 'order':
      if (news.news.kind === 'ended')
        log.debug({ id: news.news.order.id }, `${news.news.order.id} ended: ${news.news.ending}`);
      else
        log[news.news.kind === 'resolved' ? 'info' : 'warn'](
          { id: news.news.order.id, news: news.news.kind },
          `${news.news.order.id}: ${ORDER_WORDS[news.news.kind]}`,
        );
      return;
    case 'price doubt':
      if (news.doubt === null) log.info({}, 'the cross rates agree again');
      else
        log.warn(
          { books: news.doubt.books },
          `the cross rates disagree (${disagreementText(news.doubt)}): ${news.doubt.isPulled ? 'no quotes' : 'one side is moved away'} until they agree`,
        );
      return;
    case 'regime': {
      const { from, to } = news;
      // A pause and a halt have their own log lines.
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
      log.error({ reason: news.reason }, `halted: ${news.reason}; investigate, then resume with: ${resumeCommand}`);
      return;
    // The hedger logs the end of a hedge.
    case 'not taken':
    case 'count':
      return;
  }
}

/**
 * Returns a sentence about a fill: amount, price, level, fee, and the gain. The gain is measured against the mid price,
 * minus the fee.
 */
export function fillText({ fill, level, gain }: Extract<EngineNews, { kind: 'fill' }>, instrument: Instrument): string {
  const { side, major, price, maker, fee, feeIn } = fill;
  const done = side === 'buy' ? 'bought' : 'sold';
  const at = textOfPrice(instrument, price);
  const currency = feeIn === 'other' ? '' : ` ${instrument[feeIn]}`;
  return [
    `${done} ${textOfMoney(major)} ${instrument.major} at ${at} as ${maker ? 'maker' : 'taker'}`,
    ...(level === null ? [] : [`level ${level}`]),
    `fee ${textOfMoney(fee)}${currency}`,
    ...(gain === null ? [] : [`profit ${signedCents(gain)} ${instrument.minor}`]),
  ].join(', ');
}

/** Texts for news about an order, for the operator. */
const ORDER_WORDS: Readonly<Record<Exclude<OrderNews['kind'], 'ended'>, string>> = {
  unknown: 'outcome unknown; the order is treated as live until the exchange reports the order',
  resolved: 'the exchange has reported the order; its outcome is known',
  reopened:
    'the exchange shows the order as open, though the bot considered the order ended; the order is treated as live again',
  'late fill': 'the exchange listed a fill after the order had ended; the fill is booked',
  adopted: 'the order is open, but this run did not place the order; the bot treats the order as live and cancels it',
  'trades missing':
    "the exchange reports a larger filled amount than the order's trades show; the difference stays reserved until the amounts match",
};

/** Returns an amount of the base currency as text without trailing zeros. */
const amountText = (instrument: Instrument, amount: Amount): string => textOfMoney(moneyOfAmount(instrument, amount));

function tellQuoting(log: Log, { reason, why, severity }: Extract<EngineNews, { kind: 'quoting' }>): void {
  // A stop has its own log line.
  if (reason === 'stopping') return;
  if (reason !== null) log.warn({ reason }, `not quoting: ${reason}${why === null ? '' : ` (${why})`}`);
  else if (why !== null) log[severity ?? 'warn']({ why }, `nothing is quoted: ${why}`);
  else log.info({}, 'quoting');
}
