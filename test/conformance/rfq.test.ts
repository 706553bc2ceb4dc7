/** RFQ v1, rule by rule, in process and over HTTP. */
import { expect, it } from 'vitest';
import { around, stock } from '../sandbox/desk.ts';
import { everyWay, done, fieldsOf, refusal, type Answer, type Fields, type Member, type Open } from './driver.ts';

type Quote = Fields & { id: string; source_amount: string; target_amount: string; expires_at: string };
type Page = { conversions: (Fields & { id: string })[]; next_page_token?: string; total_count: number };

const ASK = { source: 'MXN', target: 'USD', source_amount: '5200' };
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const SECONDS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/** Status and the code in the RFQ envelope. */
function errorOf({ status, body, text }: Answer): string {
  const errors = body['errors'] as { code: string; message: string }[] | undefined;
  if (errors?.length !== 1 || Object.keys(body).length !== 1) throw new Error(`no RFQ error: ${status} ${text}`);
  expect(Object.keys(errors[0]!).sort()).toEqual(['code', 'message']);
  expect(errors[0]!.message).not.toBe('');
  return `${status} ${errors[0]!.code}`;
}

async function ok<T>(answer: Promise<Answer>): Promise<T> {
  const { status, body, text } = await answer;
  if (status !== 200) throw new Error(`${status} ${text}`);
  return body as T;
}

everyWay(openPlain => {
  const open: Open = (...of) => {
    const stage = openPlain(...of);
    stock(stage.exchange);
    return stage;
  };
  const quoteFor = (who: Member, more: Fields = {}) =>
    ok<Quote>(who.call('POST', '/rfq/v1/quotes', { ...ASK, ...more }));
  const convert = (who: Member, quote_id: unknown) => who.call('POST', '/rfq/v1/conversions', { quote_id });
  const list = (who: Member, query = '') => ok<Page>(who.call('GET', `/rfq/v1/conversions${query}`));
  async function converted(who: Member, count = 1): Promise<string[]> {
    const ids: string[] = [];
    for (let i = 0; i < count; i++) {
      const quote = await quoteFor(who, { source_amount: `${100 + i}` });
      ids.push((await ok<{ id: string }>(convert(who, quote.id))).id);
    }
    return ids;
  }

  it('rfq conventions replies are bare objects and errors one envelope of code and message', async () => {
    const { ann } = open();
    expect(Object.keys((await ann.call('GET', '/rfq/v1/pairs')).body)).toEqual(['pairs']);
    expect(errorOf(await convert(ann, 'nope'))).toBe('400 quote_not_found');
  });

  it.each(fieldsOf('rfq-and-webhooks', '2.1'))('rfq 2.1 $name is $word', async ({ name, shape }) => {
    const { pairs } = await ok<{ pairs: Fields[] }>(open().ann.call('GET', '/rfq/v1/pairs'));
    expect(pairs.length).toBeGreaterThan(0);
    for (const pair of pairs) expect(shape!.fits(pair[name]), JSON.stringify(pair)).toBe(true);
  });

  it.each(fieldsOf('rfq-and-webhooks', '2.2'))('rfq 2.2 $name is $word', async ({ name, shape, sometimes }) => {
    const { ann } = open();
    const quotes: Fields[] = [await quoteFor(ann), await quoteFor(ann, { source_amount: '90000000' })];
    quotes.push(await ok<Quote>(ann.call('GET', `/rfq/v1/quotes/${String(quotes[0]!['id'])}`)));
    for (const quote of quotes)
      if (sometimes && quote['can_confirm'] === true) expect(name in quote, JSON.stringify(quote)).toBe(false);
      else expect(shape!.fits(quote[name]), JSON.stringify(quote)).toBe(true);
    expect(quotes.map(quote => quote['can_confirm'])).toEqual([true, false, true]);
  });

  it.each(fieldsOf('rfq-and-webhooks', '2.3'))('rfq 2.3 $name is $word', async ({ name, shape }) => {
    const { ann } = open();
    const [id] = await converted(ann, 2);
    const one = await ok<Fields>(ann.call('GET', `/rfq/v1/conversions/${id}`));
    for (const conversion of [one, ...(await list(ann)).conversions])
      expect(shape!.fits(conversion[name]), JSON.stringify(conversion)).toBe(true);
  });

  it('rfq 2.1 a pair has upper-case tickers and precisions as text', async () => {
    const { ann } = open();
    const { pairs } = await ok<{ pairs: Fields[] }>(ann.call('GET', '/rfq/v1/pairs?source=BTC&target=MXN'));
    expect(pairs).toEqual([{ source: 'BTC', target: 'MXN', source_precision: '8', target_precision: '2' }]);
  });

  it('rfq 4.1 each direction is listed, with precisions of its own', async () => {
    const { ann } = open();
    const { pairs } = await ok<{ pairs: Fields[] }>(ann.call('GET', '/rfq/v1/pairs'));
    expect(pairs).toHaveLength(4 * 3);
    const row = (source: string, target: string) => pairs.find(p => p['source'] === source && p['target'] === target);
    expect(row('USDT', 'MXN')).toMatchObject({ source_precision: '6', target_precision: '2' });
    expect(row('MXN', 'USDT')).toMatchObject({ source_precision: '2', target_precision: '8' });
    expect(row('BRL', 'MXN')).toBeUndefined();
  });

  it('rfq 4.1 source and target filter the list, and the client reads it', async () => {
    const { ann } = open();
    expect(
      done(await ann.client.rfq.pairs({ source: 'USD' }))
        .map(p => p.target)
        .sort(),
    ).toEqual(['BTC', 'MXN', 'USDT']);
    expect(
      done(await ann.client.rfq.pairs({ target: 'USD' }))
        .map(p => p.source)
        .sort(),
    ).toEqual(['BTC', 'MXN', 'USDT']);
    expect(done(await ann.client.rfq.pairs({ source: 'MXN', target: 'USDT' }))).toEqual([
      { source: 'MXN', target: 'USDT', sourcePrecision: 2, targetPrecision: 8 },
    ]);
    expect(done(await ann.client.rfq.pairs({ source: 'XYZ' }))).toEqual([]);
  });

  it('rfq conventions the client sends tickers in upper case, however they are given', async () => {
    const { ann } = open();
    expect(done(await ann.client.rfq.pairs({ source: 'mxn', target: 'usdt' }))).toHaveLength(1);
    const asked = await ann.client.rfq.requestQuote({ source: 'mxn', target: 'usd', sourceAmount: '100' });
    expect(done(asked)).toMatchObject({ source: 'MXN', target: 'USD' });
  });

  it('rfq 4.1 a list that cannot be made is 500 fetching_pairs_api_error', async () => {
    const { ann } = open({ rfqPairs: 'fetching_pairs_api_error' });
    expect(errorOf(await ann.call('GET', '/rfq/v1/pairs'))).toBe('500 fetching_pairs_api_error');
    expect((await ann.client.rfq.pairs()).kind).toBe('unknown');
  });

  it('rfq 2.2 a quote has every field, and max_tradable_amount only when it cannot be confirmed', async () => {
    const { ann } = open();
    expect(await quoteFor(ann)).toEqual({
      id: expect.stringMatching(UUID) as string,
      source: 'MXN',
      target: 'USD',
      source_amount: '5200',
      target_amount: '283.42',
      rate: '0.054505734571',
      status: 'ACTIVE',
      created_at: '2026-09-21T14:13:20Z',
      expires_at: '2026-09-21T14:13:50Z',
      can_confirm: true,
    });
  });

  it('rfq 4.2 source_amount fixes the source side, and the target is rounded down to its precision', async () => {
    const { ann } = open({ rfqSpreadPips: 0 });
    // 100 / 18.31 = 5.4614...
    expect(await quoteFor(ann, { source_amount: '100' })).toMatchObject({
      source_amount: '100',
      target_amount: '5.46',
    });
  });

  it('rfq 4.2 target_amount fixes the target side, and the source is rounded up to its precision', async () => {
    const { ann } = open({ rfqSpreadPips: 0 });
    const ask = { source_amount: undefined, target_amount: '0.00000007', target: 'BTC' };
    // 0.00000007 btc cost 0.105 mxn.
    expect(await quoteFor(ann, ask)).toMatchObject({ source_amount: '0.11', target_amount: '0.00000007' });
  });

  it('rfq 4.2 the rate lies the desk’s spread below the mid, in both directions', async () => {
    const { ann } = open({ rfqSpreadPips: 100 });
    expect(Number((await quoteFor(ann))['rate'])).toBeCloseTo(0.99 / 18.31, 9);
    const back = await quoteFor(ann, { source: 'USD', target: 'MXN', source_amount: '100' });
    expect(back).toMatchObject({ rate: '18.1269', target_amount: '1812.69' });
  });

  it('rfq 4.2 where no book joins two currencies the rate goes through two or three books', async () => {
    const { ann, exchange } = open({ rfqSpreadPips: 0 });
    const through = await quoteFor(ann, { source: 'BTC', target: 'USD', source_amount: '1' });
    expect(through.target_amount).toBe('81922.44');
    around(exchange, 'btc_brl', 449_999, 450_001);
    const far = await quoteFor(ann, { source: 'BRL', target: 'USDT', source_amount: '450000' });
    expect(far.target_amount).toBe('81967.21311475');
  });

  it.each([
    ['invalid_source_currency', { source: undefined }],
    ['invalid_source_currency', { source: 'XYZ', target: 'XYZ', source_amount: 'x' }],
    ['invalid_source_currency', { source: 'mxn' }],
    ['invalid_source_currency', { source: 7 }],
    ['invalid_source_currency', { source: 'BRL' }],
    ['invalid_target_currency', { target: undefined, source_amount: 'x' }],
    ['invalid_target_currency', { target: 'MXN' }],
    ['invalid_target_currency', { target: 'SOL', source_amount: undefined }],
    ['invalid_source_number_format', { source_amount: 'ten', target_amount: 'ten' }],
    ['invalid_source_number_format', { source_amount: '1e3' }],
    ['invalid_source_number_format', { source_amount: '0x10' }],
    ['invalid_source_number_format', { source_amount: ' 1' }],
    ['invalid_source_number_format', { source_amount: 5200 }],
    ['invalid_source_number_format', { source_amount: 'NaN' }],
    ['invalid_target_number_format', { source_amount: undefined, target_amount: '1,5' }],
    ['invalid_target_number_format', { source_amount: '1.999', target_amount: '.5' }],
    ['both_amounts_missing', { source_amount: undefined }],
    ['both_amounts_missing', { source_amount: '', target_amount: null }],
    ['invalid_provided_amount', { source_amount: '1.999', target_amount: '1' }],
    ['invalid_provided_amount', { source_amount: '0' }],
    ['invalid_provided_amount', { source_amount: '-1.999' }],
    ['invalid_provided_amount', { source_amount: '1'.repeat(30) }],
    ['invalid_provided_amount', { source_amount: '0.01' }],
    ['invalid_source_precision', { source_amount: '1.999' }],
    ['invalid_source_precision', { source_amount: `1.${'1'.repeat(40)}` }],
    ['invalid_target_precision', { source_amount: undefined, target_amount: '1.001' }],
  ])('rfq 4.2 %s is told of %j', async (code, more) => {
    const { ann } = open();
    expect(errorOf(await ann.call('POST', '/rfq/v1/quotes', { ...ASK, ...more }))).toBe(`400 ${code}`);
  });

  it('rfq 4.2 a body that is no object lacks a source', async () => {
    const { ann } = open();
    expect(errorOf(await ann.call('POST', '/rfq/v1/quotes', '[1'))).toBe('400 invalid_source_currency');
  });

  it('rfq 4.2 with both amounts, a switch lets the one or the other be fixed', async () => {
    const both = { source_amount: '100', target_amount: '7' };
    expect(await quoteFor(open({ rfqBothAmounts: 'source' }).ann, both)).toMatchObject({ source_amount: '100' });
    expect(await quoteFor(open({ rfqBothAmounts: 'target' }).ann, both)).toMatchObject({ target_amount: '7' });
  });

  it('rfq 2.2 a size beyond the desk’s capacity has can_confirm false and max_tradable_amount, and that size can be confirmed', async () => {
    const { ann } = open({ rfqCapacityPips: 1 });
    const big = await quoteFor(ann, { source_amount: '20000.01' });
    expect(big).toMatchObject({ can_confirm: false, max_tradable_amount: { value: '20000', currency: 'MXN' } });
    const fits = await quoteFor(ann, { source_amount: '20000' });
    expect(fits['can_confirm']).toBe(true);
    expect(fits).not.toHaveProperty('max_tradable_amount');
    const read = done(await ann.client.rfq.requestQuote({ source: 'MXN', target: 'USD', sourceAmount: '30000' }));
    expect(read).toMatchObject({ canConfirm: false, maxTradable: { value: '20000', currency: 'MXN' } });
  });

  it('rfq 2.2 capacity is used by conversions, one direction at a time, and refills over time', async () => {
    const { ann, clock } = open({ rfqCapacityPips: 1, rfqRefillMs: 60_000 }, 'the desk refills as time passes');
    await ok(convert(ann, (await quoteFor(ann, { source_amount: '15000' })).id));
    expect(await quoteFor(ann, { source_amount: '6000' })).toMatchObject({ max_tradable_amount: { value: '5000' } });
    const back = await quoteFor(ann, { source: 'USD', target: 'MXN', source_amount: '1000' });
    expect(back['can_confirm']).toBe(true);
    await clock.advance(3000);
    expect((await quoteFor(ann, { source_amount: '6000' }))['can_confirm']).toBe(true);
    await clock.advance(60_000);
    expect((await quoteFor(ann, { source_amount: '20000' }))['can_confirm']).toBe(true);
  });

  it('rfq 2.2 a switch tells max_tradable_amount in the currency whose amount was given', async () => {
    const { ann } = open({ rfqCapacityPips: 1, rfqMaxTradableIn: 'fixed', rfqSpreadPips: 0 });
    const quote = await quoteFor(ann, { source_amount: undefined, target_amount: '5000' });
    expect(quote).toMatchObject({ max_tradable_amount: { value: '1092.29', currency: 'USD' } });
  });

  it('rfq 2.2 confirming a quote whose can_confirm is false makes the trade fail', async () => {
    const { ann, exchange, clock } = open({ rfqCapacityPips: 1 });
    const { id } = await quoteFor(ann, { source_amount: '30000' });
    const conversion = await ok<Fields>(convert(ann, id));
    expect(conversion['status']).toBe('PENDING');
    await clock.advance(2000);
    expect(done(await ann.client.rfq.conversion(String(conversion['id']))).status).toBe('FAILED');
    expect(exchange.truth().accounts.get(ann.id)!.balances.get('mxn')!.total).toBe(10_000_000n * 10n ** 18n);
  });

  it('rfq 4.3 a quote is read by its id until it expires, and then is quote_not_found', async () => {
    const { ann, bob, clock } = open({}, 'it counts the milliseconds of a life');
    const quote = await quoteFor(ann);
    expect(await ok(ann.call('GET', `/rfq/v1/quotes/${quote.id}`))).toEqual(quote);
    expect(errorOf(await bob.call('GET', `/rfq/v1/quotes/${quote.id}`))).toBe('400 quote_not_found');
    expect(errorOf(await ann.call('GET', '/rfq/v1/quotes/nope'))).toBe('400 quote_not_found');
    await clock.advance(29_999);
    expect(done(await ann.client.rfq.quote(quote.id)).status).toBe('ACTIVE');
    await clock.advance(1);
    expect(refusal(await ann.client.rfq.quote(quote.id))).toBe('quote_not_found');
    expect(clock.now()).toBe(Date.parse(quote.expires_at));
  });

  it('rfq 3 an executed quote is ACCEPTED and one that the desk took back REJECTED, until they expire', async () => {
    const { ann, exchange } = open();
    const [taken, dropped] = [await quoteFor(ann), await quoteFor(ann)];
    await ok(convert(ann, taken.id));
    exchange.rfq.cancel(dropped.id);
    expect(done(await ann.client.rfq.quote(taken.id)).status).toBe('ACCEPTED');
    expect(done(await ann.client.rfq.quote(dropped.id)).status).toBe('REJECTED');
  });

  it('rfq 8 the life of a quote is a switch, and expires_at may carry nine decimals', async () => {
    const { ann } = open({ rfqQuoteLifeMs: 1_200_000, rfqTimeForm: 'nanoseconds' });
    expect((await quoteFor(ann)).expires_at).toBe('2026-09-21T14:33:20.000000000Z');
    const read = done(await ann.client.rfq.requestQuote({ source: 'MXN', target: 'USD', sourceAmount: '100' }));
    expect(read.expiresAt - read.createdAt).toBe(1_200_000);
  });

  it('rfq 4.4 a conversion is PENDING, then COMPLETED, with every field, and moves exactly what was quoted', async () => {
    const { ann, exchange, clock } = open();
    const quote = await quoteFor(ann);
    await clock.advance(5000);
    const conversion = await ok<Fields & { id: string }>(convert(ann, quote.id));
    expect(conversion).toEqual({
      id: expect.stringMatching(UUID) as string,
      source: 'MXN',
      target: 'USD',
      source_amount: quote.source_amount,
      target_amount: quote.target_amount,
      quote_id: quote.id,
      rate: quote['rate'],
      status: 'PENDING',
      quoted_at: '2026-09-21T14:13:20Z',
      created_at: '2026-09-21T14:13:25Z',
      updated_at: '2026-09-21T14:13:25Z',
    });
    await clock.advance(2000);
    const after = await ok<Fields>(ann.call('GET', `/rfq/v1/conversions/${conversion.id}`));
    expect(after).toEqual({ ...conversion, status: 'COMPLETED', updated_at: after['updated_at'] });
    expect(after['updated_at']).toMatch(SECONDS);
    const { balances } = exchange.truth().accounts.get(ann.id)!;
    expect(balances.get('mxn')!.total).toBe((10_000_000n - 5200n) * 10n ** 18n);
    expect(balances.get('usd')!.total).toBe(10_028_342n * 10n ** 16n);
    expect([...exchange.truth().imbalance.values()].every(sum => sum === 0n)).toBe(true);
  });

  it('rfq 4.4 without delays the reply tells the end already', async () => {
    const { ann } = open({ rfqDelayMinMs: 0, rfqDelayMaxMs: 0 });
    expect(done(await ann.client.rfq.convert((await quoteFor(ann)).id)).status).toBe('COMPLETED');
  });

  it('rfq 4.4 an unknown, foreign or expired quote, or none, is quote_not_found', async () => {
    const { ann, bob, clock } = open();
    const { id } = await quoteFor(ann);
    expect(errorOf(await convert(bob, id))).toBe('400 quote_not_found');
    for (const wrong of ['nope', '', 7, undefined])
      expect(errorOf(await convert(ann, wrong))).toBe('400 quote_not_found');
    await clock.advance(30_000);
    expect(refusal(await ann.client.rfq.convert(id))).toBe('quote_not_found');
  });

  it('rfq 4.4 a balance too low is insufficient_funds, and the quote stays active', async () => {
    const { member, exchange } = open();
    const poor = member({ balances: { mxn: '5199.99' } });
    const { id } = await quoteFor(poor);
    expect(errorOf(await convert(poor, id))).toBe('400 insufficient_funds');
    exchange.venue.deposit(exchange.venue.accounts.get(poor.id)!, 'mxn', (10n ** 18n) as never);
    expect(done(await poor.client.rfq.convert(id)).status).toBe('PENDING');
  });

  it('rfq 4.4 a quote is executed once: again it is quote_already_executed, and quote_not_found after its expiry as any other', async () => {
    const { ann, exchange, clock } = open();
    const { id } = await quoteFor(ann);
    await ok(convert(ann, id));
    expect(errorOf(await convert(ann, id))).toBe('400 quote_already_executed');
    await clock.advance(40_000);
    expect(refusal(await ann.client.rfq.convert(id))).toBe('quote_not_found');
    expect(refusal(await ann.client.rfq.quote(id))).toBe('quote_not_found');
    exchange.venue.set({ rfqExecutedAfterExpiry: 'quote_already_executed' });
    expect(errorOf(await convert(ann, id))).toBe('400 quote_already_executed');
    expect((await list(ann)).total_count).toBe(1);
  });

  it('rfq 4.4 a switch lets a low balance hide that a quote was executed', async () => {
    const { member, exchange, clock } = open();
    const poor = member({ balances: { mxn: '5200' } });
    const { id } = await quoteFor(poor);
    await ok(convert(poor, id));
    await clock.advance(2000);
    expect(errorOf(await convert(poor, id))).toBe('400 quote_already_executed');
    exchange.venue.set({ rfqConvertOrder: 'funds first' });
    expect(errorOf(await convert(poor, id))).toBe('400 insufficient_funds');
  });

  it('rfq 4.4 a quote that the desk took back is quote_cancelled', async () => {
    const { ann, exchange } = open();
    const { id } = await quoteFor(ann);
    exchange.rfq.cancel(id);
    expect(errorOf(await convert(ann, id))).toBe('400 quote_cancelled');
  });

  it('rfq 4.4 by a switch the desk takes a quote back when the market moved against it, and only then', async () => {
    const { ann, exchange } = open({ rfqCancelMovePips: 10 });
    const [sell, buy] = [await quoteFor(ann), await quoteFor(ann, { source: 'USD', target: 'MXN' })];
    // A higher bid: one mxn is worth less usd than it was.
    exchange.marketplace('usd_mxn').place('buy', 18_320 as never, (10 ** 11) as never, 'GTC');
    around(exchange, 'usd_mxn', 18_360, 18_380);
    expect(errorOf(await convert(ann, sell.id))).toBe('400 quote_cancelled');
    expect((await convert(ann, buy.id)).status).toBe(200);
  });

  it('rfq 4.4 an account without RFQ is 403 forbidden_request', async () => {
    const { ann, exchange } = open();
    const { id } = await quoteFor(ann);
    exchange.rfq.allow(exchange.venue.accounts.get(ann.id)!, false);
    expect(errorOf(await convert(ann, id))).toBe('403 forbidden_request');
    expect(errorOf(await ann.call('POST', '/rfq/v1/quotes', ASK))).toBe('403 forbidden_request');
    expect(errorOf(await ann.call('GET', '/rfq/v1/conversions'))).toBe('403 forbidden_request');
    exchange.venue.set({ rfqForbidden: 'conversions only' });
    expect((await ann.call('POST', '/rfq/v1/quotes', ASK)).status).toBe(200);
    expect(refusal(await ann.client.rfq.convert(id))).toBe('forbidden_request');
  });

  it('rfq 3 funds that are gone at the end make a conversion FAILED, unless they were locked', async () => {
    const { member, exchange, clock } = open();
    const ends = async (): Promise<string> => {
      const who = member({ balances: { mxn: '5200' } });
      const account = exchange.venue.accounts.get(who.id)!;
      const { id } = done(await who.client.rfq.convert((await quoteFor(who)).id));
      exchange.venue.withdraw(account, 'mxn', (10n ** 18n) as never);
      await clock.advance(2000);
      expect(account.locked('mxn')).toBe(0n);
      return done(await who.client.rfq.conversion(id)).status;
    };
    expect(await ends()).toBe('FAILED');
    exchange.venue.set({ rfqFunds: 'locked at once' });
    expect(await ends()).toBe('COMPLETED');
  });

  it('rfq 3 a share of conversions fails for no reason of theirs, as a switch says', async () => {
    const { ann, clock } = open({ rfqFailurePips: 10_000 });
    const [id] = await converted(ann);
    await clock.advance(2000);
    expect(done(await ann.client.rfq.conversion(id!)).status).toBe('FAILED');
  });

  it('rfq 2.3 by a switch a conversion has the id of its quote', async () => {
    const { ann } = open({ rfqConversionId: 'quote id' });
    const { id } = await quoteFor(ann);
    expect(done(await ann.client.rfq.convert(id)).id).toBe(id);
  });

  it('rfq 4.5 a malformed id is bad_request, an unknown one rfq_conversion_not_found, a foreign one forbidden_request', async () => {
    const { ann, bob } = open();
    const [id] = await converted(ann);
    const at = (who: Member, of: string) => who.call('GET', `/rfq/v1/conversions/${of}`);
    expect(errorOf(await at(ann, 'nope'))).toBe('400 bad_request');
    expect(errorOf(await at(ann, '00000000-0000-4000-8000-000000000000'))).toBe('404 rfq_conversion_not_found');
    expect(errorOf(await at(bob, id!))).toBe('403 forbidden_request');
    expect(refusal(await ann.client.rfq.conversion('nope'))).toBe('bad_request');
    expect(refusal(await bob.client.rfq.conversion(id!))).toBe('forbidden_request');
  });

  it('rfq 4.6 pages follow their tokens to the end, newest first, and total_count counts all', async () => {
    const { ann, bob } = open();
    const ids = await converted(ann, 7);
    await converted(bob, 2);
    const seen: string[] = [];
    let token: string | undefined;
    do {
      const page = done(
        await ann.client.rfq.conversions({ pageSize: 3, ...(token !== undefined && { pageToken: token }) }),
      );
      expect(page.totalCount).toBe(7);
      seen.push(...page.conversions.map(c => c.id));
      token = page.nextPageToken;
    } while (token !== undefined);
    expect(seen).toEqual([...ids].reverse());
  });

  it('rfq 4.6 page_size is 100 when not given, and at most what a switch says', async () => {
    const { ann, exchange } = open({ rfqCapacityPips: 10_000 });
    await converted(ann, 101);
    const page = await list(ann);
    expect(page.conversions).toHaveLength(100);
    expect(page.next_page_token).toEqual(expect.any(String));
    exchange.venue.set({ rfqPageSizeMax: 5 });
    expect((await list(ann, '?page_size=50')).conversions).toHaveLength(5);
    for (const wrong of ['0', '-1', 'x', '1.5'])
      expect(errorOf(await ann.call('GET', `/rfq/v1/conversions?page_size=${wrong}`))).toBe('400 bad_request');
  });

  it('rfq 4.6 status chooses among the conversions', async () => {
    const { ann, clock, exchange } = open();
    await converted(ann, 2);
    await clock.advance(2000);
    exchange.venue.set({ rfqFailurePips: 10_000 });
    await converted(ann, 1);
    await clock.advance(2000);
    await converted(ann, 3);
    for (const [status, count] of [
      ['COMPLETED', 2],
      ['FAILED', 1],
      ['PENDING', 3],
    ] as const) {
      const page = done(await ann.client.rfq.conversions({ status }));
      expect(page.conversions.map(c => c.status)).toEqual(Array<string>(count).fill(status));
      expect(page.totalCount).toBe(count);
    }
    expect(errorOf(await ann.call('GET', '/rfq/v1/conversions?status=done'))).toBe('400 bad_request');
  });

  it('rfq 4.6 next_page_token is there only when there is more, or empty, as a switch says', async () => {
    const { ann, exchange } = open();
    await converted(ann, 2);
    expect(Object.keys(await list(ann, '?page_size=2')).sort()).toEqual(['conversions', 'total_count']);
    exchange.venue.set({ rfqLastToken: 'empty' });
    expect((await list(ann, '?page_size=2')).next_page_token).toBe('');
    expect(done(await ann.client.rfq.conversions({ pageSize: 2 })).nextPageToken).toBeUndefined();
  });

  it('rfq 4.6 a token that was changed, cut, made up, of another account or of another status is invalid_page_token_received', async () => {
    const { ann, bob } = open();
    await converted(ann, 3);
    await converted(bob, 3);
    const token = (await list(ann, '?page_size=1')).next_page_token!;
    const refused = async (who: Member, query: string) =>
      expect(errorOf(await who.call('GET', `/rfq/v1/conversions?${query}`))).toBe('400 invalid_page_token_received');
    for (let at = 0; at < token.length; at++) {
      const other = token[at] === 'A' ? 'B' : 'A';
      await refused(ann, `page_token=${token.slice(0, at)}${other}${token.slice(at + 1)}`);
    }
    await refused(ann, `page_token=${token.slice(0, -1)}`);
    await refused(ann, 'page_token=42');
    await refused(bob, `page_token=${token}`);
    await refused(ann, `status=PENDING&page_token=${token}`);
    expect((await list(ann, `?page_token=${token}`)).conversions).toHaveLength(2);
    expect(refusal(await ann.client.rfq.conversions({ pageToken: 'made-up' }))).toBe('invalid_page_token_received');
  });

  it('rfq 4.6 a token tells nothing of what it stands for, and the same page has the same one', async () => {
    const { ann } = open();
    const [, , id] = await converted(ann, 3);
    const [first, again] = [await list(ann, '?page_size=1'), await list(ann, '?page_size=1')];
    expect(first.next_page_token).toBe(again.next_page_token);
    const inside = Buffer.from(first.next_page_token!, 'base64url').toString('latin1');
    for (const secret of [id!, ann.id, 'first']) expect(inside).not.toContain(secret);
  });

  it.each(['failed_creating_page_token', 'failed_creating_page_token_placeholder', 'unexpected'] as const)(
    'rfq 7 a list whose token cannot be made is 500 %s',
    async code => {
      const { ann } = open({ rfqPageTokens: code });
      await converted(ann, 2);
      expect(errorOf(await ann.call('GET', '/rfq/v1/conversions?page_size=1'))).toBe(`500 ${code}`);
      expect((await list(ann)).conversions).toHaveLength(2);
      expect((await ann.client.rfq.conversions({ pageSize: 1 })).kind).toBe('unknown');
    },
  );

  it('rfq 5 errors at the door come in the RFQ envelope with the four-digit code, or in that of v3', async () => {
    const { ann, send, exchange, client } = open();
    expect(errorOf(await send('GET', '/rfq/v1/pairs'))).toBe('401 0208');
    expect(refusal(await client(ann.key, 'wrong').rfq.pairs())).toBe('0215');
    exchange.venue.set({ rfqAuthErrors: 'v3' });
    expect((await send('GET', '/rfq/v1/pairs')).code).toBe('0208');
  });

  it.each([
    ['shared', '420 0801', '0801'],
    ['own', '420 0801', undefined],
    ['none', '', undefined],
  ] as const)('rfq 8 the budget of RFQ calls is %s', async (rfqBudget, rfq, rest) => {
    const { ann } = open({ rateLimits: 'on', privatePerMinute: 3, rfqBudget });
    for (let i = 0; i < 3; i++) expect((await ann.call('GET', '/rfq/v1/pairs')).status).toBe(200);
    const more = await ann.call('GET', '/rfq/v1/pairs');
    expect(more.status === 200 ? '' : errorOf(more)).toBe(rfq);
    expect((await ann.call('GET', '/api/v3/balance')).code).toBe(rest);
  });

  it('rfq 9 the interface is under /rfq/v1, with the prefix of the REST interface or without', async () => {
    const { ann } = open();
    for (const path of ['/rfq/v1/pairs', '/api/rfq/v1/pairs', '/rfq/v1/pairs/'])
      expect((await ann.call('GET', path)).status).toBe(200);
    expect((await ann.call('GET', '/rfq/v2/pairs')).status).toBe(404);
  });
});
