/** A request that waits: what is asked of it again when its turn has come. */
import { describe, expect, it } from 'vitest';
import { settle } from '../../src/core/index.ts';
import type { NewOrder, WireReply } from '../../src/core/index.ts';
import { ok, scriptedClient } from './fakes.ts';

const order: NewOrder = {
  book: 'btc_mxn',
  side: 'buy',
  price: '100',
  major: '1',
  originId: 'a-1-1',
  timeInForce: 'postonly',
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
