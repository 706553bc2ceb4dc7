/** Risk in money and time, and the full inventory and skew that follow from it. */
import { z } from 'zod';
import { pairOf } from '../src/core/index.ts';
import { currencyOf, duration, sumOfMoney, type LimitProblem } from './parameters.ts';

export const riskParameters = z
  .strictObject({
    amount: sumOfMoney.describe(
      'Loss at full inventory, like "500 mxn", for a one-standard-deviation price move over risk.per; sets the skew.',
    ),
    per: duration.default('1h').describe('Period of risk.amount; about the time that quotes need to reduce inventory.'),
  })
  .describe('Acceptable loss in a period; sets the risk aversion gamma.');

/**
 * Returns full inventory in lots. At full inventory, a price move of one standard deviation over `perS` seconds costs
 * `budget`, in ticks times lots. `sigma` is a share of the price per square root of a second.
 */
export const fullLots = (budget: number, perS: number, sigma: number, fairTicks: number): number =>
  budget / (sigma * Math.sqrt(perS) * fairTicks);

/** Full inventory, in standard deviations of inventory. */
export const DEVIATIONS = 3;

/**
 * Returns the shift of both quotes per order of inventory, as a share of the price. The shift keeps three standard
 * deviations of inventory within full inventory, and returns inventory to zero within `perS` seconds if fills allow.
 * With a shift of r per order and arrivals A e^(-k d), inventory is a birth-death process with balance pi(q+1) /
 * pi(q) = e^(-k r (2q+1)). Inventory is then normal with variance 1 / (2 k r). It returns to zero within 1 / (2 k r
 * lambda), where lambda is the number of fills per second of one side at zero inventory. The result is the larger of
 * two values of r:
 * - Full inventory (`full` orders) at three deviations requires r = 9 / (2 k full^2).
 * - A return within `perS` seconds requires r = 1 / (2 k lambda perS), capped at 1 / k, the edge. If fills are too rare
 *   for this cap, no shift returns inventory in time; a larger shift would only move quotes out of reach.
 */
export const shiftFor = (k: number, full: number, fillsPerS: number, perS: number): number =>
  Math.max((DEVIATIONS * DEVIATIONS) / (2 * k * full * full), Math.min(1, 1 / (2 * fillsPerS * perS)) / k);

/** Returns the standard deviation of inventory, in orders, if each order shifts the quotes by `shift`. */
export const usualOrders = (k: number, shift: number): number => 1 / Math.sqrt(2 * k * shift);

/** Checks that the risk is in the book's quote currency. */
export function riskProblems(risk: { readonly amount: string }, book: string): readonly LimitProblem[] {
  const [, minor] = pairOf(book);
  if (currencyOf(risk.amount) === minor) return [];
  return [{ key: 'risk', message: `risk.amount must be in ${minor}, the quote currency of ${book}` }];
}
