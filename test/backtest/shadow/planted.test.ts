/** Divergences planted into a market with a true queue, which the shadow must find, and calm days without an alarm. */
import { describe, expect, test } from 'vitest';
import type { DivergenceCause } from '../../../backtest/shadow/causes.ts';
import { newMemory } from '../../../backtest/shadow/memory.ts';
import type { EngineEvent } from '../../../src/core/index.ts';
import { few, isMany, sized } from '../../many.ts';
import { shadowed } from './shadowed.ts';
import type { Planted, ShadowWorldOptions } from './world.ts';

type Case = {
  readonly name: string;
  readonly planted: Planted;
  readonly cause: DivergenceCause;
  readonly isPaper?: true;
};

const CASES: readonly Case[] = [
  { name: 'a fee tier that changed', planted: { chargedRate: 150_000 }, cause: 'fee' },
  { name: 'placements that take 200 ms longer', planted: { placementsMs: 200 }, cause: 'latency' },
  { name: 'a clock that is off by a second', planted: { clockMs: 1_000 }, cause: 'clock' },
  { name: 'a clock that is behind by a second', planted: { clockMs: -1_000 }, cause: 'clock' },
  { name: 'cancels that take 500 ms longer', planted: { cancelsMs: 500 }, cause: 'latency' },
  { name: 'the fee of a taker', planted: { chargedRate: 300_000 }, cause: 'fee' },
  { name: 'a wrong place in the queue', planted: { hiddenLots: 600_000 }, cause: 'fill' },
  { name: 'a fill model that is off by 10%, on paper', planted: { fillShare: 0.9 }, cause: 'fill', isPaper: true },
  { name: 'a book that is three seconds late', planted: { bookLateMs: 3_000 }, cause: 'book' },
  { name: 'public trades that are missing', planted: { missingTrades: 0.8 }, cause: 'book' },
  { name: 'hedges that cost 20 bps more than their offer', planted: { hedgeBps: 20 }, cause: 'hedge' },
  { name: 'fills at a worse price than the order', planted: { worseTicks: 1 }, cause: 'unexplained' },
];

const HALF_MS = (minutes: number): number => (minutes * 60_000) / 2;
const START = 1_767_225_600_000;

describe('a shadow names the cause of', () => {
  test.each(few(CASES, 3))('$name', ({ planted, cause, isPaper = false }) => {
    for (const seed of few([1, 2, 3, 4, 5], 1)) {
      const minutes = sized(480, 120);
      const { alarms } = shadowed({ seed, minutes, planted, isPaper });
      // An alarm without an earlier cause is the shadow's own explanation; others may be its consequences.
      const roots = alarms.filter(({ after }) => after.length === 0);
      expect([...new Set(roots.map(alarm => alarm.cause))], `seed ${seed}: ${JSON.stringify(alarms)}`).toEqual([cause]);
      expect(alarms[0]!.at).toBeGreaterThan(START + HALF_MS(minutes));
    }
  });
});

/** Holds public trades back for 20 s of every two minutes, and reports them together, as after an outage of the stream. */
function lateTrades(see: ShadowWorldOptions['see'], hasGap: boolean): ShadowWorldOptions['see'] {
  const held: Extract<EngineEvent, { kind: 'public trade' }>[] = [];
  return (event, commands) => {
    const isLate = (event.at - START) % 120_000 < 20_000;
    if (event.kind === 'public trade' && isLate) {
      if (held.length === 0 && hasGap) see({ kind: 'history gap', at: event.at, isOpen: true }, []);
      held.push(event);
      return;
    }
    if (!isLate && held.length > 0) {
      for (const trade of held.splice(0)) see({ ...trade, at: event.at, tradedAt: trade.at }, []);
      if (hasGap) see({ kind: 'history gap', at: event.at, isOpen: false }, []);
    }
    see(event, commands);
  };
}

test('trades that are reported late raise no alarm if the recording says that they were missing', () => {
  const options = { seed: 1, minutes: 120 };
  const { alarms, memory } = shadowed(options, newMemory(), see => lateTrades(see, true));
  expect(alarms).toEqual([]);
  expect(memory.counts.fills).toBeGreaterThan(100);
  expect(shadowed(options, newMemory(), see => lateTrades(see, false)).alarms.length).toBeGreaterThan(0);
});

describe('a calm market raises no alarm', () => {
  const seeds = few(
    Array.from({ length: 100 }, (_, i) => i + 1),
    5,
  );

  test('and the parts of its gap that need a divergence stay zero, with a true queue', () => {
    for (const seed of seeds) {
      const { alarms, memory } = shadowed({ seed, minutes: sized(480, 60) });
      expect(alarms, `seed ${seed}`).toEqual([]);
      const { fee, hedge, unexplained } = memory.total.parts;
      expect({ fee, hedge, unexplained }, `seed ${seed}`).toEqual({ fee: '0', hedge: '0', unexplained: '0' });
      expect(memory.counts.fills).toBeGreaterThan(sized(1_000, 100));
    }
  });

  test('and on paper, where the fills come from the model, the gap is exactly zero', () => {
    for (const seed of few(seeds, isMany ? 100 : 2)) {
      const { alarms, memory } = shadowed({ seed, minutes: sized(240, 60), isPaper: true });
      const { expected, actual } = memory.lots;
      expect({ alarms, gap: actual - expected }, `seed ${seed}`).toEqual({ alarms: [], gap: 0 });
    }
  });
});
