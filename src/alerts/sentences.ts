/** Texts for the operator: the daily digest and the summary of a stop. */
import { money, textOfMoney, type Instrument, type Money, type Snapshot } from '../core/index.ts';
import { isAllGone, unverified, type StopReport } from '../live/loop/loopOptions.ts';
import { profitSentence } from '../messages/shownProfit.ts';

/**
 * Returns a function that writes the daily digest. The digest has the profit, its parts and the fills since the
 * previous digest. It also has the share of time with live quotes since the start of the bot.
 */
function dayTexts(first: Snapshot): (now: Snapshot, instrument: Instrument) => string {
  let before = first.booked;
  return ({ booked, known, uptime }, { major, minor }) => {
    const since = before;
    before = booked;
    const live = `share of time with live quotes since the start of the bot: bids ${sharePercent(uptime.bid)}, asks ${sharePercent(uptime.ask)}`;
    if (known.trades === null) return `fills, inventory and profit are unknown (${known.unknown ?? ''}); ${live}`;
    const { profit, fills, inventory, sinceOpening, runProfit } = known.trades;
    const part = (name: keyof typeof profit) => textOfMoney(less(profit[name], since.profit[name]));
    const parts = (['spread', 'inventory', 'fees', 'hedging'] as const).map(name => `${name} ${part(name)}`);
    return [
      `profit in this period ${part('total')} ${minor} (${parts.join(', ')})`,
      `fills in this period: ${fills - since.fills}`,
      `profit ${profitSentence(sinceOpening, runProfit, minor)}`,
      `inventory ${textOfMoney(inventory)} ${major} from its target`,
      live,
    ].join('; ');
  };
}

/** Texts of the daily digest of each book. */
export class DayTextsOfBooks {
  readonly #texts = new Map<string, ReturnType<typeof dayTexts>>();

  /** Starts the period of a book that is seen for the first time: at the start, or after a reload that added it. */
  see(now: Snapshot): void {
    if (!this.#texts.has(now.symbol)) this.#texts.set(now.symbol, dayTexts(now));
  }

  /** Returns the text of a book since its previous one. Throws Error for a book that was never seen. */
  of(now: Snapshot, instrument: Instrument): string {
    const text = this.#texts.get(now.symbol);
    if (text === undefined) throw new Error(`${now.symbol} was never seen`);
    return text(now, instrument);
  }
}

/** Returns the summary of a stop, with each order that may still be live. */
export function stopSummary(why: string, report: StopReport): string {
  const { failure, ledgerMatches } = report;
  return [
    `stopped (${why})`,
    ...(failure === null ? [] : [`the bot failed: ${failure}`]),
    isAllGone(report) ? 'verified: no open orders left' : `orders may still be open: ${unverified(report).join(', ')}`,
    ...(ledgerMatches === false ? ['the ledger differs from the balances'] : []),
    ...(ledgerMatches === null ? ['the balances were not compared with the ledger'] : []),
  ].join('; ');
}

const less = (a: Money, b: Money): Money => money(a - b);
const sharePercent = (share: number): string => `${(100 * share).toFixed(1)}%`;
