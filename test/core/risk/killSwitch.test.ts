import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { KillSwitch, type HaltLimits } from '../../../src/core/risk/killSwitch.ts';
import { money, moneyOf, type Money } from '../../../src/core/index.ts';

const NOON = Date.UTC(2026, 0, 1, 12);
const MINUTE = 60_000;
const DAY = 86_400_000;

const limits = (changes: Partial<HaltLimits> = {}): HaltLimits => ({
  drawdownMax: moneyOf('100'),
  dayLossMax: moneyOf('60'),
  fillsPer10Min: 5,
  refusalsPerMinute: 3,
  unknownsPerMinute: 3,
  messagesPerMinute: 10,
  ...changes,
});
const never = limits({ drawdownMax: moneyOf('1000000'), dayLossMax: moneyOf('1000000') });

describe('losses', () => {
  test.each([
    ['at the limit nothing happens', ['0', '500', '400'], null],
    [
      'a unit beyond it halts, counted from the highest profit',
      ['0', '500', '399.99'],
      /^drawdown: profit fell 100\.01 from its highest, the limit is 100$/,
    ],
    ['a way in small steps counts whole', ['0', '-30', '-60', '-90', '-100.5'], /^drawdown: profit fell 100\.5 /],
  ])('drawdown: %s', (_, profits, says) => {
    const guard = new KillSwitch(limits({ dayLossMax: moneyOf('1000000') }));
    const reasons = profits.map(profit => guard.breach(moneyOf(profit), NOON));
    expect(reasons.slice(0, -1)).toEqual(reasons.slice(0, -1).map(() => null));
    if (says === null) expect(reasons.at(-1)).toBeNull();
    else expect(reasons.at(-1)).toMatch(says);
  });

  test('of a day end with the UTC day, and are counted from its first moment', () => {
    const guard = new KillSwitch(limits({ drawdownMax: moneyOf('1000000') }));
    expect(guard.breach(moneyOf('0'), NOON)).toBeNull();
    expect(guard.breach(moneyOf('-59'), NOON + MINUTE)).toBeNull();
    expect(guard.breach(moneyOf('-60.01'), NOON + 2 * MINUTE)).toMatch(
      /^loss: 60\.01 lost since the start of the UTC day/,
    );
    expect(guard.breach(moneyOf('-60.01'), NOON + DAY / 2)).toBeNull();
    expect(guard.breach(moneyOf('-120'), NOON + DAY / 2 + MINUTE)).toBeNull();
    expect(guard.breach(moneyOf('-121'), NOON + DAY / 2 + MINUTE)).toMatch(/^loss: 60\.99 /);
  });

  test('of a day do not begin anew where a restart finds a clock that was set back, and end with the day that it shows', () => {
    const guard = new KillSwitch(limits({ drawdownMax: moneyOf('1000000') }));
    guard.restore({ drawdown: moneyOf('59'), day: Math.floor(NOON / DAY) + 400, dayLoss: moneyOf('59') });
    expect(guard.breach(moneyOf('0'), NOON)).toBeNull();
    expect(guard.breach(moneyOf('-1.01'), NOON + MINUTE)).toMatch(/^loss: 60\.01 /);
    expect(guard.breach(moneyOf('-1.01'), NOON + DAY)).toBeNull();
    expect(guard.breach(moneyOf('-60'), NOON + DAY + MINUTE)).toBeNull();
  });

  test('carry over a restart: what was lost before and what is lost after add up, wherever the run was cut', () => {
    const steps = fc.array(
      fc.record({
        change: fc.integer({ min: -40, max: 30 }),
        ms: fc.integer({ min: 0, max: 6 * 3_600_000 }),
        restarts: fc.boolean(),
      }),
      {
        maxLength: 40,
      },
    );
    fc.assert(
      fc.property(steps, list => {
        const whole = new KillSwitch(limits());
        let cut = new KillSwitch(limits());
        let profit = 0n;
        // A new run counts its profit from nothing.
        let base = 0n;
        let at = NOON;
        whole.breach(money(0n), at);
        cut.breach(money(0n), at);
        for (const { change, ms, restarts } of list) {
          if (restarts) {
            const state = cut.state(money(profit - base))!;
            cut = new KillSwitch(limits());
            cut.restore(state);
            base = profit;
          }
          at += ms;
          profit += moneyOf(String(change));
          const reason = whole.breach(money(profit), at);
          expect(cut.breach(money(profit - base), at)).toBe(reason);
          if (reason !== null) return;
        }
      }),
    );
  });

  test('count from a resume on', () => {
    const guard = new KillSwitch(limits());
    guard.breach(moneyOf('0'), NOON);
    expect(guard.breach(moneyOf('-200'), NOON)).not.toBeNull();
    guard.reset();
    expect(guard.breach(moneyOf('-200'), NOON)).toBeNull();
    expect(guard.breach(moneyOf('-259'), NOON)).toBeNull();
    expect(guard.breach(moneyOf('-261'), NOON)).toMatch(/^loss: 61 /);
  });
});

describe('losses and counts', () => {
  const MOST = { fill: 3, refusal: 2, unknown: 1, message: 4 };
  const NAMES = { fill: 'fills', refusal: 'refusals', unknown: 'unknown outcomes', message: 'messages' } as const;
  const step = fc.record({
    kind: fc.constantFrom('profit', 'profit', 'profit', 'fill', 'refusal', 'unknown', 'message', 'reset', 'restart'),
    ms: fc.oneof(fc.constantFrom(0, MINUTE, 10 * MINUTE), fc.integer({ min: 0, max: DAY / 3 })),
    change: fc.integer({ min: -45, max: 40 }),
  });

  test('halt for the first of them, in words, as the whole history since the last resume has it, over days and restarts', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), steps => {
        const of = limits({ fillsPer10Min: 3, refusalsPerMinute: 2, unknownsPerMinute: 1, messagesPerMinute: 4 });
        let guard = new KillSwitch(of);
        // Looks since the last resume; what was counted since then in this run.
        let looks: { at: number; profit: number }[] = [];
        let counted: { kind: keyof typeof MOST; at: number }[] = [];
        let [at, profit, base] = [NOON, 0, 0];
        const sum = (units: number): Money => moneyOf(String(units));
        for (const { kind, ms, change } of steps) {
          at += ms;
          if (kind === 'reset') {
            guard.reset();
            [looks, counted] = [[], []];
          } else if (kind === 'restart') {
            const state = guard.state(sum(profit - base));
            expect(state === null).toBe(looks.length === 0);
            guard = new KillSwitch(of);
            if (state !== null) guard.restore(state);
            [base, counted] = [profit, []];
          } else if (kind !== 'profit') {
            guard[kind](at);
            counted.push({ kind, at });
          }
          if (looks.length === 0) expect([guard.drawdown(money(1n)), guard.state(money(1n))]).toEqual([null, null]);
          if (kind === 'reset' || kind === 'restart') continue;
          if (kind === 'profit') profit += change;
          looks.push({ at, profit });
          const day = Math.floor(at / DAY);
          const fell = Math.max(...looks.map(look => look.profit)) - profit;
          const lost = looks.find(look => Math.floor(look.at / DAY) === day)!.profit - profit;
          const most = (['fill', 'refusal', 'unknown', 'message'] as const).find(one => {
            const window = one === 'fill' ? 10 * MINUTE : MINUTE;
            return counted.filter(event => event.kind === one && at - event.at <= window).length > MOST[one];
          });
          const expected =
            fell > 100
              ? `drawdown: profit fell ${fell} from its highest, the limit is 100`
              : lost > 60
                ? `loss: ${lost} lost since the start of the UTC day, the limit is 60`
                : most !== undefined
                  ? `${NAMES[most]}: more than ${MOST[most]} in ${most === 'fill' ? 10 : 1} min`
                  : null;
          expect(guard.breach(sum(profit - base), at)).toBe(expected);
          expect(guard.drawdown(sum(profit - base))).toBe(sum(fell));
          expect(guard.state(sum(profit - base))).toEqual({ drawdown: sum(fell), day, dayLoss: sum(lost) });
          expect(guard.counts(at).map(({ limit, max, used }) => [limit, max, used])).toEqual(
            (['fill', 'refusal', 'unknown', 'message'] as const).map((one, n) => {
              const window = one === 'fill' ? 10 * MINUTE : MINUTE;
              const used = counted.filter(event => event.kind === one && at - event.at <= window).length;
              const key = (['fillsPer10Min', 'refusalsPerMinute', 'unknownsPerMinute', 'messagesPerMinute'] as const)[
                n
              ];
              return [key, MOST[one], Math.min(used, MOST[one] + 1)];
            }),
          );
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe('counts in a window', () => {
  const kinds = [
    ['fills', 'fill', 5, 10 * MINUTE, 'fills: more than 5 in 10 min'],
    ['refusals', 'refusal', 3, MINUTE, 'refusals: more than 3 in 1 min'],
    ['unknown outcomes', 'unknown', 3, MINUTE, 'unknown outcomes: more than 3 in 1 min'],
    ['messages', 'message', 10, MINUTE, 'messages: more than 10 in 1 min'],
  ] as const;
  const zero: Money = money(0n);

  test.each(kinds)(
    '%s: as many as allowed are allowed, one more within the window halts',
    (_name, kind, max, _ms, says) => {
      const guard = new KillSwitch(never);
      for (let i = 0; i < max; i++) guard[kind](NOON + i);
      expect(guard.breach(zero, NOON + max)).toBeNull();
      guard[kind](NOON + max);
      expect(guard.breach(zero, NOON + max)).toBe(says);
      guard.reset();
      expect(guard.breach(zero, NOON + max)).toBeNull();
    },
  );

  test.each(kinds)('%s: the ring says what counting every time says', (_name, kind, max, ms, says) => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: ms / 2 }), { maxLength: 60 }), gaps => {
        const guard = new KillSwitch(never);
        const times: number[] = [];
        let at = NOON;
        for (const gap of gaps) {
          at += gap;
          times.push(at);
          guard[kind](at);
          const count = times.filter(time => at - time <= ms).length;
          expect(guard.breach(zero, at)).toBe(count > max ? says : null);
        }
      }),
    );
  });

  test.each(kinds)('%s: a time that is no number halts', (_name, kind, max) => {
    const guard = new KillSwitch(never);
    for (let i = 0; i <= max; i++) guard[kind](Number.NaN);
    expect(guard.breach(zero, NOON)).not.toBeNull();
  });
});

describe('what is counted', () => {
  const kinds = ['fill', 'refusal', 'unknown', 'message'] as const;
  const names = { fill: 'fills', refusal: 'refusals', unknown: 'unknown outcomes', message: 'messages' } as const;
  const keys = {
    fill: 'fillsPer10Min',
    refusal: 'refusalsPerMinute',
    unknown: 'unknownsPerMinute',
    message: 'messagesPerMinute',
  } as const;

  test('halts when there is one more than its limit within its time, whatever the limit, and not a moment after it', () => {
    const times = fc.array(fc.integer({ min: 0, max: 3_000 }), { maxLength: 300, size: 'max' });
    fc.assert(
      fc.property(fc.constantFrom(...kinds), fc.integer({ min: 1, max: 200 }), times, (kind, max, waits) => {
        const guard = new KillSwitch({ ...never, [keys[kind]]: max });
        const window = kind === 'fill' ? 10 * MINUTE : MINUTE;
        const happened: number[] = [];
        let at = NOON;
        for (const wait of waits) {
          at += wait;
          guard[kind](at);
          happened.push(at);
          const recent = happened.filter(one => at - one <= window).length;
          const reason = guard.breach(money(0n), at);
          expect(reason).toBe(recent > max ? `${names[kind]}: more than ${max} in ${window / MINUTE} min` : null);
          const used = guard.counts(at).find(({ limit }) => limit === keys[kind])!;
          expect(used).toEqual({ limit: keys[kind], max, used: Math.min(recent, max + 1) });
        }
        guard.reset();
        expect(guard.breach(money(0n), at)).toBeNull();
      }),
    );
  });
});
