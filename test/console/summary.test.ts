/** Summary of a view: what a fleet reads is what the page shows, and nothing that may be of an earlier time. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ConsoleView } from '../../src/console/page/view.ts';
import { summaryOfView } from '../../src/console/summary.ts';
import { summaryIn } from '../../src/fleet/botAnswer.ts';
import { between } from '../draws.ts';
import { runsOf } from '../many.ts';

const HOUR = 3_600_000;
/** Time of the view by the clock of the bot. */
const AT = 1_800_000_000_000;

const ago = fc.option(fc.integer({ min: 0, max: 100_000 }));
const text = fc.string({ maxLength: 600, unit: 'grapheme-ascii' });
const price = fc.option(fc.integer({ min: 1, max: 10_000 }).map(String));
const event = fc.record({
  at: fc.constantFrom(AT, AT - 1, AT - HOUR + 1, AT - HOUR, AT - 2 * HOUR),
  level: fc.constantFrom('info', 'warn', 'error'),
  ...{ who: text, text },
});
const view = fc.record({
  at: fc.constant(AT),
  ...{ book: fc.constant('btc_mxn'), major: fc.constant('btc'), minor: fc.constant('mxn') },
  ...{ instance: text, strategy: text, ledgerSince: fc.option(fc.constant('2026-11-20T14:05:00.000Z')) },
  bot: fc.record({
    state: fc.constantFrom('running', 'stopped', 'silent'),
    ...{ beatAgoMs: ago, writtenAgoMs: ago },
    halts: fc.array(
      fc.record({
        what: fc.constantFrom('halted', 'paused', 'held', 'reduce only'),
        ...{ reason: text, by: text, at: fc.constant(AT), until: fc.option(fc.constant(AT)) },
      }),
      { maxLength: 8 },
    ),
  }),
  catchingUp: fc.option(between(0, 1)),
  runs: fc.array(fc.record({ run: fc.integer({ min: 1, max: 99 }), from: fc.integer({ min: 0, max: AT }) }), {
    maxLength: 3,
  }),
  decision: fc.record({
    ...{ difference: fc.option(text), note: fc.option(text), refusal: fc.option(text) },
    regime: fc.record({ regime: fc.constantFrom('normal', 'wide'), since: fc.option(fc.constant(AT)), why: text }),
    market: fc.record({ bid: price, ask: price, bookAgeMs: ago }),
  }),
  limits: fc.array(fc.record({ limit: text, share: between(0, 2) }), { maxLength: 4 }),
  unknown: fc.option(text),
  profit: fc.option(
    fc.record({
      ...{ total: fc.constant('12.5'), since: fc.option(fc.constant('2026-11-20T14:05:00.000Z')) },
      run: fc.option(fc.constant({ total: '-1.25' })),
    }),
  ),
  position: fc.option(fc.constant('-0.25')),
  fills: fc.record({
    count: fc.option(fc.nat(9)),
    last: fc.array(
      fc.record({
        at: fc.integer({ min: AT - 10_000, max: AT }),
        side: fc.constantFrom('bid', 'ask'),
        ...{ price: fc.constant('999'), amount: fc.constant('0.1') },
      }),
      { maxLength: 2 },
    ),
  }),
  uptime: fc.record({ bid: fc.constantFrom(0, 1), ask: fc.constantFrom(0, 0.5) }),
  events: fc.array(event, { maxLength: 6 }),
});

test('has the figures of the view, without those that may be older, and is read by a fleet as it was sent', () => {
  fc.assert(
    fc.property(view, fc.constantFrom(1, 10), fc.integer({ min: 0, max: 5_000 }), (drawn, speed, laterMs) => {
      const shown = drawn as unknown as ConsoleView;
      const madeAt = AT + laterMs;
      const summary = summaryOfView(shown, { ...{ version: '0.1.0', madeAt, money: 'real', speed } });
      const { run, bot, halts } = summary;
      expect(summaryIn(JSON.stringify(summary))).toEqual(summary);
      const [isBehind, isSilent] = [drawn.catchingUp !== null, drawn.bot.state === 'silent'];
      const { state, beatAgoMs, writtenAgoMs } = drawn.bot;
      expect(bot).toEqual({ state, beatAgoMs, writtenAgoMs });
      expect(halts).toHaveLength(Math.min(5, drawn.bot.halts.length));
      expect(run).toMatchObject({
        ...{ at: AT, uptime: drawn.uptime, ledgerSince: drawn.ledgerSince },
        number: drawn.runs.at(-1)?.run ?? null,
        startedAt: drawn.runs.at(-1)?.from ?? null,
        market: isBehind ? { bid: null, ask: null, bookAgeMs: null } : drawn.decision.market,
        inventory: isBehind || isSilent ? null : drawn.position,
        profit:
          isBehind || drawn.profit === null
            ? null
            : { total: '12.5', run: drawn.profit.run?.total ?? null, since: drawn.profit.since },
      });
      if (isBehind) expect(run!.unknown).toMatch(/^the console still reads the recording \(\d+%\)$/);
      else if (drawn.unknown !== null) expect(run!.unknown).toBe(drawn.unknown.slice(0, 500));
      else expect(run!.unknown === null).toBe(!isSilent);
      const shares = drawn.limits.map(({ share }) => share);
      expect(run!.limit?.share ?? null).toBe(shares.length === 0 ? null : Math.max(...shares));
      const recent = drawn.events.filter(({ level, at }) => level !== 'info' && at > AT - HOUR);
      const errors = recent.filter(({ level }) => level === 'error').length;
      expect(run!.events).toMatchObject({ errors, warnings: recent.length - errors });
      expect([run!.events.last?.at, run!.events.last?.level]).toEqual([recent[0]?.at, recent[0]?.level]);
      const [last] = drawn.fills.last;
      expect(run!.fills.count).toBe(drawn.fills.count);
      if (last === undefined) expect(run!.fills.last).toBeNull();
      else
        // An accelerated bot: the real time until the view, and the age of the view.
        expect(run!.fills.last).toEqual({
          ...last,
          agoMs: speed === 1 ? madeAt - last.at : (AT - last.at) / speed + Math.max(beatAgoMs ?? 0, writtenAgoMs ?? 0),
        });
    }),
    runsOf(500, 100),
  );
});
