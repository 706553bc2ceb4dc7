/** Every call of every registered exchange with arguments and replies that fit nothing: the outcome is a value. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  TransportFailure,
  type NewOrder,
  type Outcome,
  type Page,
  type VenueClient,
  type WireReply,
} from '../../src/core/index.ts';
import { VENUES } from '../../src/wiring/venueRegistry.ts';
import { runsOf } from '../many.ts';
import { BOOKS, clientOn, endOf, listAnswer } from './everyVenue.ts';

const word = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    'a-1-1',
    'A B',
    'x'.repeat(41),
    'marketmake-217905022-9876543',
    '1',
    '-1',
    '1e5',
    'NaN',
    '\u0000',
  ),
  fc.constantFrom('OQCLML-BW3P3-BUCMWZ', '170000000000000000000001', '../../x?y=1', 'btc_eur', 'btc', '__proto__'),
  fc.string({ maxLength: 20 }),
);
const number = fc.oneof(fc.constantFrom(Number.NaN, Infinity, -1, 0, 1, 0.5, 1e9), fc.integer());
const pages = fc.record({ marker: word, limit: number, sort: fc.constantFrom('asc', 'desc') }, { requiredKeys: [] });
const ids = fc.oneof(
  fc.array(word, { maxLength: 3 }).map(oids => ({ oids })),
  fc.array(word, { maxLength: 3 }).map(originIds => ({ originIds })),
);
const replies = fc.oneof(
  fc.constantFrom(
    '',
    '<html>',
    'null',
    '[]',
    '{}',
    '[{}]',
    '{"success":true,"payload":[{}]}',
    '{"error":[],"result":{}}',
  ),
  fc.constantFrom('{"error":[],"result":{"count":"x","closed":[],"txid":[1]}}', '{"code":-1,"msg":""}'),
  fc.json({ maxDepth: 2 }),
);

type Call = { readonly name: string; readonly run: (client: VenueClient) => Promise<Outcome<unknown>> };
const calls = fc
  .record({ id: word, book: word, page: pages, ids, flag: fc.boolean() })
  .chain(({ id, book, page, ids: of, flag }) => {
    const order = {
      book,
      side: flag ? 'buy' : id,
      price: id,
      major: '1',
      originId: id,
      timeInForce: 'post only',
    } as NewOrder;
    return fc.constantFrom<Call>(
      { name: 'availableBooks', run: client => client.availableBooks() },
      { name: 'orderBook', run: client => client.orderBook(book, flag) },
      { name: 'trades', run: client => client.trades(book, page) },
      { name: 'balances', run: client => client.balances() },
      { name: 'fees', run: client => client.fees() },
      { name: 'openOrders', run: client => client.openOrders(flag ? { book } : {}) },
      { name: 'userTrades', run: client => client.userTrades({ ...(page as Page), ...(flag ? { book } : {}) }) },
      { name: 'orderTrades', run: client => client.orderTrades(flag ? { oid: id } : { originId: id }) },
      { name: 'lookUp', run: client => client.lookUp(of) },
      { name: 'place', run: client => client.place(order) },
      { name: 'cancel', run: client => client.cancel(of) },
      {
        name: 'desk.accept',
        run: async ({ desk }) => (await desk?.accept({ way: flag ? 'rfq' : 'conversion', id })) ?? NONE,
      },
      { name: 'desk.state', run: async ({ desk }) => (await desk?.state(flag ? 'rfq' : 'conversion', id)) ?? NONE },
      { name: 'desk.find', run: async ({ desk }) => (await desk?.find(flag ? 'rfq' : 'conversion', id)) ?? NONE },
      { name: 'desk.pairs', run: async ({ desk }) => (await desk?.pairs()) ?? NONE },
      {
        name: 'desk.offer',
        run: async ({ desk }) =>
          (await desk?.offer(flag ? 'rfq' : 'conversion', { from: book, to: id, give: id })) ?? NONE,
      },
      {
        name: 'transferLines',
        run: async ({ transferLists: of }) =>
          (await of?.transferLines(flag ? of.lists[0]!.name : id, {
            limit: page.limit ?? 1,
            marker: page.marker ?? id,
          })) ?? NONE,
      },
      { name: 'account.id', run: async client => (await client.account?.id()) ?? NONE },
      { name: 'account.hasTrade', run: async client => (await client.account?.hasTrade(id)) ?? NONE },
    );
  });
const NONE: Outcome<never> = { kind: 'refused', code: 'not-sent', message: 'the venue has no such call' };

describe.each(VENUES.map(venue => [venue.name, venue] as const))('%s', (name, venue) => {
  test('answers each call with an outcome, and a call for which nothing was sent with one that says so', async () => {
    const worlds = fc.record({
      lists: fc.nat(4),
      own: fc.option(word),
      call: calls,
      body: replies,
      status: fc.constantFrom(200, 400, 502),
      fails: fc.nat(5),
    });
    await fc.assert(
      fc.asyncProperty(worlds, async ({ lists, own, call, body, status, fails }) => {
        let sent = 0;
        const { client, clock } = clientOn(
          venue,
          async (request): Promise<WireReply> => {
            const list = listAnswer(request);
            if (list !== undefined && lists === 0) throw new TransportFailure('reset', true);
            if (list !== undefined) return list;
            sent++;
            if (fails === 0) throw new TransportFailure('reset', true);
            return { status, headers: {}, body };
          },
          { book: own ?? BOOKS[name]! },
        );
        const outcome = await endOf(clock, call.run(client));
        expect(['done', 'refused', 'unknown']).toContain(outcome?.kind);
        if (sent === 0 && call.name === 'place') expect(outcome).toMatchObject({ kind: 'refused', code: 'not-sent' });
      }),
      runsOf(4_000, 250),
    );
  });
});
