/** Small logs in both formats with what misleads a reader: market orders, late makers, stale orders, orders that cross for a moment. */

const START_2015 = 1_430_438_400_000;
const START_2026 = 1_777_689_380_000;

type Side = 'buy' | 'sell';
type Event = 'created' | 'changed' | 'deleted';

/** Lines of a log of 2015. Each comment names the trap. */
export function log2015(): string {
  const order = (at: number, event: Event, id: number, side: Side, price: string, amount: string): string =>
    `${START_2015 + at} order_${event} ${JSON.stringify({ price, amount, datetime: '1430438400', id, order_type: side === 'buy' ? 0 : 1 })}`;
  const trade = (at: number, price: string, amount: string, id: number): string =>
    `${START_2015 + at} trade {"price": ${price}, "amount": ${amount}, "id": ${id}}`;
  return [
    `${START_2015} order_book ${JSON.stringify({ bids: [['99.00', '1.00000000']], asks: [['101.00', '2.00000000']] })}`,
    order(100, 'created', 1, 'sell', '101.00', '2.00000000'),
    order(150, 'created', 2, 'sell', '101.50', '1.00000000'),
    order(200, 'created', 3, 'buy', '99.00', '1.00000000'),
    // A limit order that takes all of its amount.
    order(300, 'created', 4, 'buy', '101.00', '0.50000000'),
    order(420, 'deleted', 4, 'buy', '101.00', '0.00000000'),
    order(421, 'changed', 1, 'sell', '101.00', '1.50000000'),
    trade(430, '101.0', '0.5', 901),
    // A market order that walks over two levels, with a new amount at the second.
    order(1000, 'created', 5, 'buy', '101.00', '2.00000000'),
    order(1120, 'changed', 5, 'buy', '101.00', '0.50000000'),
    order(1121, 'deleted', 1, 'sell', '101.00', '0.00000000'),
    trade(1130, '101.0', '1.5', 902),
    order(1150, 'changed', 5, 'buy', '101.50', '0.49990000'),
    order(1280, 'deleted', 5, 'buy', '101.50', '0.00000000'),
    order(1281, 'changed', 2, 'sell', '101.50', '0.50010000'),
    trade(1290, '101.5', '0.4999', 903),
    // A market order that waits two seconds at a price of its own.
    order(5000, 'created', 6, 'sell', '99.40', '0.30000000'),
    order(7100, 'changed', 6, 'sell', '99.00', '0.30000000'),
    order(7230, 'deleted', 6, 'sell', '99.00', '0.00000000'),
    order(7231, 'changed', 3, 'buy', '99.00', '0.70000000'),
    trade(7240, '99.0', '0.3', 904),
    // The maker's row comes after the trade.
    order(10_000, 'created', 7, 'sell', '99.00', '0.20000000'),
    order(10_120, 'deleted', 7, 'sell', '99.00', '0.00000000'),
    trade(10_128, '99.0', '0.2', 905),
    order(10_135, 'changed', 3, 'buy', '99.00', '0.50000000'),
    // A market order that is older than one of the orders that it meets.
    order(12_000, 'created', 8, 'buy', '101.20', '0.90010000'),
    order(12_010, 'created', 9, 'sell', '101.60', '1.00000000'),
    order(14_000, 'changed', 8, 'buy', '101.50', '0.90010000'),
    order(14_130, 'changed', 8, 'buy', '101.50', '0.40000000'),
    order(14_131, 'deleted', 2, 'sell', '101.50', '0.00000000'),
    trade(14_140, '101.5', '0.5001', 906),
    order(14_160, 'changed', 8, 'buy', '101.60', '0.40000000'),
    order(14_290, 'deleted', 8, 'buy', '101.60', '0.00000000'),
    order(14_291, 'changed', 9, 'sell', '101.60', '0.60000000'),
    trade(14_300, '101.6', '0.40000000000000002', 907),
    order(15_000, 'deleted', 9, 'sell', '101.60', '0.60000000'),
    // A market order whose last match and whose cancel are one row.
    order(16_000, 'created', 10, 'sell', '100.80', '1.00000000'),
    order(17_000, 'created', 11, 'buy', '100.70', '0.50000000'),
    order(18_000, 'changed', 11, 'buy', '100.80', '0.50000000'),
    order(18_130, 'changed', 10, 'sell', '100.80', '0.60000000'),
    order(18_131, 'deleted', 11, 'buy', '100.80', '0.50000000'),
    trade(18_140, '100.8', '0.4', 908),
    order(20_000, 'deleted', 3, 'buy', '99.00', '0.50000000'),
    '',
  ].join('\n');
}

/** Files of a log of 2026, by name. */
export function log2026(): Readonly<Record<string, string>> {
  const order = (at: number, event: Event, id: number, side: Side, price: number, volume: string): string =>
    `${id},${START_2026 + at + 70},${START_2026 + at},${price}.0,${volume},${event},${side === 'buy' ? 'bid' : 'ask'}`;
  const trade = (at: number, id: number, price: number, amount: string, buys: number, sells: number, taker: Side) =>
    `${id},${START_2026 + at + 70},${START_2026 + at},${price}.0,${amount},${buys},${sells},${taker}`;
  const orders = [
    'id,timestamp,exchange_timestamp,price,volume,action,direction',
    // The opening snapshot. Order 1 is already gone, but the log never ends it.
    order(0, 'created', 1, 'sell', 100, '1.0'),
    order(0, 'created', 2, 'sell', 110, '1.0'),
    order(0, 'created', 3, 'sell', 112, '1.0'),
    order(0, 'created', 4, 'buy', 98, '1.0'),
    order(1_000, 'created', 10, 'buy', 115, '0.2'),
    order(1_000, 'deleted', 10, 'buy', 110, '0.0'),
    order(1_000, 'changed', 2, 'sell', 110, '0.8'),
    // Bids above the stale ask, one canceled within a second and one met.
    order(2_000, 'created', 11, 'buy', 105, '0.5'),
    order(2_300, 'deleted', 11, 'buy', 105, '0.5'),
    order(3_000, 'created', 12, 'buy', 106, '0.5'),
    order(3_400, 'created', 13, 'sell', 106, '0.3'),
    order(3_400, 'deleted', 13, 'sell', 106, '0.0'),
    order(3_400, 'changed', 12, 'buy', 106, '0.2'),
    order(3_600, 'deleted', 12, 'buy', 106, '0.2'),
    // One that crosses for less than a millisecond, and then a taker at the level that it crossed.
    order(4_000, 'created', 14, 'buy', 111, '0.5'),
    order(4_000, 'deleted', 14, 'buy', 111, '0.5'),
    order(4_010, 'created', 15, 'buy', 110, '0.3'),
    order(4_010, 'deleted', 15, 'buy', 110, '0.0'),
    order(4_010, 'changed', 2, 'sell', 110, '0.5'),
    // A taker that cancels its rest in the same millisecond.
    order(5_000, 'created', 16, 'buy', 111, '0.8'),
    order(5_000, 'changed', 16, 'buy', 110, '0.3'),
    order(5_000, 'deleted', 2, 'sell', 110, '0.0'),
    order(5_000, 'deleted', 16, 'buy', 111, '0.3'),
    // The stale ask is passed again.
    order(13_000, 'created', 17, 'buy', 112, '0.1'),
    order(13_000, 'deleted', 17, 'buy', 112, '0.0'),
    order(13_000, 'changed', 3, 'sell', 112, '0.9'),
    // A taker whose rest stays at its own limit: the row of its match has the price of the match.
    order(13_500, 'created', 18, 'buy', 113, '1.1'),
    order(13_500, 'changed', 18, 'buy', 112, '0.2'),
    order(13_500, 'deleted', 3, 'sell', 112, '0.0'),
    order(14_000, 'deleted', 18, 'buy', 113, '0.2'),
    order(15_000, 'deleted', 4, 'buy', 98, '1.0'),
    '',
  ];
  const trades = [
    'trade_id,timestamp,exchange_timestamp,price,amount,buy_order_id,sell_order_id,side',
    trade(1_000, 901, 110, '0.2', 10, 2, 'buy'),
    trade(3_400, 902, 106, '0.3', 12, 13, 'sell'),
    trade(4_010, 903, 110, '0.3', 15, 2, 'buy'),
    trade(5_000, 904, 110, '0.5', 16, 2, 'buy'),
    trade(13_000, 905, 112, '0.1', 17, 3, 'buy'),
    trade(13_500, 906, 112, '0.9', 18, 3, 'buy'),
    '',
  ];
  return { 'orders.csv.gz': orders.join('\n'), 'trades.csv.gz': trades.join('\n') };
}
