import { describe, expect, it } from 'vitest';
import type { WireReply } from '../../../../src/core/index.ts';
import { acceptedOrder } from '../../../../src/exchange/bitso/wire/accountReplies.ts';
import { classify, type ReplyReading } from '../../../../src/exchange/bitso/wire/classify.ts';
import {
  actionableMeaning,
  errorIn,
  meaningOf,
  provesRefusal,
} from '../../../../src/exchange/bitso/wire/errorCodes.ts';

const placing: ReplyReading<{ readonly oid: string }> = { effect: 'write', envelope: 'payload', read: acceptedOrder };
const reply = (status: number, body: unknown): WireReply => ({
  status,
  headers: {},
  body: typeof body === 'string' ? body : JSON.stringify(body),
});
const failed = (code: string | number) => ({ success: false, error: { code, message: 'words' } });
const place = (status: number, body: unknown, throttleRefuses = false) =>
  classify(reply(status, body), placing, throttleRefuses).outcome;

describe('the answer to a new order', () => {
  it('is done with an oid, whichever way success is spelled', () => {
    for (const success of [true, 'true', '1', 1]) {
      expect(place(200, { success, payload: { oid: 'Zk81mQpX02vbTn7C', more: [] }, extra: 1 })).toEqual({
        kind: 'done',
        value: { oid: 'Zk81mQpX02vbTn7C' },
      });
    }
  });

  it.each([
    '0301',
    '0343',
    '0379',
    '0401',
    '0407',
    '0408',
    '0410',
    '0506',
    '0601',
    '1001',
    '1008',
    '1700',
    '0206',
    '0215',
    '0216',
  ])('is refused with code %s', code => {
    expect(place(400, failed(code))).toEqual({ kind: 'refused', code, message: 'words', status: 400 });
  });

  it('is refused with 0356, so that the engine can take it as proof that the order exists', () => {
    expect(place(400, failed('0356'))).toMatchObject({ kind: 'refused', code: '0356' });
    expect(meaningOf('0356')?.advice).toBe('already done');
  });

  it.each(['0101', '0201', '0207', '0377', '0378', '1000', '1002', '1003', '1007'])('is unknown with code %s', code => {
    expect(place(400, failed(code))).toMatchObject({
      kind: 'unknown',
      reason: expect.stringContaining(code) as string,
    });
  });

  it('with a code in no list is refused in the checking categories, else unknown, and the code is kept', () => {
    expect(place(400, failed('0399'))).toMatchObject({ kind: 'refused', code: '0399' });
    expect(place(400, failed('1799'))).toMatchObject({ kind: 'refused', code: '1799' });
    for (const code of ['9999', '1099', 'something_new', '42']) {
      expect(place(400, failed(code)), code).toMatchObject({
        kind: 'unknown',
        reason: expect.stringContaining(code) as string,
      });
    }
  });

  it.each([
    ['a server error', 500, failed('0301')],
    ['a gateway error', 502, '<html>Bad gateway</html>'],
    ['a redirect', 302, { success: true, payload: { oid: 'a' } }],
    ['a success with an error in it', 200, { success: true, payload: { oid: 'a' }, error: { code: '0301' } }],
    ['a 4xx that says success', 400, { success: true, payload: { oid: 'a' } }],
    ['a 4xx without an error', 404, ''],
    ['a page from a proxy', 403, '<html>'],
    ['an empty body', 200, ''],
    ['no oid', 200, { success: true, payload: {} }],
    ['an empty oid', 200, { success: true, payload: { oid: '' } }],
    ['an oid that is a number', 200, { success: true, payload: { oid: 12 } }],
    ['no payload', 200, { success: true }],
    ['no success', 200, { payload: { oid: 'a' } }],
    ['a failure without words', 400, { success: false }],
    ['an array', 200, []],
    ['null', 200, 'null'],
    ['no status that exists', NaN, { success: true, payload: { oid: 'a' } }],
  ])('is unknown for %s', (_, status, body) => {
    expect(place(status, body).kind).toBe('unknown');
  });

  it('is unknown at every cut of a good answer', () => {
    const whole = JSON.stringify({ success: true, payload: { oid: 'Zk81mQpX02vbTn7C' } });
    for (let end = 0; end < whole.length; end++)
      expect(place(200, whole.slice(0, end)).kind, String(end)).toBe('unknown');
  });

  it.each([
    [420, failed('0801')],
    [420, ''],
    [429, '<html>'],
    [400, failed('0802')],
    [200, failed('0801')],
  ])('that is throttled (%s %j) is unknown, unless the owner knows that throttling refuses', (status, body) => {
    expect(place(status, body).kind).toBe('unknown');
    expect(place(status, body, true)).toMatchObject({
      kind: 'refused',
      code: expect.stringMatching(/^080[12]$/) as string,
    });
    expect(classify(reply(status, body), placing, false).throttled).toBe(true);
    expect(classify(reply(status, body), { ...placing, effect: 'read' }, false).outcome.kind).toBe('refused');
  });
});

describe('the answer to a read', () => {
  const reading = { ...placing, effect: 'read' } as const;
  it('is refused with whatever code it has, and unknown without one', () => {
    for (const code of ['0377', '0378', '1003', '9999']) {
      expect(classify(reply(400, failed(code)), reading, false).outcome).toMatchObject({ kind: 'refused', code });
    }
    expect(classify(reply(500, failed('0101')), reading, false).outcome.kind).toBe('unknown');
    expect(classify(reply(404, ''), reading, false).outcome.kind).toBe('unknown');
  });
});

describe('an error', () => {
  it.each([
    [{ success: false, error: { code: '0301', message: 'm', details: [], errorData: null } }, '0301', 'm'],
    [{ error: { code: 20, message: 'Unknown OrderBook nope_usd' } }, '20', 'Unknown OrderBook nope_usd'],
    [{ success: false, error: { code: 301 } }, '0301', ''],
    [{ success: false, error: { code: 104 } }, '104', ''],
    [{ errors: [{ code: 'quote_not_found', message: 'gone' }, { code: 'x' }] }, 'quote_not_found', 'gone'],
    [{ success: false, error: 'duplicated: TRANSACTION' }, 'no-code', 'duplicated: TRANSACTION'],
    [{ success: false, error: { code: { a: 1 }, message: 7 } }, 'no-code', ''],
    [{ success: 'false' }, 'no-code', ''],
    [{ error: { code: 'evil\ncode', message: 'two\r\nlines\u2028' } }, 'no-code', 'two lines '],
  ])('is read from %j', (body, code, message) => {
    expect(errorIn(body)).toEqual({ code, message });
  });

  it('is not seen where there is none', () => {
    for (const body of [undefined, null, 5, 'x', [], {}, { success: true, payload: [], error: null }, { errors: [] }]) {
      expect(errorIn(body)).toBeUndefined();
    }
  });

  it('has one entry with a meaning for every code of the documents', () => {
    const codes = [
      '0214',
      '0302',
      '0343',
      '0377',
      '0378',
      '0379',
      '0381',
      '0382',
      '0407',
      '0408',
      '0410',
      '0411',
      '0414',
      '0417',
    ];
    codes.push('0506', '0729', '0732', '1700', '1707', 'both_amounts_missing', 'forbidden_request', 'quote_cancelled');
    for (const code of codes) expect(meaningOf(code)?.meaning, code).toBeTruthy();
    expect(meaningOf('0200')).toBeUndefined();
  });

  it.each([
    ['0356', 'duplicate id'],
    ['quote_already_executed', 'executed before'],
    ['0301', 'rules'],
    ['0407', 'rules'],
    ['0201', 'nonce'],
    ['104', 'nonce'],
    ['0202', 'person'],
    ['0379', undefined],
    ['0801', undefined],
    ['brand_new', undefined],
  ])('%s is acted on as %s', (code, meaning) => {
    expect(actionableMeaning(code)).toBe(meaning);
  });

  it('proves a refusal only when the request was checked and not begun', () => {
    expect(['0379', '0407', '1008', '0399', 'insufficient_funds'].map(provesRefusal)).toEqual([
      true,
      true,
      true,
      true,
      true,
    ]);
    // A refused nonce may be the answer to a second copy of the same bytes.
    expect(['0201', '0207', '104'].map(provesRefusal)).toEqual([false, false, false]);
    expect(['0101', '1003', '0199', 'brand_new', '', 'no-code'].map(provesRefusal)).toEqual(Array(6).fill(false));
  });
});
