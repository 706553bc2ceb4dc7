/** Answers joined from several requests: they claim no more than all their parts prove, and no part is lost. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TransportFailure, type Outcome, type WireRequest } from '../../../src/core/index.ts';
import { venueClient } from '../../../src/exchange/bitso/venue.ts';
import { runsOf } from '../../many.ts';
import { json, ok, scriptedClient } from './fakes.ts';

const KIND_OF = { reset: 'unknown', unsent: 'refused' } as const;
type Failure = keyof typeof KIND_OF;
const failing = (how: Failure): never => {
  throw new TransportFailure(how, how === 'reset');
};
/** Requests that fail, by their number; the others are answered. */
const failures = fc.array(fc.constantFrom<(Failure | null)[]>(null, null, null, 'reset', 'unsent'), { maxLength: 12 });
const LARGE_BUDGET = { budgets: { private: 10_000 } };
const AT = '2026-02-11T16:05:09.000+00:00';

describe('orders by their ids', () => {
  /** An id at the exchange: an order, no order, no order and its request is rejected, or a row that cannot be read. */
  type Kept = 'order' | 'none' | 'rejects' | 'unreadable';
  const kept = fc.constantFrom<Kept[]>('order', 'order', 'order', 'none', 'rejects', 'unreadable');
  // Above 50 ids there are several requests; a rejected one is split.
  const account = fc.oneof(
    { arbitrary: fc.array(kept, { maxLength: 9 }), weight: 4 },
    {
      arbitrary: fc
        .tuple(fc.array(kept, { maxLength: 3 }), fc.integer({ min: 47, max: 100 }), fc.array(kept, { maxLength: 3 }))
        .map(([first, orders, last]) => [...first, ...Array<Kept>(orders).fill('order'), ...last]),
      weight: 1,
    },
  );
  const rowOf = (oid: string) => ({
    ...{ book: 'btc_mxn', oid, type: 'limit', side: 'buy', status: 'open', price: '100', created_at: AT },
    ...{ original_amount: '1', unfilled_amount: '1' },
  });

  /** Answers requests by id from the account. Each request ends as answered, failed or rejected; the last is requested again in parts. */
  function exchangeOf(of: readonly Kept[], failed: readonly (Failure | null)[], code: string) {
    const ends: { readonly ids: readonly string[]; readonly failure: Failure | null }[] = [];
    let count = 0;
    const answer = ({ method, target }: WireRequest) => {
      const ids = target.split('ids=')[1]!.split(',');
      const failure = failed[count++] ?? null;
      if (failure !== null) {
        ends.push({ ids, failure });
        return failing(failure);
      }
      const those = (one: Kept) => ids.filter(id => of[Number(id)] === one);
      if (those('rejects').length > 0) {
        if (ids.length === 1) ends.push({ ids, failure });
        return json({ success: false, error: { code, message: '' } }, 400);
      }
      ends.push({ ids, failure });
      const row: (id: string) => unknown = method === 'DELETE' ? id => id : rowOf;
      return ok([...those('order').map(row), ...those('unreadable').map(() => 5)]);
    };
    return { ends, client: scriptedClient(answer, LARGE_BUDGET).client };
  }

  it.each(['lookUp', 'cancel'] as const)(
    'of a %s say of every id what its request proved: a look-up needs all of its requests, a cancel any',
    async name => {
      const code = fc.constantFrom('0312', '0357');
      await fc.assert(
        fc.asyncProperty(account, failures, code, fc.boolean(), async (of, failed, rejection, isOwn) => {
          const { client, ends } = exchangeOf(of, failed, rejection);
          const ids = of.map((_, i) => String(i));
          const outcome: Outcome<readonly unknown[]> = await client[name](isOwn ? { originIds: ids } : { oids: ids });
          expect(ends.flatMap(end => end.ids).sort()).toEqual([...ids].sort());
          const lost = ends.flatMap(({ failure }) => (failure === null ? [] : [failure]));
          const isDone = name === 'lookUp' ? lost.length === 0 : lost.length < ends.length || ids.length === 0;
          if (!isDone) {
            // A cancel of which any part may have arrived is unknown.
            const kinds = name === 'cancel' && lost.includes('reset') ? ['unknown'] : lost.map(how => KIND_OF[how]);
            expect(kinds).toContain(outcome.kind);
            return;
          }
          if (outcome.kind !== 'done') throw new Error(`answered, and yet ${outcome.kind}`);
          const answered = ends.flatMap(end => (end.failure === null ? end.ids : []));
          const those = (one: Kept) => answered.filter(id => of[Number(id)] === one).sort();
          const named = outcome.value.map(each => (typeof each === 'string' ? each : (each as { oid: string }).oid));
          expect([...named].sort()).toEqual(those('order'));
          expect((outcome.unreadable ?? []).length).toBe(those('unreadable').length);
        }),
        runsOf(400, 60),
      );
    },
  );
});

describe('the conversion of a quote', () => {
  type Row = 'other' | 'unreadable' | 'wanted';
  const rowOf = (row: Row, i: number) =>
    row === 'unreadable'
      ? { id: 5 }
      : {
          ...{ id: `c${i}`, quote_id: row === 'wanted' ? 'q' : 'other', status: 'COMPLETED', created_at: AT },
          ...{ source: 'BTC', target: 'MXN', source_amount: '0.1', target_amount: '150000', rate: '1500000' },
        };
  /** Finds the conversion of quote `q` in these pages. The last page has no token, or an empty one. */
  async function find(pages: readonly (readonly Row[])[], failed: readonly (Failure | null)[] = [], last = {}) {
    const { client, transport } = scriptedClient(({ target }) => {
      const at = Number(/page_token=(\d+)/.exec(target)?.[1] ?? 0);
      const failure = failed[at] ?? null;
      if (failure !== null) return failing(failure);
      const next = at + 1 < pages.length ? { next_page_token: String(at + 1) } : last;
      return json({ conversions: pages[at]!.map((row, i) => rowOf(row, 100 * at + i)), ...next });
    }, LARGE_BUDGET);
    return { outcome: await venueClient(client).desk!.find('rfq', 'q'), requests: transport.requests.length };
  }

  it('is found on any page; there is none only if every row of every page was read and is another', async () => {
    const others = fc.array(fc.constantFrom<Row[]>('other', 'other', 'unreadable'), { maxLength: 2 });
    const place = fc.option(fc.nat(3));
    await fc.assert(
      fc.asyncProperty(
        fc.array(others, { minLength: 1, maxLength: 4 }),
        place,
        failures,
        fc.constantFrom({}, { next_page_token: '' }),
        async (before, at, failed, last) => {
          const pages = before.map((rows, i) => (i === at ? [...rows, 'wanted' as const] : rows));
          const { outcome } = await find(pages, failed, last);
          const end = pages.findIndex((_, i) => (failed[i] ?? null) !== null);
          const read = (end < 0 ? pages : pages.slice(0, end)).flat();
          if (read.includes('wanted')) expect(outcome).toMatchObject({ value: { id: expect.any(String) as string } });
          else if (end >= 0)
            expect([outcome.kind, Object.values(outcome).includes(failed[end]!)]).toEqual([
              KIND_OF[failed[end]!],
              true,
            ]);
          else if (read.includes('unreadable')) expect(outcome.kind).toBe('unknown');
          else expect(outcome).toEqual({ kind: 'done', value: null });
        },
      ),
      runsOf(500, 100),
    );
  });

  it('is looked for on 200 pages; in a longer list it is unknown', async () => {
    const pages = (count: number, last: readonly Row[]) => [...Array<readonly Row[]>(count - 1).fill([]), last];
    expect(await find(pages(200, []))).toEqual({ outcome: { kind: 'done', value: null }, requests: 200 });
    expect((await find(pages(200, ['wanted']))).outcome).toMatchObject({ value: { id: 'c19900' } });
    const { outcome, requests } = await find(pages(201, ['wanted']));
    expect([outcome.kind, requests]).toEqual(['unknown', 200]);
  });
});

describe('a trade of the account', () => {
  const rowOf = (tid: string) => ({
    ...{ book: 'btc_mxn', tid, oid: 'a', created_at: AT, side: 'sell', maker_side: 'sell', price: '100' },
    ...{ major: '1', minor: '100', fees_amount: '0', fees_currency: 'mxn' },
  });
  const ROWS = { asked: rowOf('7'), other: rowOf('8'), unreadable: { tid: '7' } };
  type Name = keyof typeof ROWS;
  const LISTS: readonly (readonly Name[])[] = [
    [],
    ['asked'],
    ['other'],
    ['unreadable'],
    ['unreadable', 'asked'],
    ['other', 'unreadable'],
    ['other', 'asked'],
  ];

  it.each(LISTS.map(list => [list]))('is there, not there or unknown as the rows %j prove', async list => {
    const { client } = scriptedClient(() => ok(list.map(name => ROWS[name])));
    const outcome = await venueClient(client).account!.hasTrade('7');
    if (list.includes('asked')) expect(outcome).toMatchObject({ kind: 'done', value: true });
    else if (list.includes('unreadable')) expect(outcome.kind).toBe('unknown');
    else expect(outcome).toEqual({ kind: 'done', value: false });
  });

  it.each(['reset', 'unsent'] as const)('is not said to be missing where the request failed (%s)', async how => {
    const { client } = scriptedClient(() => failing(how));
    expect((await venueClient(client).account!.hasTrade('7')).kind).toBe(KIND_OF[how]);
  });
});
