/** Ids, numbers, nonces, signatures and names of Kraken. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Secret, VirtualClock, type UnreadableRow } from '../../../src/core/index.ts';
import { krakenFrame } from '../../../src/exchange/kraken/stream/frames.ts';
import { krakenClientId, originIdOf } from '../../../src/exchange/kraken/wire/clientIds.ts';
import { assetDecimals, assetNames, assetPairs, currencyDecimals } from '../../../src/exchange/kraken/wire/names.ts';
import { risingNonces } from '../../../src/exchange/kraken/wire/nonce.ts';
import { millisOfSeconds, unfoldedDecimal } from '../../../src/exchange/kraken/wire/numbers.ts';
import { krakenBalances } from '../../../src/exchange/kraken/wire/replies.ts';
import { krakenSignature } from '../../../src/exchange/kraken/wire/sign.ts';
import { WireFault } from '../../../src/exchange/wire/wire.ts';
import { runsOf } from '../../many.ts';
import { ASSET_PAIRS, ASSETS } from './scripted.ts';

const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'];
const instance = (maxLength: number) => fc.string({ unit: fc.constantFrom(...letters), minLength: 1, maxLength });
const idOf = (of: fc.Arbitrary<string>) =>
  fc
    .tuple(of, fc.nat(2 ** 31 - 1), fc.integer({ min: 1, max: 2 ** 26 - 1 }))
    .map(([name, run, counter]) => `${name}-${run}-${counter}`);

describe('origin ids', () => {
  test('come back as they were, and fit one of the forms of the exchange', () => {
    fc.assert(
      fc.property(idOf(instance(10)), originId => {
        const clientId = krakenClientId(originId);
        expect(originIdOf(clientId)).toBe(originId);
        expect(clientId).toMatch(
          /^(?:[A-Za-z0-9_-]{1,18}|[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})$/,
        );
      }),
      runsOf(10_000, 500),
    );
  });

  test('that differ become ids that differ', () => {
    fc.assert(
      fc.property(idOf(instance(10)), idOf(instance(10)), (a, b) => {
        fc.pre(a !== b);
        expect(krakenClientId(a)).not.toBe(krakenClientId(b));
      }),
      runsOf(10_000, 300),
    );
  });

  test('that do not fit are refused, not shortened', () => {
    for (const tooLong of [
      'marketmaker-1-123456789',
      'mm-2147483648-1234567',
      'mm-2147483647-67108864',
      'a-b-c-d-e-f-g-h-i-j',
      'mm 1',
      '',
    ])
      expect(() => krakenClientId(tooLong), tooLong).toThrow(WireFault);
  });

  test('of other programs stay as they are', () => {
    fc.assert(
      fc.property(fc.uuid({ version: 4 }), uuid => {
        const originId = originIdOf(uuid);
        // The mark has 5 bits, so one of 32 foreign ids could be read; it must then give the same UUID again.
        expect(originId === uuid || krakenClientId(originId) === uuid).toBe(true);
      }),
      runsOf(100_000, 2_000),
    );
    expect(originIdOf('web-123')).toBe('web-123');
    expect(originIdOf('6d1b345e-2821-40e2-ad83-4ecb18a06876')).toBe('6d1b345e-2821-40e2-ad83-4ecb18a06876');
  });
});

describe('numbers', () => {
  test('keep their value and digits as text', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 14n), fc.integer({ min: 0, max: 15 }), (digits, decimals) => {
        const text = digits.toString().padStart(decimals + 1, '0');
        const plain = decimals === 0 ? text : `${text.slice(0, -decimals)}.${text.slice(-decimals)}`;
        expect(unfoldedDecimal(plain)).toBe(plain);
        // As a JSON number: the value is the same, without trailing zeros.
        const short = plain.includes('.') ? plain.replace(/\.?0+$/, '') : plain;
        if (short.length <= 15) expect(unfoldedDecimal(JSON.parse(short))).toBe(short);
      }),
      runsOf(10_000, 500),
    );
  });

  test.each([
    [1e-8, '0.00000001'],
    ['1e-08', '0.00000001'],
    ['1.234567890123456e-03', '0.001234567890123456'],
    ['12.5e3', '12500'],
    ['5e0', '5'],
    [0, '0'],
    ['007', '7'],
  ])('%s is %s', (value, text) => expect(unfoldedDecimal(value)).toBe(text));

  test.each([['-1'], [-1], ['1.'], ['.5'], ['+1'], ['NaN'], [Number.NaN], [Infinity], [null], ['1e-40'], [[1]], ['']])(
    '%s is none',
    value => expect(unfoldedDecimal(value)).toBeUndefined(),
  );

  test('with more decimals than money has are no numbers, unless only zeros follow: nothing is rounded', () => {
    expect(unfoldedDecimal('1.500000000000000000000')).toBe('1.500000000000000000');
    expect(unfoldedDecimal('0.0000000000000000001')).toBeUndefined();
    const unreadable: UnreadableRow[] = [];
    const row = { balance: '0.1234567890123456789', hold_trade: '0' };
    const listed = krakenBalances({ assets: assetNames(ASSETS), decimals: new Map() }, [])(
      { XXBT: row, ZUSD: { balance: '1.00000000000000000000' } },
      unreadable,
    );
    expect(listed).toMatchObject([{ currency: 'usd', available: '1' }]);
    expect(unreadable).toMatchObject([
      {
        currencies: ['btc'],
        why: expect.stringContaining('balance: expected a decimal number with at most 18') as string,
      },
    ]);
  });

  test('a wanted currency gets no zero while an asset without a name is listed, which may be that currency', () => {
    const read = (result: object) =>
      krakenBalances(
        { assets: assetNames(ASSETS), decimals: new Map() },
        [],
        ['btc', 'xmr'],
      )(result, []).map(({ currency, total }) => `${total} ${currency}`);
    expect(read({})).toEqual(['0 btc', '0 xmr']);
    expect(read({ ZUSD: { balance: '1' } })).toEqual(['1 usd', '0 btc', '0 xmr']);
    expect(read({ XXMR: { balance: '2' } })).toEqual(['2 xxmr', '0 btc']);
    expect(read({ XXBT: { balance: '3' }, XXMR: { balance: '2' } })).toEqual(['3 btc', '2 xxmr']);
  });

  test('seconds are whole milliseconds, rounded down', () => {
    expect(millisOfSeconds('1710429248.3052235', 't')).toBe(1_710_429_248_305);
    expect(millisOfSeconds(1_688_666_559.8974, 't')).toBe(1_688_666_559_897);
    expect(millisOfSeconds('1705260547.4799999', 't')).toBe(1_705_260_547_479);
    expect(millisOfSeconds(1_586_340_086, 't')).toBe(1_586_340_086_000);
    expect(() => millisOfSeconds('yesterday', 't')).toThrow(WireFault);
  });
});

test('nonces increase, also when the clock goes back, and stay above an earlier run', () => {
  const clock = new VirtualClock(1_700_000_000_000);
  const nonces = risingNonces(clock, 1_700_000_000_000_000_005n);
  expect(nonces.ordered).toBe(true);
  const first = [nonces.next(), nonces.next()];
  clock.step(-100_000_000_000);
  const all = [...first, nonces.next(), nonces.next()].map(BigInt);
  expect(all[0]).toBe(1_700_000_000_000_000_006n);
  expect([...all].sort((a, b) => (a < b ? -1 : 1))).toEqual(all);
  expect(new Set(all).size).toBe(4);
  expect(all.every(nonce => nonce < 2n ** 64n)).toBe(true);
});

test('the signature of the documents is reproduced', () => {
  // Source: docs.kraken.com/api/docs/guides/spot-rest-auth, whose key is no key of an account.
  const secret = new Secret('kQH5HW/8p1uGOVjbgWA7FunAmGO8lsSUXNsu3eow76sz84Q18fWxnyRzBHCd3pd5nE9qa99HAZtuZuj6F1huXg==');
  const body = 'nonce=1616492376594&ordertype=limit&pair=XBTUSD&price=37500&type=buy&volume=1.25';
  expect(krakenSignature(secret, '/0/private/AddOrder', '1616492376594', body)).toBe(
    '4/dpxb3iT4tp/ZCVEwSnEsLxx0bqyhLpdfOpc6fn7OR8+UClSV5n9E6aSS8MPtnRfp32bAb0nmbRn6H8ndwLUQ==',
  );
});

describe('names', () => {
  const assets = assetNames(ASSETS);
  const read = (pairs: object) => {
    const unreadable: { readonly why: string; readonly book?: string }[] = [];
    const { byBook, all } = assetPairs(pairs, assets, unreadable);
    return { pairs: byBook, all, unreadable };
  };
  const { XXBTZUSD } = ASSET_PAIRS;

  test('are those of the lists, not cut from the name of a pair', () => {
    const { pairs } = read({
      ...ASSET_PAIRS,
      XDGUSD: { ...XXBTZUSD, altname: 'XDGUSD', base: 'XXDG', wsname: 'XDG/USD' },
    });
    expect([...pairs.keys()]).toEqual(['btc_usd', 'ltc_usdt', 'btc_usdt', 'doge_usd']);
    expect(pairs.get('ltc_usdt')!.rules).toMatchObject({ tickSize: '0.00001', lotSize: '0.00000001' });
  });

  test('are the usual tickers over REST and on the stream where the exchange has another name, or that of another currency', () => {
    const usual = { LUNA: 'lunc', LUNA2: 'luna', REP: 'repv1', REPV2: 'rep', UST: 'ustc', FEE: 'kfee', XDG: 'doge' };
    const ids = Object.keys(usual);
    const named = assetNames({ ...ASSETS, ...Object.fromEntries(ids.map(id => [`${id}.ID`, { altname: id }])) });
    const pairs = Object.fromEntries(
      ids.map(id => [id, { ...XXBTZUSD, altname: `${id}USD`, base: `${id}.ID`, wsname: `${id}/USD` }]),
    );
    const books = Object.values(usual).map(currency => `${currency}_usd`);
    expect([...assetPairs(pairs, named, []).byBook.keys()]).toEqual(books);
    const streamed = ids.map(id => ({
      ...{ symbol: `${id}/USD`, base: id, quote: 'USD', status: 'online', price_precision: 1, qty_precision: 8 },
    }));
    const frame = krakenFrame(JSON.stringify({ channel: 'instrument', type: 'snapshot', data: { pairs: streamed } }));
    expect(frame).toMatchObject({ pairs: books.map(book => ({ book })) });
    expect(
      krakenBalances({ assets: named, decimals: new Map() }, [])(
        Object.fromEntries(ids.map(id => [id, { balance: '1' }])),
        [],
      ),
    ).toMatchObject(Object.values(usual).map(currency => ({ currency })));
  });

  test('come with lots that balances can hold: of the fewer decimals of the pair and of its base currency', () => {
    for (const [pairDecimals, balanceDecimals, lotSize] of [
      [8, 10, '0.00000001'],
      [8, 5, '0.00001'],
      [3, 5, '0.001'],
      [8, 0, '1'],
      [8, undefined, '0.00000001'],
    ] as const) {
      const decimals = assetDecimals({
        XXBT: { altname: 'XBT', decimals: balanceDecimals },
        ZUSD: { altname: 'USD', decimals: 4 },
      });
      const { byBook } = assetPairs({ XXBTZUSD: { ...XXBTZUSD, lot_decimals: pairDecimals } }, assets, [], decimals);
      expect(byBook.get('btc_usd')!.rules.lotSize).toBe(lotSize);
    }
  });

  test('round balances to the fewer decimals of the asset and of its costs, where trades list these', () => {
    const ids = assetNames({ ...ASSETS, XETH: { altname: 'ETH' } });
    const decimals = new Map([
      ['XXBT', 10],
      ['ZUSD', 4],
      ['XETH', 8],
    ]);
    const pairs = [
      { quote: 'usd', costDecimals: 5 },
      { quote: 'btc', costDecimals: 10 },
      { quote: 'eth', costDecimals: 5 },
      { quote: 'eth' },
      { quote: 'xrp', costDecimals: 3 },
    ];
    expect(currencyDecimals(ids, decimals, pairs)).toEqual(
      new Map([
        ['btc', 10],
        ['usd', 4],
        ['eth', 5],
      ]),
    );
    const { all } = assetPairs({ XXBTZUSD: { ...XXBTZUSD, cost_decimals: 7 } }, ids, []);
    expect(all.map(({ costDecimals }) => costDecimals)).toEqual([7]);
  });

  test('leave out dark pools and books that are not traded, and refuse what is twice or unknown', () => {
    const { wsname: _, ...dark } = XXBTZUSD;
    expect(read({ 'XXBTZUSD.d': dark, XXBTZUSD }).pairs.get('btc_usd')!.id).toBe('XXBTZUSD');
    expect(read({ XXBTZUSD: { ...XXBTZUSD, status: 'cancel_only' } }).pairs.size).toBe(0);
    const twice = read({ XXBTZUSD, AGAIN: XXBTZUSD });
    expect([twice.pairs.size, twice.unreadable]).toMatchObject([0, [{ book: 'btc_usd' }]]);
    const strange = read({ A: { ...XXBTZUSD, base: 'NEW' }, B: { ...XXBTZUSD, ordermin: null } });
    expect(strange.pairs.size).toBe(0);
    expect(strange.unreadable.map(({ why }) => why.split(':')[1]!.trim())).toEqual(['base', 'ordermin']);
  });
});
