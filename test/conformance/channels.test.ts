/** What the first document names of the stream: its three channels and the fields of their messages. Their behaviour is tried in test/sandbox and test/exchange. */
import { expect, it } from 'vitest';
import { streamFrame } from '../../src/exchange/bitso/stream/streamFrames.ts';
import { diffFrame, ordersFrame, ordersPayload, tradesFrame } from '../../src/sandbox/stream/streamFrames.ts';
import { everyWay, traded, type Fields, type Stage } from './driver.ts';

type Channel = 'trades' | 'diff-orders' | 'orders';

/** The frames of one trade and what led to it. */
async function framesOf(stage: Stage): Promise<Record<Channel, string[]>> {
  const frames: Record<Channel, string[]> = { trades: [], 'diff-orders': [], orders: [] };
  const { venue } = stage.exchange;
  const stop = venue.onBookEvent(event => {
    if (event.trades.length > 0) frames.trades.push(tradesFrame(event, venue.clock.now()));
    frames['diff-orders'].push(diffFrame(event, venue.clock.now(), 'present'));
    frames.orders.push(ordersFrame(event.book, ordersPayload(venue.books.get(event.book)!), venue.clock.now()));
  });
  await traded(stage);
  stop();
  return frames;
}

const rowsIn = (text: string): Fields[] => {
  const { payload } = JSON.parse(text) as { payload: Fields[] | { bids: Fields[]; asks: Fields[] } };
  return Array.isArray(payload) ? payload : [...payload.bids, ...payload.asks];
};

everyWay(open => {
  it('rest-api 6 trades carries i, a, r, v, mo, to, t, x and sent, and the client reads it', async () => {
    const stage = open();
    const { trades } = await framesOf(stage);
    const sent = ((JSON.parse(trades[0]!) as Fields)['sent'] ?? 0) as number;
    expect(sent).toBeGreaterThanOrEqual(1_790_000_000_000);
    expect(sent).toBeLessThanOrEqual(stage.clock.now());
    expect(Object.keys(rowsIn(trades[0]!)[0]!).sort()).toEqual(['a', 'i', 'mo', 'r', 't', 'to', 'v', 'x']);
    expect(JSON.parse(trades[0]!)).toMatchObject({ type: 'trades', book: 'btc_mxn' });
    expect(streamFrame(trades[0]!)).toMatchObject({
      kind: 'trades',
      trades: [{ price: '1500000', amount: '0.01000000', makerSide: 'sell' }],
    });
  });

  it('rest-api 6 diff-orders carries o, d, r, t, a, v, s and z, and the client reads it', async () => {
    const frames = (await framesOf(open()))['diff-orders'];
    expect(Object.keys(rowsIn(frames[0]!)[0]!).sort()).toEqual(['a', 'd', 'o', 'r', 's', 't', 'v', 'z']);
    expect(JSON.parse(frames[0]!)).toMatchObject({ type: 'diff-orders', sequence: expect.any(Number) as number });
    expect(frames.map(frame => streamFrame(frame).kind)).toEqual(['diff', 'diff']);
  });

  it('rest-api 6 orders carries o, r, a, v, t, d and s, which the client leaves to its own book', async () => {
    const { orders } = await framesOf(open());
    expect(Object.keys(rowsIn(orders[0]!)[0]!).sort()).toEqual(['a', 'd', 'o', 'r', 's', 't', 'v']);
    expect(streamFrame(orders[0]!)).toEqual({ kind: 'other' });
  });

  it('rest-api 6 tt, which is described nowhere, is not sent, and ignored when it comes', async () => {
    const { trades } = await framesOf(open());
    const [row] = rowsIn(trades[0]!);
    expect(row).not.toHaveProperty('tt');
    const more = { ...(JSON.parse(trades[0]!) as Fields), payload: [{ ...row, tt: 1 }] };
    expect(streamFrame(JSON.stringify(more))).toEqual(streamFrame(trades[0]!));
  });

  it('rest-api 9 t is 0 for a buy and 1 for a sell, in order channels', async () => {
    const stage = open();
    const frames = await framesOf(stage);
    // Ann's resting sell, in both channels of orders; bob's buy in trades, where it is the taker's.
    expect([rowsIn(frames['diff-orders'][0]!)[0]!['t'], rowsIn(frames.orders[0]!)[0]!['t']]).toEqual([1, 1]);
    expect(rowsIn(frames.trades[0]!)[0]!['t']).toBe(0);
    const buys = await (async () => {
      const seen: string[] = [];
      const stop = stage.exchange.venue.onBookEvent(event => void seen.push(diffFrame(event, 0, 'present')));
      await stage.ann.limit('buy', '1400000', '0.1');
      stop();
      return seen;
    })();
    expect(rowsIn(buys[0]!)[0]!['t']).toBe(0);
    expect(streamFrame(buys[0]!)).toMatchObject({ diff: { changes: [{ kind: 'open', side: 'buy' }] } });
  });
});
