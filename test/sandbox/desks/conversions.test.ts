import fc from 'fast-check';
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

  it('is estimated to slip by the levels that its amount takes, highly from 2%, and refused beyond the last level', () => {
    const gap = fc.integer({ min: 1, max: 800 });
    const levels = fc.array(fc.record({ gap, dollars: fc.integer({ min: 1, max: 2_000 }) }), {
      minLength: 1,
      maxLength: 5,
    });
    const share = fc.oneof(fc.constant(1), fc.double({ min: 0.01, max: 1.3, noNaN: true }));
    const high: string[] = [];
    fc.assert(
      fc.property(fc.boolean(), levels, share, (selling, drawn, part) => {
        const { exchange, ann } = arena();
        const house = exchange.marketplace('usd_mxn');
        let ticks = 18_300;
        const book = drawn.map(({ gap: apart, dollars }, i) => {
          if (i > 0) ticks += selling ? -apart : apart;
          house.place(selling ? 'buy' : 'sell', price(ticks), amount(dollars * 10 ** 8), 'GTC');
          return { ticks, dollars };
        });
        // Dollars of a seller, or thousandths of a peso of a buyer. A tick is one of these.
        const depth = book.reduce((sum, level) => sum + (selling ? 1 : level.ticks) * level.dollars, 0);
        const spend = Math.max(1, Math.round(depth * part));
        const asked = selling
          ? { from_currency: 'usd', to_currency: 'mxn', spend_amount: String(spend) }
          : { from_currency: 'mxn', to_currency: 'usd', spend_amount: (spend / 1_000).toFixed(3) };
        const { body } = ann.call('POST', PATH, asked);
        if (spend > depth) {
          expect(body.error.code).toBe('0367');
          return;
        }
        let [left, dollars, pesos] = [spend, 0, 0];
        for (const level of book) {
          const taken = Math.min(level.dollars, selling ? left : left / level.ticks);
          dollars += taken;
          pesos += taken * level.ticks;
          left -= selling ? taken : taken * level.ticks;
        }
        const slippage = Math.abs(pesos / dollars / 18_300 - 1);
        const { value, level } = (body.payload as { estimated_slippage: { value: string; level: string } })
          .estimated_slippage;
        expect(Number(value)).toBeGreaterThan(slippage - 0.000_100_1);
        expect(Number(value)).toBeLessThan(slippage + 0.000_000_1);
        if (Math.abs(slippage - 0.02) > 1e-6 || drawn.length === 2)
          expect(level).toBe(slippage > 0.02 - 1e-12 ? 'high' : 'normal');
        high.push(level);
      }),
      {
        numRuns: 60,
        // The mean of 18,300 and 17,568 is exactly 2% below 18,300.
        examples: [
          [
            true,
            [
              { gap: 1, dollars: 5 },
              { gap: 732, dollars: 5 },
            ],
            1,
          ],
        ],
      },
    );
    expect(new Set(high)).toEqual(new Set(['normal', 'high']));
  });

  it('is found by its own id and by that of its quote, as long as it lasts and after, by its own account only', async () => {
    const { exchange, ann, bob, clock } = arena();
    stocked(exchange);
    const made = [ann, bob].map((who, i) => {
      const ask = { from_currency: 'mxn', to_currency: 'usd', spend_amount: String(100 * (i + 1)) };
      const { id } = who.get<{ id: string }>('POST', PATH, ask);
      expect(who.call('GET', `/api/v3/currency_conversions/${id}`).status).toBe(404);
      return { who, quote: id, ...who.get<{ oid: string }>('PUT', `${PATH}/${id}`) };
    });
    for (const status of ['open', 'queued', 'completed']) {
      for (const [i, { who, quote, oid }] of made.entries()) {
        const other = made[1 - i]!.who;
        for (const path of [`${PATH}/${oid}`, `/api/v3/currency_conversions/${quote}`]) {
          expect(who.get('GET', path)).toMatchObject({ id: oid, from_amount: `${100 * (i + 1)}.00000000`, status });
          expect(other.call('GET', path).body.error.code).toBe('1401');
        }
      }
      await clock.advance(500);
    }
  });
});
