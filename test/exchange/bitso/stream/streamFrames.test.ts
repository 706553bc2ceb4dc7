import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { streamFrame } from '../../../../src/exchange/bitso/stream/streamFrames.ts';
import { WireFault } from '../../../../src/exchange/wire/wire.ts';

const diff = (payload: unknown, more: object = {}) =>
  JSON.stringify({ type: 'diff-orders', book: 'btc_mxn', sequence: 4_521_100_001, payload, sent: 1, ...more });
const open = { o: 'Zk81mQpX02vbTn7C', d: 1, r: '1499980', t: 1, a: '0.0041', v: '6149.918', s: 'open', z: 0 };
const trade = { i: 201777001, a: '0.52', r: '2811.4', v: '1461.9', mo: 'p3Xw', to: 'A9sD', t: 1, x: 1790300000123 };
const trades = (payload: unknown) => JSON.stringify({ type: 'trades', book: 'eth_usd', payload, sent: 1 });

describe('a frame', () => {
  test('of diff-orders tells what each order is now', () => {
    expect(
      streamFrame(diff([open, { o: 'b', s: 'completed', t: 0, r: '1' }, { o: 'c', s: 'cancelled', a: '1' }])),
    ).toEqual({
      kind: 'diff',
      diff: {
        book: 'btc_mxn',
        sequence: 4_521_100_001n,
        sentAt: 1,
        changes: [
          { kind: 'open', oid: 'Zk81mQpX02vbTn7C', side: 'sell', price: '1499980', amount: '0.0041' },
          { kind: 'gone', oid: 'b', filled: true },
          { kind: 'gone', oid: 'c', filled: false },
        ],
      },
    });
  });

  test('keeps every digit of sequences and ids beyond 2^53', () => {
    const text = diff([open]).replace('4521100001', '9007199254740993');
    expect(streamFrame(text)).toMatchObject({ diff: { sequence: 9_007_199_254_740_993n } });
    const long = trades([trade]).replace('201777001', '9007199254740993');
    expect(streamFrame(long)).toMatchObject({ trades: [{ tid: '9007199254740993' }] });
  });

  test('of trades names the side of the maker, opposite to the taker that it tells of', () => {
    expect(streamFrame(trades([trade, { ...trade, t: 0 }]))).toMatchObject({
      kind: 'trades',
      trades: [
        { tid: '201777001', makerSide: 'buy', makerOid: 'p3Xw', takerOid: 'A9sD', price: '2811.4', amount: '0.52' },
        { makerSide: 'sell' },
      ],
    });
  });

  test('whose status nobody knows takes the order out, as the documents say of everything but open', () => {
    expect(streamFrame(diff([{ o: 'b', s: 'expired' }]))).toMatchObject({
      diff: { changes: [{ kind: 'gone', oid: 'b' }] },
    });
  });

  test('of an unknown type, with unknown fields or without a book in its answer is no fault', () => {
    expect(streamFrame('{"type":"processed-orders","payload":7}')).toEqual({ kind: 'other' });
    expect(streamFrame('{"type":"orders","payload":{"bids":[]}}')).toEqual({ kind: 'other' });
    expect(streamFrame('{}')).toEqual({ kind: 'other' });
    expect(streamFrame('{"type":"ka","more":1}')).toEqual({ kind: 'keep alive' });
    expect(streamFrame(diff([{ ...open, new: [1] }], { new: {} }))).toMatchObject({ kind: 'diff' });
    expect(streamFrame('{"action":"subscribe","response":"ok","time":1,"type":"trades"}')).toEqual({
      kind: 'answer',
      action: 'subscribe',
      type: 'trades',
    });
    expect(streamFrame('{"error":"invalid message","time":1}')).toEqual({ kind: 'answer', error: 'invalid message' });
  });

  test.each([
    ['no JSON', '{"type":'],
    ['an array', '[]'],
    ['empty', ''],
    ['a price in exponents', diff([{ ...open, r: '1e6' }])],
    ['a signed price', diff([{ ...open, r: '-1' }])],
    ['a price in hex', diff([{ ...open, r: '0x10' }])],
    ['a price as a number', diff([{ ...open, r: 1499980 }])],
    ['an order without id', diff([{ ...open, o: '' }])],
    ['an id without end', diff([{ ...open, o: 'x'.repeat(65) }])],
    ['a third side', diff([{ ...open, t: 2 }])],
    ['no status', diff([{ ...open, s: undefined }])],
    ['a broken sequence', diff([open], { sequence: 1.5 })],
    ['a negative sequence', diff([open], { sequence: -1 })],
    ['no sequence', diff([open], { sequence: undefined })],
    ['no payload', diff(undefined)],
    ['a payload that is no list', diff({ 0: open })],
  ])('with %s is a fault, not a number', (_, text) => {
    expect(() => streamFrame(text)).toThrow(WireFault);
  });

  test.each(['NaN', undefined, null, 5, '1e3', ''])('with the amount %j keeps its order, the amount unknown', a => {
    const frame = streamFrame(diff([{ ...open, a }]));
    expect(frame.kind === 'diff' && frame.diff.changes).toMatchObject([{ kind: 'open', oid: open.o, amount: null }]);
  });

  test.each([
    ['a trade without ids', { mo: undefined }],
    ['a trade whose id is not a number', { i: 'x17' }],
    ['a price in exponents', { r: '1e6' }],
  ])('with %s names the trade and has the others', (_, strange) => {
    const frame = streamFrame(trades([{ ...trade, ...strange }, trade]));
    expect(frame).toMatchObject({
      trades: [{ price: trade.r }],
      unreadable: [{ why: expect.stringMatching(/^row 1/) as string }],
    });
  });

  test('cut, changed or made up is read or refused, and every number that is read is exact', () => {
    const good = [
      diff([open]),
      trades([trade]),
      '{"type":"ka"}',
      '{"action":"subscribe","type":"orders","response":"ok"}',
    ];
    const hostile = fc.oneof(
      fc.tuple(fc.constantFrom(...good), fc.nat(300)).map(([text, at]) => text.slice(0, at)),
      fc
        .tuple(fc.constantFrom(...good), fc.nat(300), fc.string({ maxLength: 4 }))
        .map(([text, at, put]) => text.slice(0, at) + put + text.slice(at + put.length)),
      fc.json(),
      fc
        .record({ o: fc.anything(), s: fc.anything(), t: fc.anything(), r: fc.anything(), a: fc.anything() })
        .map(x => diff([x], { sequence: x.t })),
    );
    fc.assert(
      fc.property(hostile, text => {
        try {
          const frame = streamFrame(text);
          if (frame.kind !== 'diff') return;
          expect(typeof frame.diff.sequence).toBe('bigint');
          for (const change of frame.diff.changes) {
            if (change.kind === 'open') expect(change.price + (change.amount ?? '')).toMatch(/^[\d.]+$/);
          }
        } catch (error) {
          expect(error).toBeInstanceOf(WireFault);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test('nested without end is a fault', () => {
    const deep = `{"type":"diff-orders","payload":${'['.repeat(200_000)}${']'.repeat(200_000)}}`;
    expect(() => streamFrame(deep)).toThrow(WireFault);
  });
});

const data = process.env['PUNTAS_DATA'] ?? fileURLToPath(new URL('../../../../../shared/data', import.meta.url));
const recorded = `${data}/bitso-api-fixtures/wire-2026-09/ws_frames.json`;
describe.skipIf(!existsSync(recorded))(`the recorded frames (skipped without ${recorded})`, () => {
  test('are all read', () => {
    const { frames } = JSON.parse(readFileSync(recorded, 'utf8')) as { frames: { dir: string; frame: object }[] };
    const read = frames.filter(({ dir }) => dir === 'in').map(({ frame }) => streamFrame(JSON.stringify(frame)));
    expect(read.map(({ kind }) => kind)).toEqual(['answer', 'other', 'trades', 'keep alive']);
    expect(read[2]).toMatchObject({
      trades: [{ book: 'eth_usd', tid: '201566590', price: '2769.2', amount: '1.82161582', makerSide: 'sell' }],
    });
  });
});
