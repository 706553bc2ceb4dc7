/** Tick and lot of a recording that does not state them, inferred from all its prices and amounts. */
import { LOT, MONEY_DECIMALS, price, textOfPrice, trimmedEnd, UNITS_MAX, type DecimalText } from '../../core/index.ts';
import { KIND } from '../model/tape.ts';
import { OFF_TICK, plainText } from './digits.ts';
import { Findings, WrongFile } from './read/findings.ts';
import type { Recording } from './recording.ts';

export type Grid = { readonly tick: DecimalText; readonly lot: DecimalText };

/** Minimum number of prices for inferring a tick that is coarser than the last decimal. */
const PRICES_MIN = 1_000;
const DECIMALS_MAX = 12;

/**
 * Fine ticks with which a recording of unknown tick is read, tried in this order. Coarser ticks come first, because
 * large prices overflow with finer ticks.
 */
const FINEST: readonly DecimalText[] = ['0.00000001', '0.0000000001', '0.000000000001'];

/**
 * Infers the tick of a recording, at least 10^-12. `open` opens the recording with a tick, and throws a RangeError if
 * the tick does not fit the lot. Rejects with the error of the reader.
 */
export async function inferredTick(
  open: (tick: DecimalText) => Recording,
  onBytes: (count: number) => void,
): Promise<DecimalText> {
  let best: { readonly tick: DecimalText; readonly unread: number } | null = null;
  let failure: unknown;
  for (const finest of FINEST) {
    try {
      const found = await tickIn(open(finest), onBytes);
      if (best === null || found.unread < best.unread) best = found;
      if (found.unread === 0) break;
    } catch (error) {
      // The first failure that is not about the tick shows what the operator can change.
      if (failure === undefined || isOffTick(failure)) failure = error;
      if (!(error instanceof WrongFile || error instanceof RangeError)) throw error;
    }
  }
  if (best === null) throw failure;
  return best.tick;
}

const isOffTick = (error: unknown): boolean => error instanceof Error && error.message.includes(OFF_TICK);

/**
 * Infers the tick by reading the recording with a very fine tick. `unread` is the number of lines that could not be
 * read with this tick.
 */
async function tickIn(
  finest: Recording,
  onBytes: (count: number) => void,
): Promise<{ readonly tick: DecimalText; readonly unread: number }> {
  const { instrument } = finest;
  const finder = new GridFinder();
  const findings = new Findings();
  const reading = { instrument, findings, gap: () => undefined, onEnd: () => undefined, bytes: onBytes };
  for (const stream of finest.streams(reading)) {
    for await (const { columns } of stream) {
      for (let row = 0; row < columns.length; row++)
        if (columns.kind[row] !== KIND.clear) finder.price(textOfPrice(instrument, price(columns.price[row]!)));
    }
  }
  findings.check();
  return { tick: finder.grid().tick, unread: findings.unreadLines };
}

/** Collector of prices and amounts, as text, that infers tick and lot. */
export class GridFinder {
  #count = 0;
  #decimals = 0;
  #divisor = 0;
  #lotDecimals = 0;
  #amountMax = 0;

  price(text: string): void {
    const plain = plainText(text, () => undefined);
    const decimals = decimalsOf(plain);
    if (decimals > this.#decimals) {
      this.#divisor *= 10 ** (decimals - this.#decimals);
      this.#decimals = decimals;
    }
    const scaled = Math.floor(Number(plain) * 10 ** this.#decimals + 0.5);
    // Prices out of range are rejected later, by the reader.
    if (!Number.isSafeInteger(scaled) || scaled <= 0) return;
    this.#count++;
    this.#divisor = divisorOf(this.#divisor, scaled);
  }

  amount(text: string): void {
    const plain = plainText(text, () => undefined);
    this.#lotDecimals = Math.max(this.#lotDecimals, decimalsOf(plain));
    this.#amountMax = Math.max(this.#amountMax, Number(plain));
  }

  /**
   * Returns tick and lot. The tick is the largest of 1, 2, 5, 10, 20, … units of the last decimal that divides all
   * prices. With few prices, the tick is one unit of the last decimal. The lot is 10^-8, finer if an amount has more
   * decimals, or coarser if the largest amount would not fit.
   */
  grid(): Grid {
    const tick = this.#count < PRICES_MIN ? 1 : niceDivisor(this.#divisor);
    let lotDecimals = Math.max(this.#lotDecimals, Math.min(decimalsOf(LOT), MONEY_DECIMALS - this.#decimals));
    while (lotDecimals > this.#lotDecimals && this.#amountMax * 10 ** lotDecimals > UNITS_MAX) lotDecimals--;
    return { tick: scaledText(tick, this.#decimals), lot: scaledText(1, lotDecimals) };
  }

  get prices(): number {
    return this.#count;
  }
}

function decimalsOf(text: string): number {
  const point = text.indexOf('.');
  if (point < 0) return 0;
  let end = text.length;
  while (text.charCodeAt(end - 1) === 48) end--;
  return Math.min(end - point - 1, DECIMALS_MAX);
}

function divisorOf(a: number, b: number): number {
  while (a !== 0) [a, b] = [b % a, a];
  return b;
}

function niceDivisor(of: number): number {
  let best = 1;
  for (let unit = 1; unit <= of; unit *= 10) {
    for (const factor of [1, 2, 5]) if (of % (unit * factor) === 0) best = Math.max(best, unit * factor);
  }
  return best;
}

function scaledText(units: number, decimals: number): DecimalText {
  const digits = String(units).padStart(decimals + 1, '0');
  if (decimals === 0) return digits;
  const fraction = trimmedEnd(digits.slice(-decimals), '0');
  return fraction === '' ? digits.slice(0, -decimals) : `${digits.slice(0, -decimals)}.${fraction}`;
}
