import { describe, expect, it } from 'vitest';
import { amount, price } from '../../../src/core/index.ts';
import type { EmbeddedExchange } from '../../../src/sandbox/index.ts';
import { arena } from '../trader.ts';

type Payload = Record<string, unknown>;
const PATH = '/api/v4/currency_conversions';

/** A deep usd_mxn at 18.300 to 18.310, and btc_mxn at 1,499,000 to 1,500,000. */
function stocked(exchange: EmbeddedExchange): void {
  const usd = exchange.marketplace('usd_mxn');
  usd.place('buy', price(18_300), amount(10 ** 13), 'GTC');
  usd.place('sell', price(18_310), amount(10 ** 13), 'GTC');
  const btc = exchange.marketplace('btc_mxn');
  btc.place('buy', price(149_900), amount(10 ** 10), 'GTC');
  btc.place('sell', price(150_000), amount(10 ** 10), 'GTC');
}

describe('a conversion', () => {
  it('is quoted with every documented field, executed in the background, and settled to the last digit', async () => {
    const { exchange, ann, clock } = arena();
    stocked(exchange);
    const quote = ann.get<Payload>('POST', PATH, { from_currency: 'mxn', to_currency: 'usd', spend_amount: '5200' });
    expect(quote).toEqual({
      id: expect.stringMatching(/^\w{16}$/) as string,
      from_amount: '5200.00000000',
      from_currency: 'mxn',
      to_amount: '281.15783724',
      to_currency: 'usd',
      created: 1_790_000_000_000,
      expires: 1_790_000_030_000,
      rate: '18.49494949',
      plain_rate: '18.31000000',
      rate_currency: 'mxn',
      padding: '0.0100',
      book: 'usd_mxn',
      estimated_slippage: { value: '0.0000', level: 'normal', message: '' },
      next_recurrent_events: { DAILY: 1_790_035_200_000, WEEKLY: 1_790_553_600_000, MONTHLY: 1_790_812_800_000 },
    });
    const { oid } = ann.get<{ oid: string }>('PUT', `${PATH}/${String(quote['id'])}`);
    const status = () => ann.get<Payload>('GET', `${PATH}/${oid}`)['status'];
    expect(status()).toBe('open');
    await clock.advance(500);
    expect(status()).toBe('queued');
    await clock.advance(500);
    expect(status()).toBe('completed');
    expect(Object.keys(ann.get<Payload>('GET', `${PATH}/${oid}`)).sort()).toEqual(
      [
        'id',
        'from_amount',
        'from_currency',
        'to_amount',
        'to_currency',
        'created',
        'expires',
        'rate',
        'plain_rate',
        'rate_currency',
        'book',
        'status',
      ].sort(),
    );
    expect(ann.balance('mxn').total).toBe('9994800.00000000');
    expect(ann.balance('usd').total).toBe('100281.15783724');
    expect([...exchange.truth().imbalance.values()].every(sum => sum === 0n)).toBe(true);
    expect(ann.call('PUT', `${PATH}/${String(quote['id'])}`).body.error.code).toBe('0345');
  });

  it('goes by way of a third currency when no book joins the two, and the other way round', () => {
    const { exchange, ann } = arena();
    exchange.venue.closeBook('btc_usd');
    stocked(exchange);
    const quote = ann.get<Payload>('POST', PATH, { from_currency: 'btc', to_currency: 'usd', receive_amount: '1000' });
    expect(quote).toMatchObject({ book: 'btc_mxn', to_amount: '1000.00000000', rate_currency: 'btc' });
    // 1000 usd x 18.310 mxn / 1,499,000 mxn, and the padding of one percent on top.
    expect(Number(quote['from_amount'])).toBeCloseTo((1000 * 18.31) / 1_499_000 / 0.99, 7);
  });

  it.each([
    [{ from_currency: 'mxn', to_currency: 'usd', spend_amount: '1', receive_amount: '1' }, '0361'],
    [{ from_currency: 'mxn', to_currency: 'usd' }, '0360'],
    [{ from_currency: 'mxn', to_currency: 'usd', spend_amount: '0' }, '0408'],
    [{ from_currency: 'mxn', to_currency: 'usd', spend_amount: '-1' }, '0408'],
    [{ from_currency: 'mxn', to_currency: 'usd', spend_amount: 1 }, '0372'],
    [{ from_currency: 'mxn', spend_amount: '1' }, '0303'],
    [{ from_currency: 'mxn', to_currency: 'xyz', spend_amount: '1' }, '0313'],
    [{ from_currency: 'mxn', to_currency: 'mxn', spend_amount: '1' }, '0313'],
    [{ from_currency: 'mxn', to_currency: 'sol', spend_amount: '1' }, '0367'],
    [{ from_currency: 'mxn', to_currency: 'usd', spend_amount: '99999999999' }, '0367'],
  ])('request %j is refused with %s', (body, code) => {
    const { exchange, ann } = arena();
    stocked(exchange);
    expect(ann.call('POST', PATH, body).body.error.code).toBe(code);
  });

  it('needs a live quote of the same account, funds, and conversions switched on', async () => {
    const { exchange, ann, bob, clock, open } = arena();
    stocked(exchange);
    const ask = { from_currency: 'mxn', to_currency: 'usd', spend_amount: '5200' };
    const quoteOf = (who: typeof ann) => ann && who.get<{ id: string }>('POST', PATH, ask).id;
    const id = quoteOf(ann);
    expect(bob.call('PUT', `${PATH}/${id}`).body.error.code).toBe('0345');
    await clock.advance(30_000);
    expect(ann.call('PUT', `${PATH}/${id}`).body.error.code).toBe('0345');
    const poor = open({ mxn: '5199.99' });
    expect(poor.call('PUT', `${PATH}/${quoteOf(poor)}`).body.error.code).toBe('0379');
    const { oid } = ann.get<{ oid: string }>('PUT', `${PATH}/${quoteOf(ann)}`);
    exchange.venue.set({ conversionOutcome: 'failed' });
    await clock.advance(1000);
    expect(ann.get<Payload>('GET', `${PATH}/${oid}`)['status']).toBe('failed');
    expect(ann.balance('mxn').total).toBe('10000000.00000000');
    expect(bob.call('GET', `${PATH}/${oid}`).status).toBe(404);
    exchange.venue.set({ conversions: 'off' });
    expect(ann.call('POST', PATH, ask).body.error.code).toBe('1009');
  });

  it('that was refused for lack of funds is executed by the same quote, once, when the funds are free again', async () => {
    const { exchange, clock, open } = arena();
    stocked(exchange);
    const ann = open({ mxn: '6000' });
    const ask = { from_currency: 'mxn', to_currency: 'usd', spend_amount: '5200' };
    const { id } = ann.get<{ id: string }>('POST', PATH, ask);
    const execute = () => ann.call('PUT', `${PATH}/${id}`);
    const before = exchange.truth().imbalance;
    const oid = ann.limit('btc_mxn', 'buy', '1000000', '0.002');
    for (let n = 0; n < 2; n++) expect(execute().body.error.code).toBe('0379');
    ann.call('DELETE', `/api/v3/orders/${oid}`);
    expect(execute().status).toBe(200);
    expect(execute().body.error.code).toBe('0345');
    await clock.advance(1_000);
    expect(ann.balance('mxn').total).toBe('800.00000000');
    expect(exchange.truth().imbalance).toEqual(before);
  });
});
