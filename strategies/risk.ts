/** Risk in money and time, and what follows from it: how much inventory is full, and how hard to lean. */
import { z } from 'zod';
import { pairOf } from '../src/core/index.ts';
import { currencyOf, duration, sumOfMoney } from './parameters.ts';
import type { LimitProblem } from './parameters.ts';

export const riskParameters = z
  .strictObject({
    amount: sumOfMoney.describe(
      'Cost of one standard deviation at full inventory over per, like "500 mxn". It sets full inventory and skew.',
    ),
    per: duration.default('1h').describe('Time of the amount, like 1h; also the approximate time to reduce inventory.'),
  })
  .describe('Risk in money and time; it sets the risk aversion gamma.');

/** Lots at which one standard deviation over `perS` seconds costs the budget (tick-lots). `sigma`: share of the price per root of a second. */
export const fullLots = (budget: number, perS: number, sigma: number, fairTicks: number): number =>
  budget / (sigma * Math.sqrt(perS) * fairTicks);

/** Full inventory lies this many standard deviations out. */
export const DEVIATIONS = 3;

/**
 * The shift of both quotes by one order of inventory, as a share of the price, that keeps inventory within what was asked. Quotes that shift by
 * r an order, met by arrivals A e^(-k d), make inventory a birth and death process whose balance is pi(q+1) / pi(q) = e^(-k r (2q+1)): it is
 * normal with variance 1 / (2 k r), and comes back within 1 / (2 k r lambda), lambda being the fills of one side at no inventory. So for full
 * inventory (`full` orders) to lie three deviations out, r = 9 / (2 k full^2); to come back within the time of the risk, r = 1 / (2 k lambda
 * per), but not more than the whole edge 1 / k: where fills are rarer than that no shift brings inventory back, and the quotes would leave
 * the market. The larger of the two.
 */
export const shiftFor = (k: number, full: number, fillsPerS: number, perS: number): number =>
  Math.max((DEVIATIONS * DEVIATIONS) / (2 * k * full * full), Math.min(1, 1 / (2 * fillsPerS * perS)) / k);

/** Standard deviation of inventory in orders under that shift. */
export const usualOrders = (k: number, shift: number): number => 1 / Math.sqrt(2 * k * shift);

/** The risk must be in the book's minor currency. */
export function riskProblems(risk: { readonly amount: string }, book: string): readonly LimitProblem[] {
  const [, minor] = pairOf(book);
  if (currencyOf(risk.amount) === minor) return [];
  return [{ key: 'risk', message: `risk.amount must be in ${minor}, the minor currency of ${book}` }];
}
