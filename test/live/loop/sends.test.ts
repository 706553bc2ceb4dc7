/** Commands on their way: what their answers prove is counted from when they left. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { approveByIds, type Exchange } from '../../../src/core/index.ts';
import { send } from '../../../src/live/loop/sends.ts';
import { btcMxn } from '../../core/market.ts';

describe('a command', () => {
  test.each([
    ['cancel', 'canceled'],
    ['look', 'looked up'],
  ] as const)('to %s says when it left and when it was answered', async (kind, event) => {
    let now = 1_000;
    const answered = () => {
      now += 4_000;
      return Promise.resolve({ kind: 'done', value: [] } as const);
    };
    const exchange = { cancel: answered, lookUp: answered } as Partial<Exchange> as Exchange;
    const [command] = approveByIds(kind, ['a-1-1']);
    const at = { exchange, book: 'btc_mxn', instrument: btcMxn, time: () => now, mayPlace: () => true };
    const sent = await send(command!, at);
    expect(sent.event).toMatchObject({ kind: event, startedAt: 1_000, at: 5_000, ids: ['a-1-1'] });
  });
});

test('a look-up answers exactly for the orders that no unreadable row can be', async () => {
  const ids = ['a-1-1', 'a-1-2', 'a-1-3', 'a-1-4'];
  const some = fc.subarray(ids);
  const foreign = fc.constantFrom(null, undefined, 'none');
  await fc.assert(
    fc.asyncProperty(some, some, foreign, async (listed, unreadable, other) => {
      const answer = {
        kind: 'done',
        value: listed.map(originId => ({ originId, oid: `o ${originId}` })),
        unreadable: [
          ...unreadable.map(originId => ({ why: 'x', originId })),
          ...(other === 'none' ? [] : [{ why: 'x', ...(other === null ? { originId: null } : {}) }]),
        ],
      };
      const exchange = { lookUp: () => Promise.resolve(answer) } as unknown as Exchange;
      const [command] = approveByIds('look', ids);
      const at = { exchange, book: 'btc_mxn', instrument: btcMxn, time: () => 0, mayPlace: () => true };
      const { event } = await send(command!, at);
      // A row without a known id may be any order that is not listed.
      const expected = ids.filter(id => (other === 'none' ? !unreadable.includes(id) : listed.includes(id)));
      expect(event).toMatchObject({ kind: 'looked up', ids: expected });
    }),
    { numRuns: 200 },
  );
});
