/** Risk in money and time, and what follows from it: how much inventory is full, and how hard to lean. */
import { z } from 'zod';
import { currencyOf, duration, sumOfMoney } from './parameters.ts';
import type { LimitProblem } from './parameters.ts';

export const riskParameters = z
  .strictObject({
    amount: sumOfMoney.describe(
      'What one standard deviation of the price may cost at full inventory over the time `per`: a sum in the minor currency, like "500 mxn". Inventory beyond that is not built up, and the lean against less follows from it.',
    ),
    per: duration.default('1h').describe('The time that goes with the amount, like 1h.'),
  })
  .describe('The risk that you want, in money and time; the risk aversion gamma of the model follows from it.');

/** Lots at which one standard deviation over `perS` seconds costs the budget (tick-lots). `sigma`: share of the price per root of a second. */
export const fullLots = (budget: number, perS: number, sigma: number, fairTicks: number): number =>
  budget / (sigma * Math.sqrt(perS) * fairTicks);

/**
 * The shift of both quotes by one order of inventory, as a share of the price, under which full inventory lies two standard deviations
 * out. Quotes that shift by r an order, met by arrivals A e^(-k d), make inventory a birth and death process whose balance is
 * pi(q+1) / pi(q) = e^(-k r (2q+1)): normal, with variance 1 / (2 k r). So r = 2 / (k full^2), with `full` in orders.
 */
export const shiftFor = (k: number, full: number): number => 2 / (k * full * full);

/** The risk must be in the book's minor currency. */
export function riskProblems(risk: { readonly amount: string }, book: string): readonly LimitProblem[] {
  const minor = book.split('_')[1] ?? '';
  if (currencyOf(risk.amount) === minor) return [];
  return [{ key: 'risk', message: `risk.amount must be in ${minor}, the minor currency of ${book}` }];
}
