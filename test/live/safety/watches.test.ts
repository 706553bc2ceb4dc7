/** Latches of other processes and the state of the engine, look by look; each part of a guard alone; the words. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  RESUMED_BEYOND_LIMIT,
  VirtualClock,
  type Clock,
  type BookEngine,
  type EngineEvent,
} from '../../../src/core/index.ts';
import { blockedReason } from '../../../src/live/safety/blockedReason.ts';
import { applyPendingHalt, watchHalt } from '../../../src/live/safety/haltWatch.ts';
import type { Halt, Latch, Pause } from '../../../src/live/safety/latch.ts';
import { LatchWatch } from '../../../src/live/safety/latchWatch.ts';
import { pauseAt, pauseText, watchPause } from '../../../src/live/safety/pauseWatch.ts';
import { applyPendingReduce, watchReduce } from '../../../src/live/safety/reduceWatch.ts';
import { SentinelWatch } from '../../../src/live/safety/sentinelWatch.ts';
import { SleepWatch } from '../../../src/live/safety/sleepWatch.ts';
import { Refusals } from '../../../src/live/safety/refusals.ts';
import type { Failed } from '../../../src/live/failedRequest.ts';
import { memoryLog } from '../../memoryLog.ts';
import { ToyExchange, quoteAround } from '../../core/toyExchange.ts';

const AT = 1_767_225_700_000;
const halt = (reason: string): Halt => ({ reason, at: AT, by: 'person' });
const pause = (reason: string, until: number | null): Pause => ({ reason, at: AT, by: 'person', until });

/** The latch, with the other process between its calls. */
const counted = (files: Files, latch: Latch): Latch =>
  Object.fromEntries(
    Object.entries(latch).map(([name, call]) => [
      name,
      (...of: readonly unknown[]) => {
        const result: unknown = (call as (...of: readonly unknown[]) => unknown)(...of);
        const { next } = files;
        if (next !== null && --next.calls < 0) {
          files.next = null;
          next.act();
        }
        return result;
      },
    ]),
  ) as unknown as Latch;

/** A state directory in memory: what `latchIn` keeps in files, and whether its disk takes anything. */
class Files {
  halt: Halt | null = null;
  reduce: Halt | null = null;
  pause: Pause | null = null;
  hold: Halt | null = null;
  /** States that a resume ends, from its first write until the bot takes it. */
  resumed: readonly (Halt | null)[] | null = null;
  takes = true;
  /** Another process that acts after some calls of the latch, between two reads of one look. */
  next: { calls: number; readonly act: () => void } | null = null;
  readonly ended: unknown[] = [];
  readonly latch = counted(this, {
    read: () => this.halt,
    readReduce: () => this.reduce,
    readPause: () => this.pause,
    readHold: () => this.hold,
    setReduce: (reduce: Halt) => void (this.takes && (this.reduce ??= reduce)),
    liftReduce: (reason: string, at: number) => {
      if (!this.takes) return false;
      this.ended.push({ reason, at });
      this.reduce = null;
      return true;
    },
    endPause: (pause: Pause, ended: Halt) => {
      if (!this.takes || this.pause !== pause) return false;
      this.ended.push(ended);
      this.pause = null;
      return true;
    },
    takeLifted: () => {
      if (this.resumed === null || this.isLifting()) return false;
      this.resumed = null;
      return true;
    },
    isLifting: () => this.isLifting(),
  } as unknown as Latch);

  /** First write of a resume, which is refused where nothing is latched; the latch goes after it. */
  beginLift(): void {
    if ((this.halt ?? this.reduce) !== null) this.resumed = [this.halt, this.reduce];
  }

  isLifting(): boolean {
    return (this.resumed ?? []).some(each => each !== null && (each === this.halt || each === this.reduce));
  }

  /** A person resumes. */
  lift(): void {
    this.beginLift();
    this.endLift();
  }

  /** Removes what is latched: reduce-only first, the halt last. */
  endLift(): void {
    [this.halt, this.reduce, this.hold] = [null, null, null];
  }
}

/** Takes the events of one look. */
function heard() {
  const events: EngineEvent[] = [];
  return { events, step: (event: EngineEvent) => void events.push(event) };
}

test('the engine has what is latched after every look, whatever is set, replaced and lifted between two, and says each once', () => {
  const op = fc.oneof(
    fc.record({
      what: fc.constantFrom(
        'halt',
        'reduce',
        'hold',
        'resume',
        'half a resume',
        'losses',
        'no pause',
        'the disk is full',
        'there is room',
      ),
    }),
    fc.record({ what: fc.constant('pause'), forMs: fc.option(fc.integer({ min: 1, max: 900 }), { nil: null }) }),
    fc.record({ what: fc.constant('passes'), forMs: fc.constantFrom(100, 400, 1_000) }),
    // The machine's clock is set, or runs on while the process is suspended.
    fc.record({ what: fc.constant('the wall clock is set'), forMs: fc.constantFrom(-1_000, -300, 300, 1_000) }),
    fc.record({ what: fc.constant('places') }),
    fc.record({ what: fc.constant('resume in the look'), calls: fc.nat({ max: 6 }) }),
  );
  fc.assert(
    fc.property(fc.array(fc.array(op, { maxLength: 4 }), { maxLength: 8 }), turns => {
      const files = new Files();
      const toy = new ToyExchange({ strategy: quoteAround(2) }).open();
      toy.rounds(2);
      const { engine } = toy;
      const { log } = memoryLog();
      const events: EngineEvent[] = [];
      let aheadMs = 0;
      const wall = () => toy.now + aheadMs;
      const run = {
        clock: { now: wall } as Clock,
        log,
        time: () => toy.now,
        step: (event: EngineEvent) => {
          // A resume sets back what was lost, so it is applied only where it ends something.
          if (event.kind === 'resume') expect(engine.book.haltedBecause ?? engine.book.reducingBecause).not.toBeNull();
          events.push(event);
          toy.step(event);
        },
      };
      const watch = new LatchWatch(run, engine, files.latch);
      watch.begin();
      let n = 0;
      for (const turn of turns) {
        let isHalf = false;
        let resumes: Files['next'] = null;
        for (const each of turn) {
          const { what } = each;
          if (what === 'half a resume') {
            files.beginLift();
            isHalf = files.isLifting();
          }
          if (what === 'halt') files.halt ??= halt(`halt ${++n}`);
          if (what === 'reduce') files.reduce ??= halt(`reduce ${++n}`);
          if (what === 'hold') files.hold ??= halt('sentinel: cut off');
          if (what === 'resume') {
            files.lift();
            isHalf = false;
          }
          // The engine reduces by itself, which is latched as soon as the disk takes it.
          if (what === 'losses' && files.takes && engine.book.reducingBecause === null && files.resumed === null) {
            run.step({ kind: 'reduce', at: toy.now, reason: 'losses' });
          }
          if (what === 'no pause') files.pause = null;
          if (what === 'pause' && 'forMs' in each)
            files.pause = pause(`pause ${++n}`, each.forMs === null ? null : wall() + each.forMs);
          if (what === 'passes' && 'forMs' in each) toy.now += Number(each.forMs);
          if (what === 'the wall clock is set' && 'forMs' in each) aheadMs += Number(each.forMs);
          if (what === 'resume in the look' && 'calls' in each)
            resumes = { calls: each.calls, act: () => files.lift() };
          if (what === 'the disk is full') files.takes = false;
          if (what === 'there is room') files.takes = true;
          if (what === 'places') {
            expect(watch.beforePlacing()).toBe(files.halt);
            if (files.halt !== null) expect(engine.book.haltedBecause).not.toBeNull();
          }
        }
        const reduced = engine.book.reducingBecause;
        const isResumed = files.resumed !== null || resumes !== null;
        if (resumes !== null) isHalf = false;
        files.next = resumes;
        const isDue =
          files.resumed !== null &&
          !files.isLifting() &&
          (engine.book.haltedBecause ?? engine.book.reducingBecause) !== null;
        const began = events.length;
        // A halt that follows a resume between two looks is seen by the second; a resume within a look may be, too.
        for (let looks = 0; looks < 4; looks++) watch.look(false);
        expect(files.next).toBeNull();
        // A resume is applied though another state is already set.
        if (isDue) expect(events.slice(began).some(({ kind }) => kind === 'resume')).toBe(true);
        // A state that the engine found by itself lasts until a person resumes.
        if (reduced !== null && !isResumed) expect(engine.book.reducingBecause).toBe(reduced);
        expect(engine.book.haltedBecause === null).toBe(files.halt === null);
        // A state that the engine found by itself is on disk as soon as the disk takes it, unless a resume is ending it.
        if (!isHalf && (files.takes || files.reduce !== null))
          expect(engine.book.reducingBecause === null).toBe(files.reduce === null);
        const holds = files.pause !== null && !(files.pause.until !== null && files.pause.until <= wall());
        expect(engine.book.pausedBecause).toBe(holds ? pauseText(files.pause!) : null);
        // An expired pause is away as soon as the disk takes it.
        if (files.takes) expect(files.pause === null || holds).toBe(true);
        const before = events.length;
        watch.look(false);
        expect(events.slice(before)).toEqual([]);
        // The bot looked between the two writes of a resume, which ends all of it nevertheless.
        if (isHalf && (files.halt ?? files.reduce) !== null) {
          files.reduce = null;
          watch.look(false);
          files.endLift();
          watch.look(false);
          expect([engine.book.haltedBecause, engine.book.reducingBecause]).toEqual([null, null]);
        }
        // No resume is left over for a later state; one that was followed by another state at once goes with that.
        if (files.halt === null && files.reduce === null) expect(files.resumed).toBeNull();
      }
    }),
    {
      numRuns: 40,
      examples: [
        [[[{ what: 'reduce' }], [{ what: 'half a resume' }]]],
        [
          [
            [
              { what: 'the wall clock is set', forMs: -1_000 },
              { what: 'pause', forMs: 500 },
            ],
          ],
        ],
        [[[{ what: 'pause', forMs: 500 }], [{ what: 'the wall clock is set', forMs: 1_000 }]]],
        [[[{ what: 'halt' }], [{ what: 'resume' }, { what: 'halt' }]]],
        [[[{ what: 'halt' }], [{ what: 'resume' }, { what: 'reduce' }, { what: 'half a resume' }]]],
      ],
    },
  );
});

test('the resume of a broken engine waits for the next process', () => {
  const files = new Files();
  const toy = new ToyExchange({ strategy: quoteAround(2) }).open();
  const events: EngineEvent[] = [];
  const step = (event: EngineEvent) => {
    events.push(event);
    toy.step(event);
  };
  const run = { clock: new VirtualClock(), log: memoryLog().log, time: () => toy.now, step };
  const watch = new LatchWatch(run, toy.engine, files.latch);
  toy.step({ kind: 'halt', at: toy.now, reason: 'defect' });
  files.halt = halt('defect');
  files.lift();
  watch.look(true);
  expect([events, files.resumed !== null]).toEqual([[], true]);
  watch.look(false);
  expect([events.map(({ kind }) => kind), files.resumed]).toEqual([['resume'], null]);
});

describe('a halt', () => {
  const of = (haltedBecause: string | null) => ({ haltedBecause }) as Pick<BookEngine, 'haltedBecause'>;

  test('is handed to an engine that has none, and given back to the caller either way', () => {
    const files = new Files();
    const { events, step } = heard();
    expect(applyPendingHalt(of(null), files.latch, AT, step)).toBeNull();
    files.halt = halt('look at it');
    expect(applyPendingHalt(of(null), files.latch, AT, step)).toBe(files.halt);
    expect(applyPendingHalt(of('another'), files.latch, AT, step)).toBe(files.halt);
    expect(events).toEqual([{ kind: 'halt', at: AT, reason: 'look at it' }]);
  });

  test('ends when nothing is latched any more, but not that of a broken engine', () => {
    const files = new Files();
    const { events, step } = heard();
    files.resumed = [];
    watchHalt(of(null), files.latch, AT, false, step);
    watchHalt(of('defect'), files.latch, AT, true, step);
    expect([events, files.resumed]).toEqual([[], []]);
    watchHalt(of('loss'), files.latch, AT, false, step);
    expect([events, files.resumed]).toEqual([[{ kind: 'resume', at: AT }], null]);
  });
});

describe('reduce-only', () => {
  const of = (reducingBecause: string | null, isWithinLimit = false) =>
    ({ reducingBecause, isWithinLimit }) as Pick<BookEngine, 'reducingBecause' | 'isWithinLimit'>;
  const watched = (files: Files, engine: ReturnType<typeof of>) => {
    const { events, step } = heard();
    watchReduce(engine, files.latch, AT, step);
    return events;
  };

  test('of an earlier run is taken up at the start, after a resume from when nobody ran', () => {
    const files = new Files();
    const { events, step } = heard();
    applyPendingReduce(files.latch, AT, step);
    [files.resumed, files.reduce] = [[], halt('losses')];
    applyPendingReduce(files.latch, AT, step);
    expect(events).toEqual([
      { kind: 'resume', at: AT },
      { kind: 'reduce', at: AT, reason: 'losses' },
    ]);
  });

  test('that the engine found by itself is latched, until a person resumes', () => {
    const files = new Files();
    expect(watched(files, of('losses'))).toEqual([]);
    expect(files.reduce).toEqual({ reason: 'losses', at: AT, by: 'bot' });
    files.lift();
    expect(watched(files, of('losses'))).toEqual([{ kind: 'resume', at: AT }]);
    expect(files.reduce).toBeNull();
    expect(watched(files, of(null))).toEqual([]);
  });

  test('after a resume beyond the limit ends by itself within it, once the disk takes that', () => {
    const files = new Files();
    files.reduce = halt(RESUMED_BEYOND_LIMIT);
    expect(watched(files, of(RESUMED_BEYOND_LIMIT))).toEqual([]);
    expect(watched(files, of('losses', true))).toEqual([]);
    files.takes = false;
    expect(watched(files, of(RESUMED_BEYOND_LIMIT, true))).toEqual([]);
    files.takes = true;
    expect(watched(files, of(RESUMED_BEYOND_LIMIT, true))).toEqual([{ kind: 'reduced', at: AT }]);
    expect(files.ended).toEqual([{ reason: 'inventory is within its limit again', at: AT }]);
    // Another reason stays, however small the inventory is.
    files.reduce = halt('losses');
    expect(watched(files, of(RESUMED_BEYOND_LIMIT, true))).toEqual([]);
    expect(watched(files, of(null, true))).toEqual([{ kind: 'reduce', at: AT, reason: 'losses' }]);
  });
});

describe('a pause', () => {
  test('says who, why and until when, ends at its time, and says so once the disk has it', () => {
    const files = new Files();
    const { events, step } = heard();
    const { log, lines } = memoryLog();
    const watched = (before: string | null, at: number) =>
      watchPause({ pausedBecause: before }, files.latch, { clock: { now: () => at }, time: () => at, log }, step);
    const until = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
    files.pause = { ...pause('lunch', until), who: 'ana' };
    const text = 'lunch (until 2026-01-02T03:04:05Z)';
    watched(null, until - 1);
    watched(text, until - 1);
    expect(events).toEqual([{ kind: 'pause', at: until - 1, reason: text }]);
    files.takes = false;
    watched(text, until);
    watched(null, until);
    expect(events.slice(1)).toEqual([{ kind: 'pause over', at: until }]);
    files.takes = true;
    watched(null, until + 5);
    expect(files.ended).toEqual([{ reason: 'the pause expired', at: until + 5, by: 'bot' }]);
    files.pause = pause('no end', null);
    watched(null, until);
    expect(lines.map(({ level, known, text: said }) => [level, known['reason'], said])).toEqual([
      ['warn', text, `paused by ana: ${text}`],
      ['info', undefined, 'the pause expired at 2026-01-02T03:04:05.678Z: lunch'],
      ['warn', 'no end', 'paused by a person: no end'],
    ]);
    expect(pauseAt(files.latch, Number.MAX_SAFE_INTEGER)).toBe(files.pause);
  });
});

describe('an order that was approved', () => {
  const free = { haltedBecause: null, pausedBecause: null };
  const none = { readHold: () => null, readPause: () => null };
  test.each([
    ['the bot is stopping', { isStopping: true, engine: { ...free, haltedBecause: 'x' } }],
    ['trading is halted', { engine: { ...free, haltedBecause: 'x', pausedBecause: 'x' } }],
    ['trading is halted', { latched: halt('x') }],
    ['the operator paused the bot', { engine: { ...free, pausedBecause: 'x' }, latch: { readHold: () => halt('x') } }],
    ['the operator paused the bot', { latch: { readPause: () => pause('x', AT + 1) } }],
    [null, { latch: { readPause: () => pause('x', AT) } }],
    ["the sentinel blocks the bot's quotes", { latch: { readHold: () => halt('x') }, doubt: true }],
    ['the rules of the book are being reread', { doubt: true }],
    ['trading is halted', { latch: { readPause: () => pause('x', null) }, engine: { ...free, haltedBecause: 'x' } }],
    ['the operator paused the bot', { own: { readPause: () => pause('x', null) } }],
    [null, {}],
  ] as const)('is held back because: %s', (reason, of) => {
    const {
      isStopping = false,
      engine = free,
      latched = null,
      latch = {},
      own = none,
      doubt = false,
    } = of as {
      isStopping?: boolean;
      engine?: typeof free;
      latched?: Halt | null;
      latch?: object;
      own?: Pick<Latch, 'readPause'>;
      doubt?: boolean;
    };
    const now = { halt: latched, latches: [{ ...none, ...latch }, own] } as const;
    expect(blockedReason(isStopping, [free, engine], now, doubt, { now: () => AT })).toBe(reason);
  });
});

test('the resume of a hold ends nothing that comes later: losses of the next day still only close inventory', () => {
  const files = new Files();
  const toy = new ToyExchange({ strategy: quoteAround(2) }).open();
  toy.rounds(2);
  const run = { clock: new VirtualClock(), log: memoryLog().log, time: () => toy.now, step: toy.step.bind(toy) };
  const watch = new LatchWatch(run, toy.engine, files.latch);
  watch.begin();
  files.hold = halt('sentinel: cut off');
  watch.look(false);
  files.lift();
  watch.look(false);
  toy.step({ kind: 'reduce', at: toy.now, reason: 'losses' });
  watch.look(false);
  expect(toy.engine.book.reducingBecause).toBe('losses');
  expect(files.reduce?.reason).toBe('losses');
});

test('the engine is told of the sentinel when it changes, and a person of each hold once', () => {
  const { events, step } = heard();
  const { log, lines } = memoryLog();
  const run = { clock: new VirtualClock(), log, time: () => AT, step };
  const seen = { alive: true, hold: null as Halt | null };
  const latch = { readHold: () => seen.hold as ReturnType<Latch['readHold']> };
  const watch = new SentinelWatch(run, latch, 'puntas resume', () => seen.alive);
  const looks = (change: Partial<typeof seen>) => {
    Object.assign(seen, change);
    watch.look();
    watch.look();
    return events.splice(0);
  };
  const told = (alive: boolean, holds: boolean) => [{ kind: 'sentinel', alive, holds, at: AT }];
  expect(looks({})).toEqual([]);
  expect(looks({ alive: false })).toEqual(told(false, false));
  expect(looks({ hold: halt('sentinel: cut off') })).toEqual(told(false, true));
  expect(looks({ alive: true })).toEqual(told(true, true));
  expect(looks({ hold: null })).toEqual(told(true, false));
  expect(looks({ alive: false, hold: halt('sentinel: again') })).toEqual(told(false, true));
  const rest =
    'quotes are blocked until the sentinel sees that this bot reads the exchange again. Without a sentinel, resume with: puntas resume';
  expect(lines.map(({ level, known, text }) => [level, known['reason'], text])).toEqual([
    ['warn', 'sentinel: cut off', `sentinel: cut off; ${rest}`],
    ['warn', 'sentinel: again', `sentinel: again; ${rest}`],
  ]);
  // One that is not asked for is there.
  new SentinelWatch(run, { readHold: () => null }, 'puntas resume').look();
  expect(events).toEqual([]);
});

describe('a sleep', () => {
  const watched = (passed: number, unseen: number) => {
    const at = { elapsed: 5, wall: AT };
    const watch = new SleepWatch({ now: () => at.wall, elapsed: () => at.elapsed } as unknown as Clock);
    const pass = (elapsed: number, wall: number) => {
      at.elapsed += elapsed;
      at.wall += wall;
    };
    pass(passed, passed + unseen);
    const slept = watch.look();
    const wakes = [0, 499, 1].map(ms => {
      pass(ms, ms);
      return watch.isWaking;
    });
    return { slept, wakes, after: watch.look() };
  };
  const AWAKE = [false, false, false];
  const WAKING = [true, true, false];
  test.each([
    [10_000, 0, 10_000, WAKING],
    [9_999, 0, 0, WAKING],
    [2_000, 0, 0, WAKING],
    [1_999, 0, 0, AWAKE],
    [300, 2_000, 2_000, WAKING],
    [300, 1_999, 0, AWAKE],
    [300, -50_000, 0, AWAKE],
    [12_000, 40_000, 12_000, WAKING],
    [9_000, 40_000, 40_000, WAKING],
  ])('of %i ms seen and %i unseen lasted %i', (passed, unseen, lasted, wakes) => {
    expect(watched(passed, unseen)).toEqual({ slept: lasted, wakes, after: 0 });
  });
});

describe('refusals that may pass', () => {
  const refused: Failed = { kind: 'refused', code: '0201', message: 'nonce', status: 401, meaning: 'nonce' };
  function made() {
    const clock = new VirtualClock();
    const said: unknown[] = [];
    const refusals = new Refusals(clock, {
      answered: () => void said.push('answered'),
      failed: (...of) => void said.push(of),
    });
    const at = async (ms: number) => {
      await clock.advance(ms);
      return refusals.failed('balance', refused) !== null;
    };
    return { refusals, at, said };
  }

  test('are counted and timed anew after each success: three of them, and a minute', async () => {
    const { refusals, at } = made();
    for (const ms of [0, 1, 1]) expect(await at(ms)).toBe(false);
    refusals.accepted();
    // The third is missing, though the minute has passed.
    for (const ms of [0, 60_000]) expect(await at(ms)).toBe(false);
    refusals.accepted();
    // The minute has not passed, though there are three.
    for (const ms of [0, 1, 59_998]) expect(await at(ms)).toBe(false);
    expect(await at(1)).toBe(true);
    expect(await at(0)).toBe(true);
  });

  test('are told to the log, as every answer is, and say what to do', () => {
    const { refusals, said } = made();
    const lost: Failed = { kind: 'unknown', reason: 'lost' };
    expect(refusals.failed('orders', lost)).toBeNull();
    const locked = { ...refused, meaning: 'person', code: '0202', remedy: 'renew the key' } as const;
    expect(refusals.failed('balance', locked)).toBe('balance was refused with 0202: nonce; renew the key');
    refusals.accepted();
    expect(said).toEqual([['orders', lost], ['balance', locked], 'answered']);
  });
});
