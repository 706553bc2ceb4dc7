/** The name of a book as this program writes it, <major>_<minor>, from the symbols of other venues. */

const QUOTES = ['usdt', 'usdc', 'fdusd', 'busd', 'usd', 'mxn', 'brl', 'eur', 'gbp', 'jpy', 'btc', 'eth'];

/** btc_usdt for BTCUSDT, BTC-USDT, BTC/USDT and btc_usdt; null for what does not say its two currencies. */
export function bookNameOf(symbol: string): string | null {
  const plain = symbol.toLowerCase();
  const split = /^([a-z0-9]{2,12})[-_/]([a-z0-9]{2,12})$/.exec(plain);
  if (split) return QUOTES.includes(split[2]!) ? `${split[1]}_${split[2]}` : null;
  const quote = QUOTES.find(each => plain.endsWith(each) && plain.length > each.length + 1);
  if (quote === undefined || !/^[a-z0-9]+$/.test(plain)) return null;
  return `${plain.slice(0, -quote.length)}_${quote}`;
}
