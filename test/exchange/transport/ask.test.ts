/** A request that waits: what is asked of it again when its turn has come. */
import { describe, expect, it } from 'vitest';
import { settle, TransportFailure, type NewOrder, type WireReply } from '../../../src/core/index.ts';
import { json, ok, scriptedClient } from '../fakes.ts';

const order: NewOrder = {
  book: 'btc_mxn',
  side: 'buy',
  price: '100',
  major: '1',
  originId: 'a-1-1',
  timeInForce: 'post only',
};

describe('a request that waits for its turn', () => {
  it.each([true, false])('is asked then whether it is still wanted, and leaves only if so: %s', async isWantedThen => {
    const answers: ((reply: WireReply) => void)[] = [];
    const { client, transport } = scriptedClient(() => new Promise(resolve => answers.push(resolve)), {
      lanes: { concurrency: 1 },
    });
    const reading = client.openOrders();
    let isWanted = true;
    const placing = client.place(order, () => isWanted);
    await settle();
    expect(transport.requests.map(({ method }) => method)).toEqual(['GET']);
    isWanted = isWantedThen;
    answers.shift()!(ok([]));
    await reading;
    await settle();
    expect(transport.requests.map(({ method }) => method)).toEqual(isWantedThen ? ['GET', 'POST'] : ['GET']);
    answers.shift()?.(ok({ oid: 'x' }));
    expect(await placing).toMatchObject(
      isWantedThen ? { kind: 'done', value: { oid: 'x' } } : { kind: 'refused', code: 'not-sent' },
    );
  });
});

describe('the budget of a request', () => {
  it.each([
    [true, 'unknown', 1],
    [false, 'refused', 0],
  ] as const)('that failed on its way is used up exactly if it may have left (%s)', async (sent, kind, used) => {
    const { client } = scriptedClient(() => Promise.reject(new TransportFailure('reset', sent)));
    const before = client.budget().private;
    expect(await client.place(order)).toMatchObject({ kind });
    expect(before - client.budget().private).toBe(used);
  });

  it('is paused by a throttled order as by a throttled read, though its outcome is unknown', async () => {
    const { client } = scriptedClient(() => json({ success: false, error: { code: '0801', message: 'slow' } }, 420));
    expect(await client.place(order)).toMatchObject({ kind: 'unknown' });
    expect([client.budget().private, client.lockOuts().private]).toEqual([0, 1]);
  });
});
