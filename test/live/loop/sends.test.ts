/** Commands on their way: what their answers prove is counted from when they left. */
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
