/** Taking every order of one instance out of the exchange: what is verified is what the exchange's own list shows whole. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { randomOf, Secret, VirtualClock, type Exchange, type OrderReport } from '../../../src/core/index.ts';
import { exchangeClient } from '../../../src/exchange/index.ts';
import { cancelAll, cancelAllAndVerify } from '../../../src/live/safety/cancelAllAndVerify.ts';
import { ConnectivityLog } from '../../../src/live/connectivityLog.ts';
import { memoryLog } from '../../memoryLog.ts';
import { arena } from '../../sandbox/trader.ts';
import { wireTo, type Fate } from '../inProcess.ts';
import { runsOf, testInMany } from '../../many.ts';

/** A client of Ann's whose list of open orders never shows more than `most`, whatever page it asks for. */
function clientOf({ clock, exchange, ann }: ReturnType<typeof arena>, most = Infinity) {
  const client = exchangeClient({
    clock,
    random: randomOf(1),
    transport: wireTo({ exchange, clock, random: randomOf(2) }),
    credentials: { key: ann.key, secret: new Secret(ann.secret) },
  });
  const openOrders: typeof client.openOrders = query =>
    client.openOrders({ ...query, limit: Math.min(query?.limit ?? 500, most) });
  return { client, exchange: { ...client, openOrders } };
}

const bid = ({ ann }: ReturnType<typeof arena>, originId: string): string =>
  ann.limit('btc_mxn', 'buy', '1000000', '0.001', { origin_id: originId });
const isLive = ({ ann }: ReturnType<typeof arena>, oid: string): boolean => ann.order(oid)?.['status'] === 'open';

const LOCKED = { status: 420, headers: {}, body: '{"success":false,"error":{"code":"0801","message":"locked"}}' };

const CALM = {
  ours: 0,
  reads: ['arrives'] as Fate[],
  cancels: ['arrives'] as Fate[],
  slowMs: 40,
  earlyMs: 0,
  lateAt: 10_000,
};

describe('clearing out', () => {
  testInMany(
    'verifies nothing while the list of open orders is full of orders of others, and all of it once it is not',
    async () => {
      const at = arena();
      const { clock, ann } = at;
      // The exchange lists the newest first, and no page after the first.
      const ours = bid(at, 'mm-1-1');
      const others = Array.from({ length: 500 }, (_, i) => bid(at, `other-${i}`));
      const { client, exchange } = clientOf(at, 500);
      const { log, lines } = memoryLog();
      let isOver = false;
      const connectivity = new ConnectivityLog(log, clock);
      const clearing = cancelAllAndVerify(
        { exchange, clock, connectivity: connectivity, book: 'btc_mxn', instance: 'mm' },
        () => true,
      );
      void clearing.then(() => (isOver = true));
      await clock.advance(60_000);
      expect([isOver, isLive(at, ours)]).toEqual([false, true]);
      // A person hears why, once a minute, and what to do.
      expect(
        lines.filter(({ text }) =>
          /^open_orders shows 500 orders and may omit others, so no order of mm is considered ended until the list is shorter; cancel some/.test(
            text,
          ),
        ),
      ).toHaveLength(1);
      ann.call('DELETE', `/api/v3/orders/${others[0]}`);
      await clock.advance(10_000);
      expect(await clearing).toEqual([]);
      expect(ann.order(ours)?.['status']).toBe('cancelled');
      expect(isLive(at, others[1]!)).toBe(true);
      await client.close();
    },
  );

  test('says empty only when none of ours lives, and takes out what is listed or known, whoever else is there', async () => {
    // With those of ours: fewer than a page, one page, and more.
    const before = fc.constantFrom(0, 3, 494, 497, 500);
    // A page that shows no more than the newest shows none of ours behind 500 others.
    const after = fc.constantFrom(0, 3, 500);
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          before,
          after,
          ours: fc.nat(6),
          known: fc.nat(6),
          caps: fc.boolean(),
          isPartlyFilled: fc.boolean(),
        }),
        async ({ before, after, ours, known, caps, isPartlyFilled }) => {
          const at = arena();
          const { clock } = at;
          for (let i = 0; i < before; i++) bid(at, `other-a${i}`);
          const own = Array.from({ length: ours }, (_, i) => {
            const price = String(1_000_010 + 10 * i);
            const oid = at.ann.limit('btc_mxn', 'buy', price, '0.001', { origin_id: `mm-1-${i}` });
            if (isPartlyFilled) at.bob.limit('btc_mxn', 'sell', price, '0.0004');
            return oid;
          });
          const status = isPartlyFilled ? 'partially filled' : 'open';
          expect(own.map(oid => at.ann.order(oid)?.['status'])).toEqual(own.map(() => status));
          for (let i = 0; i < after; i++) bid(at, `other-b${i}`);
          const { client, exchange } = clientOf(at, caps ? 500 : Infinity);
          const { log } = memoryLog();
          const options = {
            exchange,
            clock,
            connectivity: new ConnectivityLog(log, clock),
            book: 'btc_mxn',
            instance: 'mm',
          };
          let isCut = false;
          const until = clock.elapsed() + 4_000;
          const cleared = cancelAllAndVerify(
            {
              ...options,
              known: Array.from({ length: known }, (_, i) => `mm-1-${i}`),
              onSeen: (_, wasCut) => (isCut = wasCut),
            },
            () => clock.elapsed() < until,
          );
          await clock.advance(12_000);
          const left = await cleared;
          const isStill = (oid: string) => at.ann.order(oid)?.['status'] === status;
          const living = own.filter(isStill);
          if (left !== null) expect(left.map(({ oid }) => oid)).toEqual(living);
          expect(own.slice(0, known).filter(isStill)).toEqual([]);
          // A list that is whole is always enough, one that may be cut never: exactly one page may be.
          const listed = before + after + living.length;
          const isWhole = listed < 500 || (listed > 500 && !caps);
          expect(left !== null).toBe(isWhole);
          expect(isCut).toBe(!isWhole);
          await client.close();
        },
      ),
      {
        ...runsOf(20, 5),
        examples: [[{ before: 0, after: 500, ours: 3, known: 2, caps: true, isPartlyFilled: true }]],
      },
    );
  });

  test('says empty after the first two reads in a row that began late enough and showed none of ours, and asks for every order of each read, whatever becomes of its requests', async () => {
    const fates = fc.array(fc.constantFrom<Fate>('arrives', 'arrives', 'lost', 'unanswered', { instead: LOCKED }), {
      minLength: 1,
      maxLength: 5,
    });
    const cases = fc.record({
      ours: fc.constantFrom(0, 2, 60),
      reads: fates,
      cancels: fates,
      slowMs: fc.constantFrom(40, 1_900),
      earlyMs: fc.nat(10_000),
      lateAt: fc.nat(10_000),
    });
    await fc.assert(
      fc.asyncProperty(cases, async ({ ours, reads, cancels, slowMs, earlyMs, lateAt }) => {
        const at = arena();
        const { clock, ann } = at;
        for (let i = 0; i < ours; i++) bid(at, `mm-1-${i}`);
        if (lateAt < earlyMs) clock.after(lateAt, () => bid(at, 'mm-1-late'));
        let [gets, deletes] = [0, 0];
        const client = exchangeClient({
          clock,
          random: randomOf(1),
          transport: wireTo({
            ...{ exchange: at.exchange, clock, random: randomOf(2), latencyMs: [2, slowMs] },
            fate: ({ method }) =>
              (method === 'GET' ? reads[gets++ % reads.length] : cancels[deletes++ % cancels.length])!,
          }),
          credentials: { key: ann.key, secret: new Secret(ann.secret) },
        });
        const seen: { isGood: boolean; ids: readonly string[]; asked: string[] }[] = [];
        const isEarly = (): boolean => clock.elapsed() < earlyMs;
        const until = clock.elapsed() + 60_000;
        const cleared = cancelAllAndVerify(
          {
            exchange: {
              ...client,
              openOrders: async query => {
                const early = isEarly();
                const answer = await client.openOrders(query);
                const isAnswered = answer.kind === 'done';
                // An unanswered read leaves those of the read before, which may still live.
                const ids = isAnswered ? answer.value.map(({ originId }) => originId!) : (seen.at(-1)?.ids ?? []);
                seen.push({ isGood: isAnswered && ids.length === 0 && !early, ids, asked: [] });
                return answer;
              },
              cancel: by => {
                seen.at(-1)!.asked.push(...('originIds' in by ? by.originIds : []));
                return client.cancel(by);
              },
            },
            ...{ clock, connectivity: new ConnectivityLog(memoryLog().log, clock), book: 'btc_mxn', instance: 'mm' },
          },
          () => clock.elapsed() < until,
          isEarly,
        );
        await clock.advance(200_000);
        const left = await cleared;
        for (const { ids, asked } of seen) expect(asked).toEqual(ids);
        const firstProof = seen.findIndex(({ isGood }, i) => isGood && seen[i - 1]?.isGood === true);
        expect(firstProof).toBe(left?.length === 0 ? seen.length - 1 : -1);
        await client.close();
      }),
      {
        ...runsOf(100, 10),
        // Slow reads of nothing, one of which began early and ends late enough.
        examples: [
          ...[3_100, 4_100, 5_300].map(earlyMs => ({ ...CALM, slowMs: 1_900, earlyMs })),
          // More orders than a request takes, the first of which is lost.
          { ...CALM, ours: 60, cancels: ['lost', 'arrives'] as Fate[] },
        ].map(one => [one]),
      },
    );
  });

  test('cancels after every read, and not more often, each order that is known or was shown and is not proven ended', async () => {
    const row = (originId: string): OrderReport => ({ oid: originId, originId, book: 'btc_mxn' }) as OrderReport;
    const others = Array.from({ length: 500 }, (_, i) => row(`other-${i}`));
    const unknown = { kind: 'unknown', reason: 'by the test' } as const;
    const list = fc.record({
      shows: fc.constantFrom('nothing', 'whole list', 'full page'),
      ours: fc.subarray(['mm-1-1', 'mm-1-2', 'mm-1-3']),
      isLookedUp: fc.boolean(),
    });
    const known = fc.subarray(['mm-1-3', 'mm-1-4']);
    await fc.assert(
      fc.asyncProperty(fc.array(list, { minLength: 1, maxLength: 6 }), known, async (lists, known) => {
        const clock = new VirtualClock();
        let mayLive = new Set(known);
        const [wanted, asked]: [string[][], string[][]] = [[], []];
        const round = () => lists[wanted.length - 1]!;
        const exchange = {
          limits: { ordersPage: 500 } as Exchange['limits'],
          openOrders: ({ limit }: { readonly limit?: number } = {}) => {
            // A second request of a round asks for more rows.
            if (limit === 500) {
              const { shows, ours, isLookedUp } = lists[wanted.length]!;
              const areShown = shows !== 'nothing';
              const areProven = shows === 'whole list' || (areShown && isLookedUp && mayLive.size > 0);
              mayLive = new Set([...(areProven ? [] : mayLive), ...(areShown ? ours : [])]);
              wanted.push([...mayLive].sort());
              asked.push([]);
              mayLive = new Set([...mayLive, ...known]);
            }
            const { shows, ours } = round();
            if (shows === 'nothing') return Promise.resolve(unknown);
            const value = [...ours.map(row), ...(shows === 'full page' ? others.slice(ours.length) : [])];
            return Promise.resolve({ kind: 'done', value } as const);
          },
          lookUp: () => Promise.resolve(round().isLookedUp ? ({ kind: 'done', value: [] } as const) : unknown),
          cancel: ({ originIds }: { readonly originIds: readonly string[] }) => {
            asked.at(-1)!.push(...originIds);
            return Promise.resolve(unknown);
          },
        };
        const cleared = cancelAllAndVerify(
          {
            ...{ exchange, clock, known },
            ...{ connectivity: new ConnectivityLog(memoryLog().log, clock), book: 'btc_mxn', instance: 'mm' },
          },
          () => wanted.length < lists.length,
        );
        await clock.advance(10_000);
        await cleared;
        expect(asked.map(ids => ids.sort())).toEqual(wanted);
      }),
      {
        ...runsOf(300, 30),
        examples: [
          [[{ shows: 'nothing', ours: [], isLookedUp: false }], ['mm-1-3']],
          [
            [
              { shows: 'whole list', ours: ['mm-1-1'], isLookedUp: false },
              { shows: 'nothing', ours: [], isLookedUp: false },
            ],
            [],
          ],
          // The look-up of a known order fails beside a page that shows another.
          [[{ shows: 'full page', ours: ['mm-1-1'], isLookedUp: false }], ['mm-1-3']],
          [
            [
              { shows: 'full page', ours: ['mm-1-1'], isLookedUp: false },
              { shows: 'full page', ours: ['mm-1-2'], isLookedUp: false },
            ],
            [],
          ],
        ],
      },
    );
  });

  test('takes out as many orders as there are, fifty in a request', async () => {
    const { clock, exchange, ann } = arena();
    const oids = Array.from({ length: 120 }, (_, i) =>
      ann.limit('btc_mxn', 'buy', '1000000', '0.001', { origin_id: `mm-1-${i}` }),
    );
    const client = exchangeClient({
      clock,
      random: randomOf(1),
      transport: wireTo({ exchange, clock, random: randomOf(2) }),
      credentials: { key: ann.key, secret: new Secret(ann.secret) },
    });
    const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
    const canceling = cancelAll(
      { exchange: client, connectivity: new ConnectivityLog(silent, clock) },
      oids.map((_, i) => `mm-1-${i}`),
    );
    await clock.advance(10_000);
    await canceling;
    expect(oids.filter(oid => ann.order(oid)?.['status'] !== 'cancelled')).toEqual([]);
    await client.close();
  });
});
