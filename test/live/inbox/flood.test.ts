/** Whoever knows the path may flood it: what they fill, how fast, and which connections they hold has a bound, and keeps no real delivery out. */
import fs, { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import Database from 'libsql';
import { afterEach, describe, expect, test } from 'vitest';
import { senderOf } from '../../../src/guard/index.ts';
import { inboxReader } from '../../../src/wiring/inboxReader.ts';
import { delivery } from '../../../src/exchange/index.ts';
import { DeliveryQueue, RESERVE_BYTES } from '../../../src/live/inbox/deliveryQueue.ts';
import { KNOWN_SENDERS, Rates, ROW_BYTES, UNKNOWN_SENDERS } from '../../../src/live/inbox/rates.ts';
import { inboxStoreIn, openInboxStore } from '../../../src/live/inbox/store.ts';
import { heartbeatIn, readHeartbeat } from '../../../src/live/safety/heartbeat.ts';
import { VirtualClock } from '../../../src/core/index.ts';
import { runsOf } from '../../many.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});
const folder = (): string => {
  const dir = mkdtempSync(join(tmpdir(), 'puntas-flooded-'));
  ends.push(() => rmSync(dir, { recursive: true }));
  return dir;
};
const bodyOf = (n: number, bytes: number): Buffer => Buffer.from(`${n} `.padEnd(bytes, 'x'));

describe('what is kept of deliveries', () => {
  test('stays below its bytes, on disk too, whatever is poured in; the flood drops what it brought, not what others did', () => {
    const dir = folder();
    const keep = { rows: 100_000, bytes: 4_000_000 };
    const store = openInboxStore(dir, keep);
    ends.push(() => store.close());
    const real = Array.from({ length: 200 }, (_, n) => Buffer.from(`real ${n}`));
    const put = (from: string, bodies: readonly Buffer[]) => store.put(bodies.map(body => ({ at: 1, from, body })));
    for (let round = 0; round < 40; round++) {
      put('203.0.113.9', real.slice(round * 5, round * 5 + 5));
      put(
        '198.51.100.7',
        Array.from({ length: 50 }, (_, i) => bodyOf(round * 50 + i, 16_000)),
      );
      expect(store.bytes()).toBeLessThanOrEqual(keep.bytes);
    }
    const kept = new Set([...store.all()].map(({ body }) => body.toString('utf8')));
    expect(real.filter(body => !kept.has(body.toString('utf8')))).toEqual([]);
    expect(kept.has(bodyOf(39 * 50 + 49, 16_000).toString('utf8'))).toBe(true);
    const sizes = ['inbox.db', 'inbox.db-wal'].map(name => statSync(join(dir, name)).size);
    expect(sizes[0]! + sizes[1]!).toBeLessThan(3 * keep.bytes);
  });

  test('of any senders is within its limits and counted as it lies on disk, also after a start: no more is deleted than must be, of who has most, the oldest first', () => {
    // One IPv4 address in two spellings, and one IPv6 network in three.
    const addresses = [
      '192.0.2.1',
      '::ffff:192.0.2.1',
      '2001:db8::1',
      '2001:db8:0:0:9::9',
      '2001:db8:0::2',
      '2001:db8:0:7::1',
    ];
    const batches = fc.array(
      fc.record({
        isRestart: fc.constantFrom(true, ...Array<boolean>(9).fill(false)),
        batch: fc.array(
          fc.record({
            from: fc.constantFrom(...addresses),
            n: fc.nat({ max: 400 }),
            bytes: fc.constantFrom(10, 200, 2_000, 9_000),
          }),
          { minLength: 1, maxLength: 8 },
        ),
      }),
      { minLength: 10, maxLength: 60, size: 'max' },
    );
    const limits = fc.constantFrom(
      { rows: 40, bytes: 1e9 },
      { rows: 1e6, bytes: 150_000 },
      { rows: 60, bytes: 200_000 },
    );
    let deletions = 0;
    fc.assert(
      // Deletions in pages of few rows, too.
      fc.property(batches, limits, fc.constantFrom(1, 3, 20, 1_000), (all, keep, pageRows) => {
        const db = new Database(':memory:');
        let store = inboxStoreIn(db, keep, pageRows);
        type Row = { readonly n: number; readonly sender: string; readonly size: number };
        const rows = (): readonly Row[] =>
          [...store.all()].map(({ n, from, body }) => ({ n, sender: senderOf(from), size: body.length + ROW_BYTES }));
        const sum = (of: readonly Row[]): number => of.reduce((total, { size }) => total + size, 0);
        let before: readonly Row[] = [];
        for (const { isRestart, batch } of all) {
          if (isRestart) store = inboxStoreIn(db, keep, pageRows);
          const fresh = store.put(batch.map(({ from, n, bytes }) => ({ at: 1, from, body: bodyOf(n, bytes) })));
          const after = rows();
          expect([store.count(), store.bytes()]).toEqual([after.length, sum(after)]);
          expect([after.length <= keep.rows, sum(after) <= keep.bytes]).toEqual([true, true]);
          const come = batch.filter((_, i) => fresh[i]);
          const newest = after.slice(after.length - come.length);
          expect(newest.map(({ sender }) => sender)).toEqual(come.map(({ from }) => senderOf(from)));

          const left = new Set(after.map(({ n }) => n));
          const gone = before.filter(({ n }) => !left.has(n));
          const kept = before.filter(({ n }) => left.has(n));
          const senders = [...new Set(before.map(({ sender }) => sender))].map(sender => ({
            share: sum(before.filter(row => row.sender === sender)),
            // Oldest first: true for each that was deleted.
            deleted: before.filter(row => row.sender === sender).map(({ n }) => !left.has(n)),
          }));
          before = after;
          if (gone.length === 0) continue;
          deletions++;
          const least = Math.min(...senders.filter(({ deleted }) => deleted[0]).map(({ share }) => share));
          for (const { share, deleted } of senders) {
            expect(deleted.lastIndexOf(true)).toBe(
              deleted.indexOf(false) < 0 ? deleted.length - 1 : deleted.indexOf(false) - 1,
            );
            if (!deleted[0]) expect(share).toBeLessThanOrEqual(least);
          }
          // With one delivery more of those that were deleted, the store would have been above 31/32 of its limits.
          const coming = batch.reduce((total, { n, bytes }) => total + bodyOf(n, bytes).length + ROW_BYTES, 0);
          const most = Math.max(...gone.map(({ size }) => size));
          expect(
            kept.length + 1 > ((keep.rows - batch.length) * 31) / 32 ||
              sum(kept) + most > ((keep.bytes - coming) * 31) / 32,
          ).toBe(true);
        }
        db.close();
      }),
      // Shrinking takes minutes.
      { ...runsOf(150, 15), endOnFailure: true },
    );
    expect(deletions).toBeGreaterThan(15);
  });

  test('is counted anew at a start, which reads a few of the newest and not all', () => {
    const dir = folder();
    const keep = { rows: 100_000, bytes: 64_000_000 };
    const first = openInboxStore(dir, keep);
    for (let n = 0; n < 500; n++) first.put([{ at: n, from: '203.0.113.9', body: bodyOf(n, 1_000) }]);
    const bytes = first.bytes();
    first.close();
    const second = openInboxStore(dir, keep);
    ends.push(() => second.close());
    expect([second.count(), second.bytes()]).toEqual([500, bytes]);
    expect(second.newest({ rows: 10, bytes: 1e9 }).map(({ at }) => at)).toEqual([
      490, 491, 492, 493, 494, 495, 496, 497, 498, 499,
    ]);
    expect(second.newest({ rows: 500, bytes: 4 * (1_000 + ROW_BYTES) })).toHaveLength(4);
    expect(second.newest({ rows: 500, bytes: 0 })).toEqual([]);
  });
});

describe('what may be delivered', () => {
  const floods = fc.array(
    fc.record({
      after: fc.integer({ min: 0, max: 2_000 }),
      sender: fc.integer({ min: 0, max: 50 }),
      bytes: fc.integer({ min: 0, max: UNKNOWN_SENDERS.bodyMax }),
    }),
    { maxLength: 400 },
  );

  test('is never more than the burst and the rate of a sender, nor of all, whatever comes when', () => {
    fc.assert(
      fc.property(floods, deliveries => {
        let now = 0;
        const rates = new Rates(UNKNOWN_SENDERS, () => now);
        const taken = new Map<number, number>();
        for (const { after, sender, bytes } of deliveries) {
          now += after;
          if (rates.take(`203.0.113.${sender}`, bytes)) taken.set(sender, (taken.get(sender) ?? 0) + bytes + ROW_BYTES);
        }
        const most = ({ burst, perSecond }: typeof UNKNOWN_SENDERS.all) => burst + (now / 1_000) * perSecond + 1;
        for (const bytes of taken.values()) expect(bytes).toBeLessThanOrEqual(most(UNKNOWN_SENDERS.address));
        const all = [...taken.values()].reduce((sum, bytes) => sum + bytes, 0);
        expect(all).toBeLessThanOrEqual(most(UNKNOWN_SENDERS.all));
      }),
    );
  });

  test('by one address leaves the others theirs: 30 MB a second for a minute fill 12 MB, and a real sender gets all of its own in', () => {
    let now = 0;
    const rates = new Rates(UNKNOWN_SENDERS, () => now);
    let flooded = 0;
    const refused: number[] = [];
    for (; now < 60_000; now += 1) {
      if (rates.take('198.51.100.7', 16_000)) flooded += 16_000;
      if (rates.take('198.51.100.7', 14_000)) flooded += 14_000;
      if (now % 500 === 0 && !rates.take('52.15.91.227', 2_000)) refused.push(now);
    }
    expect(refused).toEqual([]);
    expect(flooded).toBeLessThan(12_500_000);
  });

  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:0:7::1', '2001:db8:0:7::/64'],
    ['2001:db8::7:1:2:3:4', '2001:db8:0:7::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
  ])('is one budget for %s as for everybody at %s', (address, sender) => expect(senderOf(address)).toBe(sender));

  test('grows no memory with made-up addresses, and leaves who signs far more than who does not', () => {
    let now = 0;
    const rates = new Rates(KNOWN_SENDERS, () => now++);
    for (let n = 0; n < 20_000; n++) rates.take(`2001:db8:${(n >> 8).toString(16)}:${(n & 255).toString(16)}::1`, 10);
    expect(KNOWN_SENDERS.address.perSecond / UNKNOWN_SENDERS.address.perSecond).toBeGreaterThan(10);
  });
});

describe('the room of the journal', () => {
  test('is kept: below the reserve nothing is stored, that is told at once and once a minute, and it ends by itself', async () => {
    let [now, free, puts] = [0, RESERVE_BYTES, 0];
    const told: string[] = [];
    const counts = { stored: 0, repeated: 0, waiting: 0, noRoom: 0, failed: 0 };
    const store = { put: (batch: readonly unknown[]) => (puts++, batch.map(() => true)) };
    const room = { room: () => free, elapsed: () => now };
    const news = { onStored: () => undefined, onProblem: (sentence: string) => void told.push(sentence) };
    const desk = new DeliveryQueue({ store, ...room, ...news, soon: call => call() }, counts);
    const take = () => desk.take({ at: now, from: 'x', body: Buffer.from('1') });
    expect(await take()).toBe(true);
    free = RESERVE_BYTES - 1;
    for (; now < 150_000; now += 100) expect(await take()).toBe(false);
    expect([puts, counts.noRoom]).toEqual([1, 1_500]);
    expect(told).toHaveLength(3);
    expect(told[0]).toMatch(
      /only 255 MB are free on the disk of the state directory and 256 MB are reserved for the journal; free up disk space/,
    );
    expect(told[1]).toMatch(/599 repeats since the last line were not logged/);
    expect(desk.problem()).toBe(told[0]);
    free = RESERVE_BYTES;
    expect(desk.problem()).toBeNull();
    expect(told.at(-1)).toBe('webhook deliveries are stored again');
    expect(await take()).toBe(true);
  });
});

describe('a transaction that was told of', () => {
  const told = (status: string, at: string, more = {}) =>
    Buffer.from(
      JSON.stringify({
        event: 'TRANSACTION',
        payload: {
          id: 't1',
          type: 'CRYPTO_DEPOSIT',
          status,
          created_at: '2026-01-01T00:00:00Z',
          updated_at: at,
          crypto_deposit: { network: 'BITCOIN', amount: '1', asset: 'BTC', ...more },
        },
      }),
    );

  test('is news again only when it has come further: a replay, or a late word of an earlier stage, makes nobody look', () => {
    const read = inboxReader(delivery);
    expect(read(told('PENDING', '2026-01-01T00:00:01Z'))).toMatchObject({ status: 'PENDING' });
    expect(read(told('PENDING', '2026-01-01T00:00:01Z'))).toBeNull();
    expect(read(told('COMPLETE', '2026-01-01T00:00:03Z'))).toMatchObject({ status: 'COMPLETE' });
    expect(read(told('IN_PROGRESS', '2026-01-01T00:00:02Z'))).toBeNull();
    expect(read(told('COMPLETE', '2026-01-01T00:00:04Z', { crypto_tx_hash: '0x1' }))).toBeNull();
    expect(read(told('FAILED', '2026-01-01T00:00:05Z'))).toMatchObject({ contradictions: [expect.any(String)] });
  });

  test('is not read at all when its text says something twice', () => {
    const text = told('COMPLETE', '2026-01-01T00:00:01Z').toString('utf8');
    expect(inboxReader(delivery)(Buffer.from(text.replace('{"event"', '{"payload":{},"event"')))).toEqual({
      kind: 'unreadable',
      why: 'the key "payload" occurs twice in one object',
    });
    expect(inboxReader(delivery)(Buffer.from(text.replace('"asset"', '"\\u0061mount":"9","asset"')))).toMatchObject({
      kind: 'unreadable',
      why: 'the key "amount" occurs twice in one object',
    });
  });
});

describe('a heartbeat', () => {
  test('that the disk does not take leaves the last whole one and nothing half beside it, and the next is taken', () => {
    const dir = folder();
    const heart = heartbeatIn(dir, 'bot', new VirtualClock());
    heart.beat('alive');
    const before = readFileSync(join(dir, 'heartbeat.json'), 'utf8');
    // A disk without room: it takes a half, and then no more.
    const { writeSync } = fs;
    let taken = 0;
    fs.writeSync = (fd: number, data: unknown) => {
      if (taken++ > 0) throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
      return writeSync(fd, (data as Uint8Array).subarray(0, 9));
    };
    syncBuiltinESMExports();
    heart.beat('alive');
    fs.writeSync = writeSync;
    syncBuiltinESMExports();
    expect(taken).toBe(2);
    expect(readdirSync(dir)).toEqual(['heartbeat.json']);
    expect(readFileSync(join(dir, 'heartbeat.json'), 'utf8')).toBe(before);
    heart.beat('alive');
    expect(readHeartbeat(dir, 'bot')!.counter).toBeGreaterThan((JSON.parse(before) as { counter: number }).counter);
  });
});

test('a delivery is charged with its row to its own sender and to all, and one that is turned away to neither', () => {
  const limits = { address: { burst: 4_000, perSecond: 500 }, all: { burst: 9_000, perSecond: 900 } };
  const step = fc.record({
    passed: fc.constantFrom(0, 0, 100, 3_000),
    address: fc.constantFrom('192.0.2.1', '192.0.2.2', '192.0.2.3'),
    bytes: fc.integer({ min: 0, max: 3_000 }),
  });
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 40 }), steps => {
      let now = 0;
      const rates = new Rates(limits, () => now);
      const left = new Map<string, number>();
      let all = limits.all.burst;
      for (const { passed, address, bytes } of steps) {
        now += passed;
        for (const [sender, level] of left) left.set(sender, Math.min(4_000, level + (passed * 500) / 1_000));
        all = Math.min(9_000, all + (passed * 900) / 1_000);
        const own = left.get(address) ?? 4_000;
        const cost = bytes + ROW_BYTES;
        const isTaken = own >= cost && all >= cost;
        expect(rates.take(address, bytes)).toBe(isTaken);
        left.set(address, own - (isTaken ? cost : 0));
        all -= isTaken ? cost : 0;
      }
    }),
    runsOf(1_000, 200),
  );
});
