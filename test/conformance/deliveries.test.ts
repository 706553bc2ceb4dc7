/** Every event that the embedded exchange delivers is read whole by the client, and what is none is told as such. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { delivery } from '../../src/exchange/index.ts';
import type { TransactionEvent } from '../../src/core/index.ts';
import { withOperator } from '../../src/sandbox/index.ts';
import { deskArena } from '../sandbox/desk.ts';
import type { Fields } from './driver.ts';

const TOKEN = 'a-token-for-the-operator';

/** What is delivered when the operator makes a transaction. */
async function delivered(what: string, fields: Fields): Promise<readonly string[]> {
  const { exchange, register, ann, callback, clock } = deskArena();
  register(ann);
  const body = JSON.stringify(fields);
  const headers = { authorization: `Bearer ${TOKEN}` };
  const { status, body: said } = withOperator(exchange, TOKEN)(
    { method: 'POST', target: `/operator/${what}`, headers, body },
    '127.0.0.1',
  );
  if (status !== 200) throw new Error(said);
  await clock.advance(60_000);
  return callback.bodies;
}

function read(body: string): TransactionEvent {
  const found = delivery(body);
  if (found.kind !== 'transaction') throw new Error(`${JSON.stringify(found)} of ${body}`);
  return found.event;
}

const MADE: readonly (readonly [string, Fields, object])[] = [
  ['deposits', { asset: 'BTC', amount: '0.5' }, { kind: 'CRYPTO_DEPOSIT', amount: '0.5', asset: 'BTC' }],
  ['withdrawals', { asset: 'BTC', amount: '0.5' }, { kind: 'CRYPTO_WITHDRAWAL', amount: '0.5', asset: 'BTC' }],
  ['issuances', { amount: '100', method: 'SPEI' }, { kind: 'ISSUANCE', amount: '100', method: 'SPEI', asset: 'MXN' }],
  ['redemptions', { amount: '100', method: 'SPEI' }, { kind: 'REDEMPTION', amount: '100', method: 'SPEI' }],
];

describe('a delivery', () => {
  it.each(MADE)(
    'webhooks 2.5 of %s is read by the client, from the first status to the last',
    async (what, fields, wanted) => {
      const events = (await delivered(what, fields)).map(read);
      expect(events.length).toBeGreaterThan(1);
      for (const event of events) expect(event).toMatchObject(wanted);
      const last = [...events].sort((a, b) => a.updatedAt - b.updatedAt).at(-1)!;
      expect(last.status).toBe('COMPLETE');
      if (last.kind === 'CRYPTO_DEPOSIT') expect(last.txHash).toMatch(/^0x/);
    },
  );

  it('webhooks 2.6 refund steps, and 2.5 error and receiver, are read field by field', () => {
    const common = {
      id: 'x',
      created_at: '2026-02-11T16:05:09Z',
      updated_at: '2026-02-11T16:05:10.500Z',
      status: 'FAILED',
    };
    const redemption = {
      network: 'POLYGON',
      amount: '5.5',
      asset: 'MXN',
      method: 'SPEI',
      refunded: true,
      receiver_account: { type: 'MEXICAN_BANK_ACCOUNT', mexican_bank_account: { clabe: '1', external_fiat_id: null } },
      failure_reason: 'why',
      error: { code: 'transaction_failed', message: 'why' },
      refund_status: 'IN_PROGRESS',
      refund_steps: [
        { step: 'TOKEN_MINT', status: 'COMPLETE', id: '0x1' },
        { step: 'TOKEN_TRANSFER', status: 'IN_PROGRESS' },
      ],
    };
    expect(
      read(JSON.stringify({ event: 'transaction', payload: { ...common, type: 'REDEMPTION', redemption } })),
    ).toEqual({
      id: 'x',
      status: 'FAILED',
      createdAt: Date.UTC(2026, 1, 11, 16, 5, 9),
      updatedAt: Date.UTC(2026, 1, 11, 16, 5, 10, 500),
      kind: 'REDEMPTION',
      network: 'POLYGON',
      amount: '5.5',
      asset: 'MXN',
      method: 'SPEI',
      refunded: true,
      receiver: { type: 'MEXICAN_BANK_ACCOUNT', clabe: '1' },
      failureReason: 'why',
      error: { code: 'transaction_failed', message: 'why' },
      refund: {
        status: 'IN_PROGRESS',
        steps: [
          { step: 'TOKEN_MINT', status: 'COMPLETE', id: '0x1' },
          { step: 'TOKEN_TRANSFER', status: 'IN_PROGRESS' },
        ],
      },
    });
  });

  it('webhooks 2.5 of a conversion is read by the client', () => {
    const payload = {
      id: 'x',
      type: 'CONVERSION',
      status: 'COMPLETE',
      created_at: '2026-02-11T16:05:09Z',
      updated_at: '2026-02-11T16:05:09Z',
      conversion: {
        quote_id: 'q',
        amount_from: '1',
        amount_to: '2',
        asset_from: 'MXN',
        asset_to: 'USD',
        exchange_rate: '0.5',
      },
    };
    expect(read(JSON.stringify({ event: 'TRANSACTION', payload }))).toMatchObject({
      quoteId: 'q',
      from: { asset: 'MXN', amount: '1' },
      to: { asset: 'USD', amount: '2' },
      rate: '0.5',
    });
  });

  it('webhooks 2.5 of another event is known as such, and one that is cut or changed is never misread', async () => {
    expect(delivery('{"event":"funding","payload":{"fid":"1"}}')).toEqual({ kind: 'other' });
    const [body] = await delivered('deposits', { asset: 'BTC', amount: '0.5' });
    for (let end = 0; end < body!.length; end++) expect(delivery(body!.slice(0, end)).kind).toBe('unreadable');
    for (const amount of ['1e5', '-1', 'NaN', '', 1])
      expect(delivery(body!.replace('"0.5"', JSON.stringify(amount))).kind).toBe('unreadable');
    expect(delivery('['.repeat(200_000)).kind).toBe('unreadable');
    fc.assert(
      fc.property(fc.jsonValue(), fc.boolean(), (value, wrap) => {
        const found = delivery(JSON.stringify(wrap ? { event: 'TRANSACTION', payload: value } : value));
        expect(['other', 'unreadable']).toContain(found.kind);
      }),
    );
  });
});
