/**
 * Quotes of Avellaneda and Stoikov, "High-frequency trading in a limit order book", Quantitative Finance 8(3), 2008.
 * All arguments are plain numbers in any consistent unit of price and time; `q` is in orders.
 */

/**
 * Returns the quotes for a finite horizon, with the time `left` until its end. The reservation price is q gamma sigma^2
 * left below the fair value. The spread is gamma sigma^2 left + (2/gamma) ln(1 + gamma/k).
 */
export const finite = (gamma: number, sigma: number, left: number, q: number): { shift: number; halfRisk: number } => ({
  shift: -q * gamma * sigma * sigma * left,
  halfRisk: (gamma * sigma * sigma * left) / 2,
});

/**
 * Returns the indifference prices for an infinite horizon, of one order more and one order less, as distances from the
 * fair value. Valid for |q| <= qMax. omega is gamma^2 sigma^2 (qMax + 1)^2 / 2, so sigma cancels out. The caller adds
 * the edge.
 */
export function infinite(gamma: number, qMax: number, q: number): { readonly buy: number; readonly sell: number } {
  const room = (qMax + 1) * (qMax + 1) - q * q;
  return { buy: Math.log1p((-1 - 2 * q) / room) / gamma, sell: Math.log1p((1 - 2 * q) / room) / gamma };
}
