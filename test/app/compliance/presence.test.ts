/**
 * Tests of the quote-presence certificate: times equal a count of each millisecond, and its hashes can be recomputed.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { executeAction } from '../../../src/app/actions/executeAction.ts';
import {
  presenceCertificate,
  presenceJson,
  percentOfDay,
  type PresenceCertificate,
} from '../../../src/app/compliance/presence.ts';
import { presencePage, presenceText } from '../../../src/app/compliance/presenceText.ts';
import {
  depthPrice,
  isWithinSpread,
  missingQuote,
  NOT_RUNNING,
  PresenceTime,
  type PresenceDay,
  type QuotePresence,
} from '../../../src/app/compliance/quotePresence.ts';
import { replayRuns } from '../../../src/app/compliance/recordedRuns.ts';
import {
  DAY_MS,
  amount,
  isInBook,
  price,
  VirtualClock,
  type Millis,
  type Order,
  type Side,
} from '../../../src/core/index.ts';
import { GAP, lineOf, type RecordedEvent } from '../../../src/live/recording/recording.ts';
import { readRecording, recordedRunOf, recorderIn, recordingsIn } from '../../../src/live/recording/recordings.ts';
import { firstRules, replayRun } from '../../../src/live/replay/replay.ts';
import { engineOf } from '../../../src/wiring/bot.ts';
import { recordedConfig } from '../../../src/config.ts';
import { keysOf } from '../../cli/jsonPage.ts';
import { Folders } from '../../live/states.ts';
import { started, worldOf } from '../../live/world.ts';
import { between } from '../../draws.ts';

const folders = new Folders();
afterAll(() => folders.clear());
const SECOND = 1_000;
const MIDNIGHT = Date.UTC(2026, 10, 22);
/** Start of the histories, 150 ms before midnight, so that short histories have two days. */
const START = MIDNIGHT - 150;

const presence = fc.constantFrom<QuotePresence>(
  { bid: true, ask: true, absence: null, isStop: false },
  { bid: true, ask: true, absence: 'spread above the maximum', isStop: false },
  { bid: true, ask: false, absence: 'no ask', isStop: false },
  { bid: false, ask: true, absence: 'no bid', isStop: false },
  { bid: false, ask: false, absence: 'halted: a loss', isStop: true },
  NOT_RUNNING,
);
const history = fc.array(fc.record({ after: between(-20, 90), next: presence }), {
  minLength: 1,
  maxLength: 12,
});

/** Counts the milliseconds of each presence one by one, as a slow model of `PresenceTime`. Keys start with the day. */
function countedByMs(changes: readonly { readonly at: Millis; readonly next: QuotePresence }[]): Map<string, number> {
  const counts = new Map<string, number>();
  const add = (key: string) => counts.set(key, (counts.get(key) ?? 0) + 1);
  let last = Math.floor(changes[0]!.at);
  for (const [i, { next }] of changes.entries()) {
    const end = changes[i + 1] === undefined ? last : Math.floor(changes[i + 1]!.at);
    for (; last < end; last++) {
      const day = new Date(last).toISOString().slice(0, 10);
      if (next.bid) add(`${day} bid`);
      if (next.ask) add(`${day} ask`);
      add(`${day} ${next.absence ?? 'both'}`);
      if (next.absence !== 'not running') add(`${day} recorded`);
    }
  }
  return counts;
}

describe('the time with quotes', () => {
  test('is for any history what counting each millisecond gives, and each day is whole', () => {
    fc.assert(
      fc.property(history, steps => {
        let now = START;
        const changes = steps.map(({ after, next }) => ({ at: (now += after), next }));
        const time = new PresenceTime();
        for (const { at, next } of changes) time.change(at, next);
        const counts = countedByMs(changes);
        const seen = new Map<string, number>();
        for (const { from, bidMs, askMs, bothMs, recordedMs, absences } of time.days) {
          const day = new Date(from).toISOString().slice(0, 10);
          const rows: [string, number][] = [
            ...[['bid', bidMs] as const, ['ask', askMs] as const, ['both', bothMs] as const],
            ...[['recorded', recordedMs] as const],
            ...absences.map(({ reason, ms }) => [reason, ms] as const),
          ].map(([name, ms]) => [`${day} ${name}`, ms]);
          for (const [key, ms] of rows) if (ms > 0 && !key.endsWith('no recording')) seen.set(key, ms);
          expect(absences.reduce((sum, { ms }) => sum + ms, bothMs)).toBe(DAY_MS);
          expect(absences).toEqual(absences.toSorted((a, b) => b.ms - a.ms));
        }
        expect(seen).toEqual(counts);
        const stopped = time.stops.reduce((sum, { from, to }) => sum + to - from, 0);
        const absent = [...counts].filter(([key]) => /halted|not running/.test(key));
        expect(stopped).toBe(absent.reduce((sum, [, ms]) => sum + ms, 0));
        for (const [i, before] of time.stops.slice(0, -1).entries()) {
          const { from, reason } = time.stops[i + 1]!;
          expect(from > before.to || reason !== before.reason).toBe(true);
        }
      }),
    );
  });

  test('has as percent of a day only a full day as 100, and nothing more than it is', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: DAY_MS }), fc.integer({ min: 0, max: 6 }), (ms, decimals) => {
        const [whole = '', fraction = ''] = percentOfDay(ms, decimals === 0 ? 1 : decimals).split('.');
        const parts = BigInt(whole + fraction);
        const unit = 10n ** BigInt(fraction.length + 2);
        expect(parts * BigInt(DAY_MS) <= BigInt(ms) * unit).toBe(true);
        expect((parts + 1n) * BigInt(DAY_MS) > BigInt(ms) * unit).toBe(true);
      }),
    );
  });
});

const order = fc
  .record({
    side: fc.constantFrom<Side>('buy', 'sell'),
    at: fc.integer({ min: 1, max: 9 }),
    lots: fc.integer({ min: 1, max: 5 }),
    filled: fc.integer({ min: 0, max: 5 }),
  })
  .map(({ side, at, lots, filled }) => ({
    ...{
      id: 'a-1-1',
      side,
      price: price(at),
      amount: amount(lots),
      placedAt: 0,
      filled: amount(Math.min(filled, lots)),
    },
    ...{ state: 'open' as const, ending: null, oid: null, finalFilled: null },
  }));

describe('the terms', () => {
  test('are met by the best prices that together have the minimum amount, one lot at a time', () => {
    fc.assert(
      fc.property(
        fc.array(order, { maxLength: 6 }),
        fc.constantFrom<Side>('buy', 'sell'),
        fc.integer({ min: 1, max: 12 }),
        (orders, side, lots) => {
          const each = (orders as readonly Order[])
            .filter(one => one.side === side)
            .flatMap(one => Array.from({ length: one.amount - one.filled }, () => one.price as number))
            .sort((a, b) => (side === 'buy' ? b - a : a - b));
          expect(depthPrice(orders as readonly Order[], side, lots)).toBe(each[lots - 1] ?? null);
        },
      ),
    );
  });

  test('of a spread are exact to the last digit of the basis points', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 50 }), fc.integer({ min: 1, max: 2 ** 40 }), (bid, spread) => {
        // The exact spread, rounded down and up to 10^-18 bps.
        const [part, whole] = [2n * BigInt(spread) * 10n ** 22n, BigInt(2 * bid + spread)];
        const text = (atto: bigint) => `${atto / 10n ** 18n}.${String(atto % 10n ** 18n).padStart(18, '0')}`;
        const [low, high] = [part / whole, (part + whole - 1n) / whole];
        expect(isWithinSpread(price(bid), price(bid + spread), text(high))).toBe(true);
        expect(isWithinSpread(price(bid), price(bid + spread), text(low))).toBe(low === high);
        expect(isWithinSpread(price(bid), price(bid + spread), null)).toBe(true);
      }),
    );
  });
});

test('a missing quote is named by its side, and apart from one that is too small', () => {
  const [buy, sell] = [{ side: 'buy' as const }, { side: 'sell' as const }];
  for (const [orders, bid, ask, reason] of [
    [[], false, false, 'no quote'],
    [[buy], false, false, 'quote below the minimum size'],
    [[buy], true, false, 'no ask'],
    [[buy, sell], true, false, 'ask below the minimum size'],
    [[sell], false, true, 'no bid'],
    [[buy, sell], false, true, 'bid below the minimum size'],
  ] as const)
    expect(missingQuote(orders, { bid, ask })).toBe(reason);
});

describe('the certificate of a recorded bot', () => {
  let dir: string;
  /** Certificate that was computed while the bot was running. */
  let early: PresenceCertificate;
  const asked = (changes: Partial<Parameters<typeof presenceCertificate>[0]> = {}) =>
    presenceCertificate({ dir, terms: { spreadMaxBps: '500', sizeMin: '0.0001' }, version: 'test', ...changes });

  beforeAll(async () => {
    // The first run ends before midnight, and the second run starts after midnight.
    const world = worldOf(87, {}, 'sandbox', new VirtualClock(MIDNIGHT - 100 * SECOND));
    const act = (of: { readonly action: 'pause' | 'resume' | 'reduce' | 'halt' }) =>
      executeAction(
        { stateDir: world.stateDir },
        { id: `t-${of.action}`, reason: 'a look at the feed', by: 'ann', via: 'command', ...of },
        world.clock,
      );
    const first = await started(world);
    await world.clock.advance(20 * SECOND);
    early = asked({ dir: world.stateDir });
    await act({ action: 'pause' });
    await world.clock.advance(10 * SECOND);
    await act({ action: 'resume' });
    await world.clock.advance(20 * SECOND);
    await first.stop();
    await world.clock.advance(60 * SECOND);
    const second = await started(world);
    await world.clock.advance(20 * SECOND);
    await act({ action: 'reduce' });
    await world.clock.advance(10 * SECOND);
    await act({ action: 'halt' });
    await world.clock.advance(10 * SECOND);
    await second.stop();
    dir = folders.copyOf(world.stateDir);
    world.end();
  });

  const reasonsOf = (day: PresenceDay | undefined) => new Map(day!.absences.map(({ reason, ms }) => [reason, ms]));

  test('has pause, reduce-only, halt and the time between the runs with their reasons, and adds up to each day', () => {
    const { days, stops, book, instance } = asked();
    expect([days.length, book, instance]).toEqual([2, 'btc_mxn', 'demo']);
    for (const { bidMs, askMs, bothMs, absences } of days) {
      expect(bothMs).toBeGreaterThan(10 * SECOND);
      expect(Math.min(bidMs, askMs)).toBeGreaterThanOrEqual(bothMs);
      expect(absences.reduce((sum, { ms }) => sum + ms, bothMs)).toBe(DAY_MS);
    }
    const [first, second] = days.map(reasonsOf);
    expect(first!.get('paused: a look at the feed')).toBeGreaterThan(5 * SECOND);
    expect(second!.get('reduce only: a look at the feed')).toBeGreaterThan(5 * SECOND);
    expect(second!.get('halted: a look at the feed')).toBeGreaterThan(5 * SECOND);
    const lengthOf = (of: string) =>
      stops.reduce((sum, { from, to, reason }) => (reason === of ? sum + to - from : sum), 0);
    expect(lengthOf('paused: a look at the feed')).toBe(first!.get('paused: a look at the feed'));
    expect(lengthOf('not running')).toBe(first!.get('not running')! + second!.get('not running')!);
    expect(lengthOf('reduce only: a look at the feed')).toBe(0);
  });

  test('of one day is that day of all days, with the stops that are in it', () => {
    const all = asked();
    for (const [i, day] of all.days.entries()) {
      const one = asked({ from: day.from, to: day.from });
      expect(one.days).toEqual([day]);
      const [start, end] = [day.from, day.from + DAY_MS];
      const inDay = all.stops
        .filter(({ from, to }) => from < end && to > start)
        .map(({ from, to, reason }) => ({ reason, from: Math.max(from, start), to: Math.min(to, end) }));
      expect(one.stops).toEqual(inDay);
      expect(one.stops.some(({ from, to }) => from === MIDNIGHT || to === MIDNIGHT)).toBe(true);
      // Each day needs the recording of the first run, which shows when the bot stopped before midnight.
      expect(one.recordings).toEqual(i === 0 ? all.recordings.slice(0, 1) : all.recordings);
    }
  });

  test('replays no run that a later one had replaced before the first day', () => {
    const [one, two] = recordingsIn(dir).map(({ run }) => run);
    const { startedAt } = recordedRunOf(dir, two!)!;
    const runsFrom = (from: Millis) =>
      replayRuns(dir, { from, to: Infinity }, () => ({ see: () => undefined, end: () => undefined })).recordings.map(
        ({ run }) => run,
      );
    expect([runsFrom(startedAt - 1), runsFrom(startedAt)]).toEqual([[one, two], [two]]);
  });

  /** Copies the run `from` as the run `to`, with other lines or another configuration. */
  function rewritten(into: string, from: number, to: number, lines: readonly string[], setup?: string): void {
    const of = recordedRunOf(dir, from)!;
    const recorder = recorderIn(into, { ...of, run: to, setup: setup ?? of.setup });
    recorder.write(lines);
    recorder.close();
  }

  test('says from when on the disk was full, and refuses runs of two books', () => {
    const [one, two] = recordingsIn(dir).map(({ run }) => run);
    const lines = [...readRecording(dir, one!)!.lines];
    const full = folders.fresh();
    const kept = lines.findIndex((line, i) => i > lines.length / 2 && line.startsWith('i'));
    rewritten(full, one!, one!, [...lines.slice(0, kept), GAP, ...lines.slice(kept)]);
    rewritten(full, two!, two!, [...readRecording(dir, two!)!.lines]);
    const { recordings, days, stops } = asked({ dir: full });
    expect(recordings.map(({ gap, difference }) => [gap, difference])).toEqual([
      [true, null],
      [false, null],
    ]);
    expect(stops.map(({ reason }) => reason)).toContain('not recorded: the disk was full');
    expect(days[0]!.recordedMs).toBeLessThan(asked().days[0]!.recordedMs);
    const other = folders.fresh();
    const { setup } = recordedRunOf(dir, one!)!;
    rewritten(other, one!, one!, lines);
    rewritten(other, two!, two!, lines, setup.replaceAll('btc_mxn', 'eth_mxn'));
    expect(() => asked({ dir: other })).toThrow(
      /: the requested days have runs of btc_mxn and of eth_mxn; choose one with --book, or select days with --from/,
    );
  });

  test('counts the time of quotes as the inputs of the recording do, by any terms', () => {
    for (const terms of [
      { spreadMaxBps: null, sizeMin: null },
      { spreadMaxBps: '1', sizeMin: null },
      { spreadMaxBps: null, sizeMin: '1000' },
    ]) {
      const day = sumOf(asked({ terms }).days);
      const { reasons } = day;
      const naive = naiveTimes();
      expect(day.bidMs).toBe(terms.sizeMin === null ? naive.bid : 0);
      expect(day.askMs).toBe(terms.sizeMin === null ? naive.ask : 0);
      if (terms.spreadMaxBps !== null) expect(reasons.get('spread above the maximum')).toBe(naive.both);
      else if (terms.sizeMin === null) expect(day.bothMs).toBe(naive.both);
      else expect(reasons.get('quote below the minimum size')).toBeGreaterThan(40 * SECOND);
      const times = recordingsIn(dir).map(({ run }) => inputsOf(run).map(({ at }) => Math.floor(at)));
      const recorded = times.reduce((sum, run) => sum + Math.max(...run) - run[0]!, 0);
      expect(day.recordedMs).toBe(recorded);
      if (terms.spreadMaxBps !== null) expect(day.bothMs).toBe(0);
      if (terms.sizeMin !== null) expect([day.bidMs, day.askMs, day.bothMs]).toEqual([0, 0, 0]);
      if (terms.sizeMin === null) expect(day.bidMs).toBeGreaterThan(40 * SECOND);
    }
  });

  /** Returns the times of all days together, in ms. */
  function sumOf(days: readonly PresenceDay[]) {
    const of = (field: 'bidMs' | 'askMs' | 'bothMs' | 'recordedMs') => days.reduce((sum, day) => sum + day[field], 0);
    const reasons = new Map<string, number>();
    for (const { reason, ms } of days.flatMap(({ absences }) => absences))
      reasons.set(reason, (reasons.get(reason) ?? 0) + ms);
    return { bidMs: of('bidMs'), askMs: of('askMs'), bothMs: of('bothMs'), recordedMs: of('recordedMs'), reasons };
  }

  /**
   * Sums the times with quotes, in ms, from the replayed engine's orders in the book between each input and the next.
   */
  function naiveTimes(): { readonly bid: number; readonly ask: number; readonly both: number } {
    const sums = { bid: 0, ask: 0, both: 0 };
    for (const { run } of recordingsIn(dir)) {
      const engine = engineOf(recordedConfig(recordedRunOf(dir, run)!.setup), firstRules(dir, run)!, run);
      let [last, bid, ask] = [Infinity, false, false];
      replayRun(dir, run, engine, {
        onInput: ({ at }) => {
          const passed = Math.max(0, Math.floor(at) - last);
          if (bid) sums.bid += passed;
          if (ask) sums.ask += passed;
          if (bid && ask) sums.both += passed;
          last = last === Infinity ? Math.floor(at) : Math.max(last, Math.floor(at));
          const sides = engine.book.liveOrders.filter(isInBook).map(order => order.side);
          [bid, ask] = [sides.includes('buy'), sides.includes('sell')];
        },
      });
    }
    return sums;
  }

  const inputsOf = (run: number): readonly RecordedEvent[] =>
    [...readRecording(dir, run)!.lines].map(lineOf).flatMap(line => (line.kind === 'input' ? [line.event] : []));

  test('names each file with a hash of the bytes that it read, and one hash over all', () => {
    const [grown] = early.recordings;
    expect(grown!.bytes).toBeLessThan(asked().recordings[0]!.bytes);
    const first = readFileSync(join(dir, grown!.file)).subarray(0, grown!.bytes);
    expect(createHash('sha256').update(first).digest('hex')).toBe(grown!.sha256);
    const { recordings, hash } = asked();
    expect(recordings.map(({ file }) => file)).toEqual(recordingsIn(dir).map(({ run }) => `run-${run}.rec`));
    const lines = recordings.map(({ file, bytes, sha256 }) => {
      const read = readFileSync(join(dir, file)).subarray(0, bytes);
      expect([read.length, createHash('sha256').update(read).digest('hex')]).toEqual([bytes, sha256]);
      return `${file} ${bytes} ${sha256}\n`;
    });
    expect(hash).toBe(createHash('sha256').update(lines.join('')).digest('hex'));
  });

  test('is computed by someone else from a copy to the last character, and differs where one byte does', () => {
    const copy = folders.copyOf(dir);
    expect(JSON.stringify(presenceJson(asked({ dir: copy })))).toBe(JSON.stringify(presenceJson(asked())));
    const path = join(copy, asked().recordings[0]!.file);
    const bytes = readFileSync(path);
    bytes[bytes.length - 1]! ^= 1;
    writeFileSync(path, bytes);
    const changed = asked({ dir: copy });
    expect(changed.hash).not.toBe(asked().hash);
    expect(presenceText(changed).join('\n')).toMatch(
      /^INVALID: this version of Puntas decides differently from the recording: run \d+: /m,
    );
    expect(changed.stops.map(({ reason }) => reason)).toContain(
      'not replayed: this version of Puntas decides differently',
    );
  });

  test('says the same in JSON, text and page, with the keys of the page on JSON', () => {
    const certificate = asked();
    const json = presenceJson(certificate) as { readonly days: readonly object[]; readonly hash: string };
    expect([...Object.keys(json), ...Object.keys(json.days[0]!)]).toEqual(keysOf('presence'));
    const text = presenceText(certificate).join('\n');
    const page = presencePage(certificate, { library: '', libraryStyle: '', script: '' });
    const [day] = certificate.days;
    for (const said of [text, page]) {
      expect(said).toContain(json.hash);
      expect(said).toContain(`${percentOfDay(day!.bothMs, 2)}%`);
      expect(said).toContain('paused: a look at the feed');
      expect(said).toContain('at least 0.0001 btc');
    }
  });

  test('names the exchange of the recorded setup, and PAPER where no quote was on a real one', () => {
    const [one] = recordingsIn(dir).map(({ run }) => run);
    const lines = [...readRecording(dir, one!)!.lines];
    const setup = JSON.parse(recordedRunOf(dir, one!)!.setup) as { exchange: object };
    const real = folders.fresh();
    const exchange = { kind: 'remote', restUrl: 'https://api.example.com' };
    rewritten(real, one!, one!, lines, JSON.stringify({ ...setup, exchange: { ...setup.exchange, ...exchange } }));
    const paper = folders.copyOf(real);
    writeFileSync(join(paper, 'PAPER'), '');
    for (const [of, isPaper, named] of [
      [dir, true, 'Exchange: embedded.'],
      [real, false, 'Exchange: remote, https://api.example.com.'],
      [paper, true, 'Exchange: remote, https://api.example.com.'],
    ] as const) {
      const certificate = asked({ dir: of });
      expect(presenceJson(certificate)).toMatchObject({ isPaper });
      for (const said of [
        presenceText(certificate).join('\n'),
        presencePage(certificate, { library: '', libraryStyle: '', script: '' }),
      ])
        expect([said.includes(named), said.includes('PAPER')]).toEqual([true, isPaper]);
    }
  });

  test('says what is wrong with days and amounts that it cannot certify, and with a folder without a recording', () => {
    expect(() => asked({ from: Date.UTC(2031, 0, 1) })).toThrow(
      /none of the requested days|no run was recorded in the requested days/,
    );
    expect(() => asked({ terms: { spreadMaxBps: null, sizeMin: '99999999999999' } })).toThrow(
      /^--size-min: expected at most [\d.]+ \w+, found 99999999999999$/,
    );
    const empty = folders.fresh();
    mkdirSync(empty);
    expect(() => asked({ dir: empty })).toThrow(/no run was recorded in the requested days/);
  });
});
