import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { WireRequest } from '../../../../src/core/index.ts';
import { Secret } from '../../../../src/core/text/secret.ts';
import { authHeaders, signatureOf } from '../../../../src/exchange/bitso/wire/sign.ts';

const secret = new Secret('demo_secret_0f1e2d3c');
const nonce = '1789000000123004217';

/** Check values of the public facts, 2.2. */
const CHECKS: readonly [WireRequest['method'], string, string, string][] = [
  ['GET', '/api/v3/balance', '', 'd31ba9f13e617ee214b8a2de0063f7f394796dcb99ca9e352f283bd08566e078'],
  [
    'GET',
    '/api/v3/open_orders?book=btc_mxn&limit=100',
    '',
    '5f9d57e1293ff6f2c614ae9137bb608ad0fee3ab6ef960dcbe167c9742be86c9',
  ],
  [
    'POST',
    '/api/v3/orders',
    '{"book":"btc_mxn","side":"sell","type":"limit","major":"0.00250000","price":"1502340","time_in_force":"postonly","origin_id":"mm-ask-000017"}',
    '3e949d7f57a862ec62c95d87b083b03f4d002f32b36381005c0f4f2f938952c6',
  ],
  ['DELETE', '/api/v3/orders/all', '', '3af87e5de8f4fd6bf4bdc9f1d7d118762415582e6ce40d00f85999f1a0262b43'],
  [
    'DELETE',
    '/api/v3/orders?oids=Ab3dEf6hIj9kLm2n,Qr5sTu8vWx1yZa4b',
    '',
    '8a681bde7b48e9c6d2234c27e60da8fee3f2e269a575ac79b5ba1ef990fc7a8f',
  ],
  [
    'PATCH',
    '/api/v4/orders/Ab3dEf6hIj9kLm2n',
    '{"price":"1502350","cancel":true}',
    '5a9bb08ba4bd088c72342e47fcc722f10012074351ac5fa06e336c080bef3a4b',
  ],
  [
    'PUT',
    '/api/v4/currency_conversions/kT4bW9xZ2mN7pQ1r',
    '',
    'a60d3d631c610a7f4f93b601ed9ad053807e861901bf133126789d8f10d21d4f',
  ],
];

describe('a signature', () => {
  it.each(CHECKS)('of %s %s is the published check value', (method, target, body, expected) => {
    expect(signatureOf(secret, nonce, { method, target, body })).toBe(expected);
  });

  it('travels in one header, or in three when asked', () => {
    const signature = CHECKS[0]![3];
    expect(authHeaders({ key: 'k', secret }, nonce, signature)).toEqual({
      authorization: `Bitso k:${nonce}:${signature}`,
    });
    expect(authHeaders({ key: 'k', secret, headers: 'three' }, nonce, signature)).toEqual({
      key: 'k',
      nonce,
      signature,
    });
  });
});

describe('a secret', () => {
  it('does not print, whichever way it is printed', () => {
    const printed = [
      String(secret),
      `${secret.toString()}`,
      JSON.stringify({ secret }),
      inspect({ secret }, { depth: 9, showHidden: true }),
      inspect(secret),
      JSON.stringify(Object.entries(secret)),
    ].join();
    expect(printed).not.toContain('demo_secret');
    expect(printed).toContain('[redacted]');
    expect(secret.reveal()).toBe('demo_secret_0f1e2d3c');
  });
});
