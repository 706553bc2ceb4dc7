/** Laws of the RFQ desk: money, page walks, determinism, and the shape of recorded replies. */
import fc from 'fast-check';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { money, moneyOf, randomOf, textOfMoney } from '../../../src/core/index.ts';
import { PageTokens } from '../../../src/sandbox/wire/pageTokens.ts';
import { runsOf } from '../../many.ts';
import { around, conserved, deskArena } from '../desk.ts';

type Json = Record<string, unknown>;
type Page = { conversions: { id: string }[]; next_page_token?: string; total_count: number };
const TICKERS = ['MXN', 'USD', 'BTC', 'USDT'];

const pick = <T>(...values: readonly T[]) => fc.constantFrom(...values);

describe('the RFQ desk', () => {
  const step = fc.record({
    source: pick(...TICKERS),
    target: pick(...TICKERS),
    side: pick('source_amount', 'target_amount'),
    units: fc.integer({ min: 1, max: 2_000_000 }),
    who: fc.nat(1),
    twice: fc.boolean(),
    wait: fc.nat(1500),
    move: fc.integer({ min: -300, max: 300 }),
  });
  const switches = fc.record({
    rfqFailurePips: pick(0, 3000),
    rfqFunds: pick('moved at the end' as const, 'locked at once' as const),
    rfqCapacityPips: pick(1, 250),
    rfqSpreadPips: pick(0, 20, 500),
    rfqDelayMinMs: pick(0, 50),
    rfqConversionId: pick('own' as const, 'quote id' as const),
  });

  it('neither makes nor loses money, never overdraws, rounds in its own favour, and leaves no lock behind', async () => {
    await fc.assert(
      fc.asyncProperty(switches, fc.array(step, { minLength: 1, maxLength: 30 }), async (set, steps) => {
        const { exchange, ann, open, clock } = deskArena({ ...set, rfqDelayMaxMs: set.rfqDelayMinMs * 20 });
        const traders = [ann, open({ mxn: '500', btc: '0.001' })];
        for (const { source, target, side, units, who, twice, wait, move } of steps) {
          const trader = traders[who]!;
          const fixed = side === 'source_amount' ? source : target;
          const amount = fixed === 'BTC' ? `0.${String(units).padStart(8, '0')}` : String(units);
          const quote = trader.call('POST', '/rfq/v1/quotes', { source, target, [side]: amount });
          if (quote.status === 200) {
            const { id, source_amount, target_amount } = quote.body as unknown as Record<string, string>;
            if (source === 'MXN' && target === 'USD') {
              // Times the ask of the mid or less: the desk never gives more than the mid is worth.
              const { engine } = exchange.venue.books.get('usd_mxn')!;
              const twiceMid = BigInt(engine.bestBid() + engine.bestAsk());
              expect(moneyOf(target_amount!) * twiceMid <= moneyOf(source_amount!) * 2000n).toBe(true);
            }
            const made = trader.call('POST', '/rfq/v1/conversions', { quote_id: id });
            if (twice && made.status === 200)
              expect(trader.call('POST', '/rfq/v1/conversions', { quote_id: id }).text).toContain(
                'quote_already_executed',
              );
          }
          await clock.advance(wait);
          around(exchange, 'usd_mxn', 18_300 + move, 18_320 + move);
          expect(conserved(exchange)).toBe(true);
          for (const account of exchange.truth().accounts.values())
            for (const { total, locked } of account.balances.values())
              expect(locked >= 0n && locked <= total).toBe(true);
        }
        await clock.advance(5000);
        expect(conserved(exchange)).toBe(true);
        for (const trader of traders) {
          for (const { locked } of exchange.truth().accounts.get(trader.id)!.balances.values()) expect(locked).toBe(0n);
          const { conversions } = trader.call('GET', '/rfq/v1/conversions').body as unknown as { conversions: Json[] };
          for (const { status } of conversions) expect(['COMPLETED', 'FAILED']).toContain(status);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('has less for a direction by what was converted in it, for every account alike, and no less for any other', () => {
    const directions = TICKERS.flatMap(source =>
      TICKERS.filter(target => target !== source).map(target => ({ source, target })),
    );
    const conversion = fc.record({
      direction: fc.nat(directions.length - 1),
      percent: fc.integer({ min: 1, max: 100 }),
    });
    let converted = 0;
    fc.assert(
      fc.property(fc.array(conversion, { minLength: 3, maxLength: 6 }), all => {
        const { open, bob } = deskArena({ rfqDelayMinMs: 0, rfqDelayMaxMs: 0, rfqFailurePips: 0, rfqCapacityPips: 1 });
        const rich = open({ mxn: '100000000', usd: '10000000', btc: '1000', usdt: '10000000' });
        const free = () =>
          directions.map(pair => {
            const { body } = bob.call('POST', '/rfq/v1/quotes', { ...pair, source_amount: '100000000' });
            return moneyOf((body as unknown as { max_tradable_amount: { value: string } }).max_tradable_amount.value);
          });
        let before = free();
        for (const { direction, percent } of all) {
          const unit = 10n ** (['MXN', 'USD'].includes(directions[direction]!.source) ? 16n : 10n);
          const sum = money(((before[direction]! * BigInt(percent)) / 100n / unit) * unit);
          const asked = { ...directions[direction], source_amount: textOfMoney(sum) };
          const quote = rich.call('POST', '/rfq/v1/quotes', asked);
          if (quote.status !== 200) continue;
          const { id } = quote.body as unknown as { id: string };
          expect(rich.call('POST', '/rfq/v1/conversions', { quote_id: id }).status).toBe(200);
          converted++;
          const after = free();
          after.forEach((left, i) => {
            const less = before[i]! - left - (i === direction ? sum : 0n);
            expect(less >= 0n && less <= (i === direction ? unit : 0n)).toBe(true);
          });
          before = after;
        }
      }),
      runsOf(100, 10),
    );
    expect(converted).toBeGreaterThan(10);
  });

  it('lists every conversion exactly once along any walk, even while new ones arrive', async () => {
    await fc.assert(
      fc.asyncProperty(
        pick('newest first' as const, 'oldest first' as const, 'by id' as const),
        fc.integer({ min: 1, max: 25 }),
        fc.array(fc.record({ size: fc.integer({ min: 1, max: 7 }), more: fc.nat(3) }), { minLength: 1, maxLength: 40 }),
        async (rfqListOrder, count, pages) => {
          const { ann } = deskArena({ rfqListOrder, rfqCapacityPips: 10_000 });
          const convert = () => {
            const ask = { source: 'MXN', target: 'USD', source_amount: '50' };
            const { id } = ann.call('POST', '/rfq/v1/quotes', ask).body as unknown as { id: string };
            return (ann.call('POST', '/rfq/v1/conversions', { quote_id: id }).body as unknown as { id: string }).id;
          };
          const before = Array.from({ length: count }, convert);
          const all = new Set(before);
          const seen: string[] = [];
          let token = '';
          for (let i = 0; i < 1000; i++) {
            const { size, more } = i < pages.length ? pages[i]! : { size: 7, more: 0 };
            const query = `page_size=${size}${token === '' ? '' : `&page_token=${token}`}`;
            const page = ann.call('GET', `/rfq/v1/conversions?${query}`).body as unknown as Page;
            seen.push(...page.conversions.map(conversion => conversion.id));
            expect(page.total_count).toBe(all.size);
            if (page.next_page_token === undefined) break;
            token = page.next_page_token;
            for (let n = 0; n < more; n++) all.add(convert());
          }
          expect(new Set(seen).size).toBe(seen.length);
          for (const id of before) expect(seen).toContain(id);
          for (const id of seen) expect(all).toContain(id);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('does the same with the same seed, and something else with another', async () => {
    const run = async (seed: number) => {
      const { ann, clock } = deskArena({ rfqFailurePips: 5000 }, seed);
      const told: string[] = [];
      for (let i = 0; i < 10; i++) {
        const quote = ann.call('POST', '/rfq/v1/quotes', { source: 'MXN', target: 'USD', source_amount: '50' });
        told.push(quote.text);
        ann.call('POST', '/rfq/v1/conversions', { quote_id: (quote.body as unknown as { id: string }).id });
        await clock.advance(300);
        told.push(ann.call('GET', '/rfq/v1/conversions?page_size=2').text);
      }
      return told;
    };
    expect(await run(3)).toEqual(await run(3));
    expect(await run(3)).not.toEqual(await run(4));
  });

  const QUOTES = '/rfq/v1/quotes';
  const CONVERSIONS = '/rfq/v1/conversions';
  const ASK = { source: 'MXN', target: 'USD', source_amount: '50' };
  type Row = Record<string, string>;

  it('keeps a quote until the last millisecond of its whole seconds, for its own account only', async () => {
    for (const rfqQuoteLifeMs of [1_000, 30_000, 31_999])
      for (const rfqExecutedAfterExpiry of ['quote_not_found', 'quote_already_executed'] as const) {
        const { ann, bob, clock } = deskArena({ rfqQuoteLifeMs, rfqExecutedAfterExpiry });
        const life = rfqQuoteLifeMs - (rfqQuoteLifeMs % 1_000);
        const at = clock.now();
        const [open, executed] = [0, 1].map(() => ann.call('POST', QUOTES, ASK).body as unknown as Row);
        expect([open!['created_at'], open!['expires_at']].map(time => Date.parse(time!))).toEqual([at, at + life]);
        const show = (who: typeof ann) => who.call('GET', `${QUOTES}/${open!['id']}`);
        const convert = (who: typeof ann, quote: Row) => who.call('POST', CONVERSIONS, { quote_id: quote['id'] });
        expect(convert(bob, open!).text).toContain('quote_not_found');
        await clock.advance(life - 1);
        expect(show(bob).text).toContain('quote_not_found');
        expect(show(ann).body).toMatchObject({ status: 'ACTIVE' });
        expect(convert(ann, executed!).status).toBe(200);
        expect(convert(ann, executed!).text).toContain('quote_already_executed');
        await clock.advance(1);
        expect(show(ann).text).toContain('quote_not_found');
        expect(convert(ann, open!).text).toContain('quote_not_found');
        expect(convert(ann, executed!).text).toContain(rfqExecutedAfterExpiry);
      }
  });

  it('shows a conversion to its own account only, with the times of its quote, its start and its end', async () => {
    const { ann, bob, clock } = deskArena({ rfqDelayMinMs: 5_000, rfqDelayMaxMs: 5_000, rfqFailurePips: 0 });
    const made: { who: typeof ann; quotedAt: number; createdAt: number; id: string }[] = [];
    for (const who of [ann, bob, ann]) {
      const quotedAt = clock.now();
      const quote = who.call('POST', QUOTES, ASK).body as unknown as Row;
      await clock.advance(2_000);
      const createdAt = clock.now();
      const { id } = who.call('POST', CONVERSIONS, { quote_id: quote['id'] }).body as unknown as { id: string };
      made.push({ who, quotedAt, createdAt, id });
      await clock.advance(1_000);
    }
    for (const now of [clock.now(), clock.now() + 4_000]) {
      await clock.advance(now - clock.now());
      for (const who of [ann, bob]) {
        const own = made.filter(each => each.who === who);
        const { conversions, total_count } = who.call('GET', CONVERSIONS).body as unknown as Page;
        expect([total_count, new Set(conversions.map(({ id }) => id))]).toEqual([
          own.length,
          new Set(own.map(({ id }) => id)),
        ]);
        for (const { id } of made.filter(each => each.who !== who))
          expect(who.call('GET', `${CONVERSIONS}/${id}`).text).toContain('forbidden_request');
        for (const { quotedAt, createdAt, id } of own) {
          const shown = who.call('GET', `${CONVERSIONS}/${id}`).body as unknown as Row;
          const isEnded = now >= createdAt + 5_000;
          expect(shown['status']).toBe(isEnded ? 'COMPLETED' : 'PENDING');
          expect([shown['quoted_at'], shown['created_at'], shown['updated_at']].map(time => Date.parse(time!))).toEqual(
            [quotedAt, createdAt, isEnded ? createdAt + 5_000 : createdAt],
          );
        }
      }
    }
  });

  it('cancels a quote if its source has lost more than so much of its value since, and not if it gained', () => {
    const states = new Set<string>();
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 150 }),
        fc.integer({ min: -300, max: 300 }),
        fc.boolean(),
        (rfqCancelMovePips, move, sells) => {
          const { exchange, ann } = deskArena({ rfqCancelMovePips });
          const { engine } = exchange.venue.books.get('usd_mxn')!;
          const twiceMid = () => engine.bestBid() + engine.bestAsk();
          const ask = sells ? { source: 'USD', target: 'MXN', source_amount: '5' } : ASK;
          const { id } = ann.call('POST', QUOTES, ask).body as unknown as { id: string };
          const then = twiceMid();
          around(exchange, 'usd_mxn', 18_300 + move, 18_320 + move);
          // A seller of dollars loses if their price falls, a buyer if it rises.
          const [old, now] = sells ? [then, twiceMid()] : [twiceMid(), then];
          const isCanceled = now * 10_000 < old * (10_000 - rfqCancelMovePips);
          const made = ann.call('POST', CONVERSIONS, { quote_id: id });
          if (isCanceled) expect(made.text).toContain('quote_cancelled');
          else expect(made.status).toBe(200);
          const shown = ann.call('GET', `${QUOTES}/${id}`).body as unknown as { status: string };
          expect(shown.status).toBe(isCanceled ? 'REJECTED' : 'ACCEPTED');
          states.add(shown.status);
        },
      ),
      runsOf(200, 60),
    );
    expect(states.size).toBe(2);
  });

  it('has two decimals for money of a country, as many as set for a stablecoin that is paid, and eight otherwise', () => {
    for (const rfqStablecoinDecimals of [2, 6, 7]) {
      const { ann } = deskArena({ rfqStablecoinDecimals });
      const { pairs } = ann.call('GET', '/rfq/v1/pairs').body as unknown as { pairs: Row[] };
      expect(pairs).toHaveLength(TICKERS.length * (TICKERS.length - 1));
      const decimals: Readonly<Record<string, number>> = { MXN: 2, USD: 2, BTC: 8, USDT: 8 };
      for (const { source, target, source_precision, target_precision } of pairs)
        expect([source, Number(source_precision), target, Number(target_precision)]).toEqual([
          ...[source, source === 'USDT' ? rfqStablecoinDecimals : decimals[source!]],
          ...[target, decimals[target!]],
        ]);
    }
  });

  it('forgets its oldest quotes and conversions, and still answers', () => {
    const { ann } = deskArena();
    const first = ann.call('POST', '/rfq/v1/quotes', { source: 'MXN', target: 'USD', source_amount: '50' });
    const { id } = first.body as unknown as { id: string };
    for (let i = 0; i < 10_000; i++)
      ann.call('POST', '/rfq/v1/quotes', { source: 'MXN', target: 'USD', source_amount: '50' });
    expect(ann.call('GET', `/rfq/v1/quotes/${id}`).text).toContain('quote_not_found');
  });
});

describe('a page token', () => {
  it('opens to what was sealed, for its account only, and to nothing when anything was changed', () => {
    const tokens = new PageTokens(randomOf(1));
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), fc.nat(), (account, other, text, at) => {
        const token = tokens.seal(account, text);
        expect(token).toMatch(/^[\w-]+$/);
        expect(tokens.open(account, token)).toBe(text);
        if (other !== account) expect(tokens.open(other, token)).toBeNull();
        const i = at % token.length;
        expect(
          tokens.open(account, token.slice(0, i) + (token[i] === 'A' ? 'B' : 'A') + token.slice(i + 1)),
        ).toBeNull();
        expect(tokens.open(account, token.slice(0, i))).toBeNull();
        expect(tokens.open(account, text)).toBeNull();
        expect(new PageTokens(randomOf(2)).open(account, token)).toBeNull();
      }),
    );
  });

  it('has one spelling: nothing else that decodes to the same bytes is it', () => {
    const tokens = new PageTokens(randomOf(1));
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    for (const text of ['', 'a', 'ab', 'abc']) {
      const token = tokens.seal('1', text);
      for (const last of alphabet.replace(token.at(-1)!, ''))
        expect(tokens.open('1', token.slice(0, -1) + last)).toBeNull();
      for (const other of [`${token}=`, `${token}\n`, ` ${token}`, token.replace('_', '/').replace('-', '+') + '='])
        expect(tokens.open('1', other)).toBeNull();
    }
  });
});

const FILE = join(process.env['PUNTAS_DATA'] ?? '../shared/data', 'bitso-api-fixtures/rfq-webhook/rfq.json');
const missing = !existsSync(FILE);
if (missing) console.log(`skipped: no recorded RFQ replies at ${FILE} (set PUNTAS_DATA)`);

/** Keys and types, to any depth; of a list, those of its first row. */
const shapeOf = (value: unknown): unknown => {
  if (Array.isArray(value)) return [shapeOf(value[0])];
  if (typeof value !== 'object' || value === null) return typeof value;
  return Object.fromEntries(
    Object.entries(value)
      .sort()
      .map(([key, each]) => [key, shapeOf(each)]),
  );
};

/**
 * Differences in value, not in shape: the recorded quote id is a made-up word, ours a UUID (rfq conventions); its expires_at has nine
 * decimals, ours when `rfqTimeForm` says so; it cannot be confirmed though its size is below max_tradable_amount, which ours never says.
 * The v4 quote was recorded by somebody who kept ten fields of the thirteen.
 */
describe.skipIf(missing)('recorded replies have the shape of ours', () => {
  const recorded = missing ? {} : (JSON.parse(readFileSync(FILE, 'utf8')) as Record<string, Json>);

  it('pairs', () => {
    expect(shapeOf(deskArena().ann.call('GET', '/rfq/v1/pairs').body)).toEqual(shapeOf(recorded['pairs_response']));
  });

  it('the recorded request gives a quote of the recorded shape', () => {
    const { ann } = deskArena({ rfqTimeForm: 'nanoseconds', rfqCapacityPips: 0 });
    const quote = ann.call('POST', '/rfq/v1/quotes', recorded['quote_request']).body as unknown as Json;
    const theirs = recorded['quote_response_active']!;
    expect(shapeOf(quote)).toEqual(shapeOf(theirs));
    expect(quote).toMatchObject({ source: theirs['source'], target: theirs['target'], status: theirs['status'] });
    expect(String(quote['expires_at'])).toHaveLength(String(theirs['expires_at']).length);
  });

  it('a v4 conversion quote, whose recording lacks padding, slippage and next events', () => {
    const { ann } = deskArena();
    const ask = { from_currency: 'mxn', to_currency: 'usd', receive_amount: '100' };
    const { padding, estimated_slippage, next_recurrent_events, ...ours } = ann.get<Json>(
      'POST',
      '/api/v4/currency_conversions',
      ask,
    );
    expect([padding, estimated_slippage, next_recurrent_events]).not.toContain(undefined);
    expect(shapeOf(ours)).toEqual(shapeOf(recorded['v4_conversion_quote']));
  });
});
