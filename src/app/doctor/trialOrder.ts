/**
 * Trial order of the minimum size, far from the market, canceled and verified after a short time. A complete run with
 * journal, risk gate and client places the order.
 */
import { unverified } from '../../live/loop/loopOptions.ts';
import {
  bestOf,
  fundsFor,
  moneyOfAmount,
  moneyOfValue,
  textOfMoney,
  textOfPrice,
  valueOf,
  type Amount,
  type Clock,
  type EngineNews,
  type Instrument,
  type Millis,
  type Price,
  type Side,
} from '../../core/index.ts';
import { loneOrder, noOrder } from '../../../strategies/index.ts';
import { asTrialOrder, booksOf, configOfBooks, leavesTransfers, type Config } from '../../config.ts';
import type { PreviewNow } from './previewNow.ts';
import { cancelCommand } from '../run/remainingOrders.ts';
import { BotProcess } from '../run/botProcess.ts';
import type { Summary } from '../../messages/summary.ts';
import type { RunOptions } from '../run/runOptions.ts';
import { ownCommand, type WhichBot } from '../../messages/ownCommand.ts';
import { withoutElsewhere } from '../../wiring/elsewhereHedging.ts';
import { checkAborted, finding, type Finding } from './finding.ts';

const { pass, warn, fail } = finding;
const CHECK = 'order';

/** Distance of the order from the mid price (10%). At this distance, an order is accepted and does not trade. */
const FAR_BPS = 1_000;
/**
 * Divisor of the minimum value of an order. The quotient is added to the value, in case the price moves before the
 * order arrives.
 */
const ROOM_SHARE = 20n;
/** Margin added to the price collar, because the market may move between decision and risk gate. */
const COLLAR_ROOM_BPS = 200;
/** Time after which the trial ends without an order, in ms. A start takes only seconds. */
const NONE_AFTER_MS = 30_000;
/** Time added to the interval of open-order reads, in ms, so that a read includes the order. */
const LIES_MORE_MS = 500;

export type TrialPlan = {
  readonly instrument: Instrument;
  readonly side: Side;
  readonly lots: Amount;
  /** Instruments of the other books of the account, in which the trial has no order. */
  readonly others: readonly Instrument[];
  /** Description for the operator's confirmation. */
  readonly text: string;
};

/**
 * Plans an order on a side with sufficient balance; returns a finding if neither side has enough. `others`: previews of
 * the other books of the account.
 */
export function planTrial({ riskContext }: PreviewNow, others: readonly PreviewNow[]): TrialPlan | Finding {
  const { instrument: i, depth } = riskContext;
  const [bid, ask] = [bestOf(depth, 'buy'), bestOf(depth, 'sell')];
  if (!(bid > 0 && ask > 0)) return fail(CHECK, `the book ${i.symbol} has no bid or no ask`, 'run puntas doctor again');
  const tried = (['buy', 'sell'] as const).map(side => {
    const price = farPrice(i, side, (bid + ask) / 2);
    const lots = minimumLots(i, price);
    const needed = side === 'sell' ? moneyOfAmount(i, lots) : moneyOfValue(i, valueOf(price, lots));
    const what = `${side} ${textOfMoney(moneyOfAmount(i, lots))} ${i.major} at about ${textOfPrice(i, price)}`;
    const text = `${what}, ${FAR_BPS / 100}% from the mid price`;
    const money = `${textOfMoney(needed)} ${side === 'sell' ? i.major : i.minor}`;
    return { side, lots, text, money, isPaid: needed <= fundsFor(side, riskContext) };
  });
  const found = tried.find(({ isPaid }) => isPaid);
  if (found)
    return {
      ...{ instrument: i, side: found.side, lots: found.lots, text: found.text },
      others: others.map(other => other.riskContext.instrument),
    };
  return fail(
    CHECK,
    'the balances do not cover the smallest order on either side',
    `deposit ${tried.map(({ money }) => money).join(' or ')}`,
  );
}

const farPrice = (i: Instrument, side: Side, mid: number): Price =>
  Math.min(
    i.priceMax,
    Math.max(i.priceMin, Math.floor((mid * (10_000 + (side === 'buy' ? -FAR_BPS : FAR_BPS))) / 10_000)),
  ) as Price;

/** Returns the minimum amount at a price, plus a margin, in lots. */
function minimumLots(i: Instrument, price: Price): Amount {
  const byValue = (i.valueMin + i.valueMin / ROOM_SHARE) / BigInt(price) + 1n;
  return Math.max(i.amountMin, Number(byValue)) as Amount;
}

export type TrialOptions = Pick<RunOptions, 'config' | 'venue' | 'clock' | 'seed' | 'version' | 'log' | 'onStarted'> & {
  readonly which: WhichBot;
};

export type Tried = { readonly finding: Finding; readonly left: readonly string[] };

/** Places the order once and returns the result. Never rejects. */
export async function tryOrder(plan: TrialPlan, options: TrialOptions): Promise<Tried> {
  const { clock, which, config } = options;
  const liesMs = config.timing.privatePollMs + LIES_MORE_MS;
  const watch = new TrialWatch(clock, liesMs, config.exchange.requestTimeoutMs + liesMs);
  const trial = trialConfig(config, plan);
  try {
    const ended = await BotProcess.run({
      ...options,
      config: trial,
      configFile: which.configFile,
      onNews: (news, instrument) => {
        if (instrument.symbol === plan.instrument.symbol) watch.hear(news, instrument);
      },
      onStarted: (stop, ...others) => {
        watch.begins(stop);
        options.onStarted(stop, ...others);
      },
    });
    const { summary, failure } = ended;
    const left = unverified(ended);
    const { text } = watch;
    if (left.length > 0)
      return {
        left,
        finding: fail(CHECK, `${text}; orders may still be open: ${left.join(', ')}`, cancelCommand(which)),
      };
    const gone = 'two reads found no open orders';
    if (summary.halted !== undefined)
      return {
        left,
        finding: fail(
          CHECK,
          `${text}: trading is halted (${summary.halted}); ${gone}`,
          `investigate, then resume with: ${ownCommand('resume', which)}`,
        ),
      };
    if (failure !== null)
      return {
        left,
        finding: fail(
          CHECK,
          `${text}: the trial failed (${failure}); ${gone}`,
          'see the log above, then run puntas doctor again',
        ),
      };
    return { left, finding: watch.finding(summary, gone, leavesTransfers(trial)) };
  } catch (error) {
    return { left: [], finding: checkAborted(CHECK, error) };
  } finally {
    watch.end();
  }
}

/**
 * Returns the bot's configuration with this order as its strategy and a sufficient price collar; other books do not
 * quote. Sections that do not concern orders are removed. If the bot hedges on another exchange, the trial books no
 * transfers; the bot books them at its next start.
 */
function trialConfig(config: Config, { instrument, side, lots, others }: TrialPlan): Config {
  const strategies = new Map([
    [instrument.symbol, loneOrder(instrument, side, lots, FAR_BPS)],
    ...others.map(other => [other.symbol, noOrder(other, FAR_BPS)] as const),
  ]);
  const books = booksOf(config).map(each => ({
    ...each,
    strategy: strategies.get(each.book)!,
    limits: {
      ...each.limits,
      collarBps: Math.max(each.limits.collarBps, FAR_BPS + COLLAR_ROOM_BPS),
      priceMove: undefined,
    },
    ...{ regimes: undefined, markouts: undefined, fillSamples: undefined },
    ...{ fairValue: undefined, reference: undefined, pull: undefined },
  }));
  return asTrialOrder(
    {
      ...withoutElsewhere(configOfBooks(books)),
      metrics: { host: '127.0.0.1', port: 0, allowedHosts: [] },
      ...{ hedge: undefined, rfqReference: undefined, webhooks: undefined, alerts: undefined },
      ...{ jointInventory: undefined, crossRates: undefined },
    },
    config.hedge?.elsewhere !== undefined,
  );
}

/** Watcher that ends the run once the order's outcome is known. */
class TrialWatch {
  readonly #clock: Clock;
  readonly #liesMs: Millis;
  readonly #unansweredMs: Millis;
  #stop: (why: string) => void = () => undefined;
  #timer: { stop(): void } | null = null;
  #order: string | null = null;
  #why: string | null = null;
  #end: 'accepted' | 'refused' | 'unknown' | 'taken out' | null = null;
  #refusal = '';

  /**
   * Creates the watcher. An accepted order stays for `liesMs`. An order without an answer stays for `unansweredMs`, so
   * that a read may find it.
   */
  constructor(clock: Clock, liesMs: Millis, unansweredMs: Millis) {
    this.#clock = clock;
    this.#liesMs = liesMs;
    this.#unansweredMs = unansweredMs;
  }

  begins(stop: (why: string) => void): void {
    this.#stop = stop;
    this.#after(NONE_AFTER_MS, `the bot placed no order within ${NONE_AFTER_MS / 1_000} s`);
  }

  end(): void {
    this.#timer?.stop();
  }

  /** Returns a description of the order. */
  get text(): string {
    return this.#order ?? 'no trial order was sent';
  }

  hear(news: EngineNews, instrument: Instrument): void {
    if (news.kind === 'placing') {
      const { id, side, price, amount } = news.command;
      this.#order = `${side} ${textOfMoney(moneyOfAmount(instrument, amount))} ${instrument.major} at ${textOfPrice(instrument, price)} (${id})`;
      this.#after(this.#unansweredMs, 'the trial order has ended');
    } else if (news.kind === 'quoting' && this.#order === null) {
      // The reason `stopping` comes from this check, so an earlier reason is kept. Without one, the reason is what the
      // bot still waited for.
      this.#why = news.reason === 'stopping' ? (this.#why ?? news.why) : (news.why ?? news.reason);
    } else if (news.kind === 'refused') {
      this.#refusal = `${news.code}: ${news.message}`;
    } else if (news.kind === 'count') this.#counted(news.event);
  }

  #counted(event: Extract<EngineNews, { kind: 'count' }>['event']): void {
    // Events before this order belong to orders of an earlier run.
    if (this.#order === null) return;
    if (event === 'placed') {
      // An order that was found after an unknown outcome also counts as accepted.
      this.#end = 'accepted';
      this.#after(this.#liesMs, 'the trial order has ended');
      return;
    }
    if (event === 'canceled' && this.#end === 'accepted' && !this.#isOver) this.#end = 'taken out';
    if (event === 'refused' || event === 'unknown') this.#end = event;
    this.#over('the trial order has ended');
  }

  #isOver = false;
  #over(why: string): void {
    this.#isOver = true;
    this.#stop(why);
  }
  #after(ms: Millis, why: string): void {
    this.#timer?.stop();
    this.#timer = this.#clock.after(ms, () => this.#over(why));
  }

  /**
   * Returns the finding after a run that ended cleanly; `gone` is the text that says that no order remains.
   * `isLeaving`: whether the trial leaves new transfers unbooked. Such a transfer may have prevented the order, and the
   * remedy then names it.
   */
  finding(
    { fills, figuresUnknown = '' }: Pick<Summary, 'fills' | 'figuresUnknown'>,
    gone: string,
    isLeaving: boolean,
  ): Finding {
    const { text } = this;
    if (this.#order !== null && fills === null && this.#end !== 'refused')
      return warn(
        CHECK,
        `${text}: the bot could not read whether the order was executed before its cancel (${figuresUnknown}); ${gone}`,
        'check the trades on the exchange; the bot books them at its next start',
      );
    if (fills !== null && fills > 0)
      return warn(CHECK, `${text}: accepted, and EXECUTED before the cancel; ${gone}`, 'see puntas ledger');
    switch (this.#end) {
      case 'accepted':
        return pass(CHECK, `${text}: accepted and canceled; ${gone}`);
      case 'refused':
        return fail(
          CHECK,
          `${text}: rejected (${this.#refusal}), and not sent again; ${gone}`,
          'fix the cause of the rejection',
        );
      case 'taken out':
        return fail(
          CHECK,
          `${text}: accepted, but then canceled by the exchange; ${gone}`,
          'ask the exchange why it canceled the order',
        );
      case 'unknown':
      case null:
        if (this.#order === null)
          return fail(
            CHECK,
            `trial order not sent: ${this.#why ?? 'the check was stopped before the order was sent'}`,
            isLeaving
              ? 'fix the cause, or start the bot, which books pending transfers and adjustments; then run puntas doctor again'
              : 'fix the cause, then run puntas doctor again',
          );
        // The warning stays even if the order was found in the meantime.
        return warn(
          CHECK,
          `${text}: the exchange did not answer, and the order was not sent again; ${gone}`,
          'check the connection, then run puntas doctor again',
        );
    }
  }
}
