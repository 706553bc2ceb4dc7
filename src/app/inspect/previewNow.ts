/**
 * Quotes that a configuration would place now, computed by an engine with the data that a start reads. Places nothing.
 */
import {
  moneyOf,
  pairOf,
  textOfMoney,
  type Balance,
  type Clock,
  type Exchange,
  type Money,
  type OrderReport,
  type Preview,
  type RiskContext,
} from '../../core/index.ts';
import type { Config } from '../../config.ts';
import { latchIn } from '../../live/safety/latch.ts';
import { readOpening } from '../../live/loop/opening.ts';
import { Reads } from '../../live/account/reads.ts';
import { isFailed } from '../../live/failedRequest.ts';
import type { Log } from '../../live/log.ts';
import { readLivePrices } from '../../live/market/livePriceReads.ts';
import { readReference } from '../../live/market/reference.ts';
import type { Rules } from '../../live/rules.ts';
import { engineOf, referenceOf } from '../../wiring/bot.ts';
import { withoutPlace } from '../../wiring/place.ts';
import { livePricesOf, type SourceAccess } from '../../wiring/feeds.ts';
import { UsageError } from '../../wiring/usageError.ts';

export type PreviewNow = {
  readonly preview: Preview;
  readonly riskContext: RiskContext;
  readonly balances: readonly Balance[];
  /**
   * Number of live orders of this bot, from a killed or running process. The preview treats them as canceled, because a
   * start cancels them.
   */
  readonly own: number;
};

const isOwn = ({ book, originId }: OrderReport, config: Config): boolean =>
  book === config.book && originId?.startsWith(`${config.instance}-`) === true;

/** Returns the balance as if the bot's orders locked nothing. */
function unlocked(balance: Balance, own: readonly OrderReport[]): Balance {
  const { currency, locked } = balance;
  const one = moneyOf('1');
  const freed = own.reduce((sum, { book, side, price = '0', unfilledAmount }) => {
    const [major, minor] = pairOf(book);
    if (currency !== (side === 'sell' ? major : minor)) return sum;
    return sum + (side === 'sell' ? moneyOf(unfilledAmount) : (moneyOf(unfilledAmount) * moneyOf(price)) / one);
  }, 0n);
  const left = moneyOf(locked) - freed;
  return { ...balance, locked: textOfMoney((left > 0n ? left : 0n) as Money) };
}

/** Returns a configuration in which a basis that is not measured yet counts as 0, because a preview has no time. */
function withoutBasis(config: Config): Config {
  const { reference } = config;
  if (reference?.basis === undefined) return config;
  return { ...config, reference: { ...reference, basis: { ...reference.basis, unknown: 'zero' } } };
}

/** Log that writes nothing: the preview names what is missing. */
const SILENT: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/**
 * Returns a preview of the quotes. Sources of the reference price count with a basis of 0. Rejects with one line for the
 * operator if the exchange cannot be read, or if the quotes cannot earn the account's fees.
 */
export async function previewNow(
  config: Config,
  client: Exchange,
  rules: Rules,
  clock: Clock,
  access: SourceAccess,
): Promise<PreviewNow> {
  const around = referenceOf(config);
  try {
    const time = () => clock.now();
    // A preview has no account on the other exchange, so it shows the quotes without hedges there.
    const engine = engineOf(withoutPlace(withoutBasis(config)), rules, 0);
    const opening = await readOpening(client, time);
    const reads = new Reads(client, config.book, opening.lastTid, time);
    const open = await reads.openOrders();
    const own = isFailed(open) ? [] : open.orders.filter(order => isOwn(order, config));
    engine.step({ kind: 'rules', at: time(), ...rules });
    engine.step({
      kind: 'balances',
      at: time(),
      startedAt: opening.startedAt,
      quiet: true,
      balances: opening.balances.map(balance => unlocked(balance, own)),
    });
    for (const read of [
      ...(around ? [readReference({ exchange: client, instrument: () => rules.instrument, time }, around)] : []),
      reads.trades(),
      isFailed(open) ? open : { ...open, orders: open.orders.filter(order => !isOwn(order, config)) },
      reads.publicTrade(rules.instrument),
      reads.book(rules.instrument),
    ]) {
      const event = await read;
      if (isFailed(event))
        throw new UsageError(
          `the exchange could not be read: ${event.kind === 'refused' ? `${event.code} ${event.message}` : event.reason}`,
          1,
        );
      if (event?.kind === 'feed failed') throw new UsageError(`the feed ${event.name} has no price: ${event.why}`, 1);
      if (event !== null) engine.step(event);
    }
    const newLivePrices = livePricesOf(config, access, clock, 0);
    if (newLivePrices)
      for (const event of await readLivePrices(newLivePrices(), { clock, log: SILENT, time })) engine.step(event);
    const reducing = latchIn(config.state.dir).readReduce();
    if (reducing !== null) engine.step({ kind: 'reduce', at: time(), reason: reducing.reason });
    const at = time();
    return {
      preview: engine.preview(at),
      riskContext: engine.riskContext(at),
      balances: opening.balances,
      own: own.length,
    };
  } finally {
    await around?.close();
  }
}
