/** Order of trades by their numbers at the exchange. */

/** Compares two trades by their numbers: whole numbers of any length, as text. */
export const byTradeNumber = (a: { readonly tid: string }, b: { readonly tid: string }): number =>
  BigInt(a.tid) < BigInt(b.tid) ? -1 : 1;
