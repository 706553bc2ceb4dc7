/** Conversions: quote, execute, follow. */
import { expect, it } from 'vitest';
import { amount, price } from '../../src/core/index.ts';
import { everyWay, done, fieldsOf, refusal, type Fields, type Open, type Stage } from './driver.ts';

const PATH = '/api/v4/currency_conversions';
const ASK = { from: 'mxn', to: 'usd', spend: '5200' } as const;

/** usd_mxn at 18.300 to 18.310, deep. */
function deep(open: Open, noPaceBecause?: string): Stage {
  const stage = open({}, noPaceBecause);
  stage.house('usd_mxn').place('buy', price(18_300), amount(10 ** 13), 'GTC');
  stage.house('usd_mxn').place('sell', price(18_310), amount(10 ** 13), 'GTC');
  return stage;
}

everyWay(open => {
  it.each(fieldsOf('rest-api', '2.10'))('rest-api 2.10 $name is $word', async ({ name, shape }) => {
    const { ann } = deep(open);
    for (const more of [{ spend_amount: '5200' }, { receive_amount: '100' }]) {
      const quote = (await ann.call('POST', PATH, { from_currency: 'mxn', to_currency: 'usd', ...more })).payload();
      expect(shape!.fits(quote[name]), JSON.stringify(quote)).toBe(true);
    }
  });

  it('rest-api 2.10 estimated_slippage has value, level and message, next_recurrent_events three times to come', async () => {
    const { ann, clock } = deep(open);
    const quote = done(await ann.client.requestConversion(ASK));
    expect(quote.estimatedSlippage).toEqual({ value: '0.0000', level: 'normal', message: '' });
    expect([...quote.nextRecurrentEvents.keys()]).toEqual(['DAILY', 'WEEKLY', 'MONTHLY']);
    for (const at of quote.nextRecurrentEvents.values()) expect(at).toBeGreaterThan(clock.now());
  });

  it('rest-api 4.10 currency_conversions makes a quote out of what is spent or of what is received', async () => {
    const { ann } = deep(open);
    const spent = done(await ann.client.requestConversion(ASK));
    expect(spent).toMatchObject({
      fromAmount: '5200.00000000',
      fromCurrency: 'mxn',
      toCurrency: 'usd',
      book: 'usd_mxn',
    });
    const got = done(await ann.client.requestConversion({ from: 'mxn', to: 'usd', receive: spent.toAmount }));
    expect(Math.abs(Number(got.fromAmount) - 5200)).toBeLessThan(1e-6);
  });

  it.each<[string, Fields, string]>([
    ['without from_currency', { from_currency: undefined }, '0303'],
    ['without to_currency', { to_currency: undefined }, '0303'],
    ['of an unknown currency', { to_currency: 'xyz' }, '0313'],
    ['with spend_amount and receive_amount', { receive_amount: '1' }, '0361'],
    ['with neither amount', { spend_amount: undefined }, '0360'],
    ['of nothing', { spend_amount: '0' }, '0408'],
    ['of a negative amount', { spend_amount: '-1' }, '0408'],
    ['of a JSON number', { spend_amount: 1 }, '0372'],
  ])('rest-api 4.10 a quote %s is refused', async (_, change, code) => {
    const { ann } = deep(open);
    const body = { from_currency: 'mxn', to_currency: 'usd', spend_amount: '5200', ...change };
    expect(await ann.call('POST', PATH, body)).toMatchObject({ status: 400, code });
  });

  it('rest-api 4.10 from_currency, to_currency, spend_amount and receive_amount are what the client sends, one amount of two', async () => {
    const { ann } = deep(open);
    const both = { from: 'mxn', to: 'usd', spend: '1', receive: '1' } as unknown as typeof ASK;
    expect(refusal(await ann.client.requestConversion(both))).toBe('not-sent');
    expect(refusal(await ann.client.requestConversion({ ...ASK, spend: '0' }))).toBe('not-sent');
    expect(refusal(await ann.client.requestConversion({ ...ASK, from: 'xyz' }))).toBe('0313');
  });

  it('rest-api 8 30 seconds is the life of a quote', async () => {
    const { ann, clock } = deep(open, 'it counts the milliseconds of a life');
    const { id, createdAt, expiresAt } = done(await ann.client.requestConversion(ASK));
    expect(expiresAt - createdAt).toBe(30_000);
    await clock.advance(29_999);
    done(await ann.client.executeConversion(id));
  });

  it('rest-api 3 expired: a quote 30 seconds old can no longer be executed', async () => {
    for (const advance of [30_000, 30_000.25, 31_000, 3_600_000]) {
      const { ann, clock } = deep(open);
      // Between two milliseconds: what the quote tells is whole, and holds.
      await clock.advance(0.75);
      const { id, expiresAt } = done(await ann.client.requestConversion(ASK));
      await clock.advance(advance - 0.75);
      expect(clock.now() >= expiresAt).toBe(true);
      for (const version of ['v3', 'v4'])
        expect((await ann.call('PUT', `/api/${version}/currency_conversions/${id}`)).code, version).toBe('0345');
      await clock.advance(60_000);
      expect(done(await ann.client.balances()).find(b => b.currency === 'mxn')!.total).toBe('10000000.00000000');
      expect(refusal(await ann.client.conversionOfQuote(id))).toBe('1401');
    }
  });

  it('rest-api 3 a conversion goes through open and queued to completed or failed', async () => {
    for (const conversionOutcome of ['completed', 'failed'] as const) {
      const { ann, clock, exchange } = deep(open);
      exchange.venue.set({ conversionOutcome });
      const { id } = done(await ann.client.requestConversion(ASK));
      const { conversionId } = done(await ann.client.executeConversion(id));
      const seen: string[] = [];
      for (let i = 0; i < 3; i++) {
        seen.push(done(await ann.client.conversion(conversionId)).status);
        await clock.advance(500);
      }
      expect(seen).toEqual(['open', 'queued', conversionOutcome]);
    }
  });

  it('rest-api 4.11 PUT currency_conversions executes a quote; GET currency_conversions takes the id of the quote in v3, of the conversion in v4', async () => {
    const { ann, bob, clock } = deep(open);
    for (const version of ['v3', 'v4']) {
      const body = { from_currency: 'mxn', to_currency: 'usd', spend_amount: '100' };
      const path = `/api/${version}/currency_conversions`;
      const quote = (await ann.call('POST', path, body)).payload<{ id: string }>();
      expect(await ann.call('GET', `/api/v3/currency_conversions/${quote.id}`)).toMatchObject({
        status: 404,
        code: '1401',
      });
      const { oid } = (await ann.call('PUT', `${path}/${quote.id}`)).payload<{ oid: string }>();
      expect(oid).not.toBe(quote.id);
      await clock.advance(1000);
      const seen = { status: 'completed', from_amount: '100.00000000' };
      expect(await ann.get(`/api/v3/currency_conversions/${quote.id}`), version).toMatchObject(seen);
      expect(await ann.get(`/api/v4/currency_conversions/${oid}`), version).toMatchObject({ id: oid, ...seen });
      for (const wrong of [`/api/v3/currency_conversions/${oid}`, `/api/v4/currency_conversions/${quote.id}`])
        expect(await ann.call('GET', wrong), wrong).toMatchObject({ status: 404, code: '1401' });
      expect((await bob.call('GET', `/api/v3/currency_conversions/${quote.id}`)).code).toBe('1401');
    }
  });

  it('rest-api 4.11 the client follows a conversion by its own id, and by that of its quote when the answer to its execution was lost', async () => {
    const { ann, clock } = deep(open);
    const { id } = done(await ann.client.requestConversion(ASK));
    expect(refusal(await ann.client.conversionOfQuote(id))).toBe('1401');
    const { conversionId } = done(await ann.client.executeConversion(id));
    await clock.advance(1000);
    const found = done(await ann.client.conversionOfQuote(id));
    expect(found).toEqual(done(await ann.client.conversion(conversionId)));
    expect(found).toMatchObject({ status: 'completed', fromAmount: '5200.00000000' });
  });

  it('public-facts 13 the amounts move when it completes, with eight decimals', async () => {
    const { ann, clock } = deep(open);
    const quote = done(await ann.client.requestConversion(ASK));
    done(await ann.client.executeConversion(quote.id));
    await clock.advance(1000);
    const total = async (of: string) => done(await ann.client.balances()).find(b => b.currency === of)!.total;
    expect(await total('mxn')).toBe('9994800.00000000');
    expect(Number(await total('usd'))).toBeCloseTo(100_000 + Number(quote.toAmount), 8);
    expect(quote.toAmount).toMatch(/\.\d{8}$/);
  });

  it('public-facts 13 the rate is the plain rate with the padding on it', async () => {
    const { ann, exchange } = deep(open);
    const { rate, plainRate, padding } = done(await ann.client.requestConversion(ASK));
    expect(plainRate).toBe('18.31000000');
    expect(padding).toBe('0.0100');
    expect(Number(rate)).toBeCloseTo(18.31 / 0.99, 7);
    exchange.venue.set({ conversionPaddingPips: 0 });
    expect(done(await ann.client.requestConversion(ASK)).rate).toBe('18.31000000');
  });

  it('public-facts 13 a used or foreign quote is 0345, no price 0367, too little money 0379, conversions off 1009', async () => {
    const { ann, bob, member, exchange } = deep(open);
    const { id } = done(await ann.client.requestConversion(ASK));
    expect(refusal(await bob.client.executeConversion(id))).toBe('0345');
    done(await ann.client.executeConversion(id));
    expect(refusal(await ann.client.executeConversion(id))).toBe('0345');
    expect(refusal(await ann.client.requestConversion({ from: 'mxn', to: 'sol', spend: '1' }))).toBe('0367');
    const poor = member({ balances: { mxn: '1' } });
    const his = done(await poor.client.requestConversion(ASK)).id;
    expect(refusal(await poor.client.executeConversion(his))).toBe('0379');
    exchange.venue.set({ conversions: 'off' });
    expect(refusal(await ann.client.requestConversion(ASK))).toBe('1009');
  });

  it('public-facts 13 the book may be the first of two where no book joins the currencies', async () => {
    const stage = deep(open);
    stage.exchange.venue.closeBook('btc_usd');
    stage.house('btc_mxn').place('buy', price(150_000), amount(10 ** 9), 'GTC');
    const quote = done(await stage.ann.client.requestConversion({ from: 'btc', to: 'usd', spend: '0.01' }));
    expect(quote).toMatchObject({ book: 'btc_mxn', rateCurrency: 'btc' });
    expect(Number(quote.toAmount)).toBeCloseTo(((0.01 * 1_500_000) / 18.31) * 0.99, 4);
  });
});
