/** What one seed draws besides its faults: how the bot is configured, and how long everything lasts. */
import { loadConfig } from '../../src/config.ts';
import type { Config } from '../../src/config.ts';
import type { Millis } from '../../src/core/index.ts';
import { FLOW_PROFILES } from '../../src/sandbox/index.ts';
import type { FlowProfile } from '../../src/sandbox/index.ts';
import { chanceOf } from './chance.ts';
import { isCalm } from './faults.ts';
import type { Swarm } from './faults.ts';

export const BOOK = 'btc_mxn';
export const INSTANCE = 'sim';

export type Scenario = {
  readonly config: Config;
  readonly profile: FlowProfile;
  readonly balances: Readonly<Record<string, string>>;
  readonly usesStream: boolean;
  readonly hasSentinel: boolean;
  /** A run gives way to the next one after so long. */
  readonly rollAfterMs: Millis;
  /** Time with faults. */
  readonly safetyMs: Millis;
  /** Time without, until the operator stops the bot: everything must have come right by then. */
  readonly healMs: Millis;
  /** Time after the stop, in which nothing of the bot may appear any more. */
  readonly quietMs: Millis;
  /** Longest time for which the network holds a request: within what the fence assumes. */
  readonly heldMaxMs: Millis;
};

/** Beyond the longest hold the fence also covers a read that is behind. */
const FENCE_MARGIN_MS = 10_000;

export function scenarioOf(seed: number, swarm: Swarm): Scenario {
  const chance = chanceOf(seed, 'scenario');
  const fenceMs = chance.pick([50_000, 50_000, 70_000]);
  const settleMs = 20_000;
  const amount = chance.integer(2, 6);
  const levels = isCalm(seed) ? 3 : chance.integer(1, 3);
  const tight = swarm.has('tight limits');
  const room = isCalm(seed) ? 60 : tight ? chance.integer(5, 9) : chance.integer(8, 40);
  const usesStream = chance.hit(0.5);
  const second = chanceOf(seed, 'sentinel');
  const hasSentinel = second.hit(0.5);
  const rolls = chanceOf(seed, 'rolls');
  const rollAfterMs = !isCalm(seed) && rolls.hit(0.5) ? rolls.between(60_000, 300_000) : Infinity;
  const text = JSON.stringify({
    book: BOOK,
    instance: INSTANCE,
    exchange: { kind: 'embedded', stream: usesStream },
    strategy: {
      name: 'ladder',
      reference: chance.pick(['mid', 'mid', 'weightedMid', 'bestBidAsk']),
      halfSpreadBps: chance.pick([10.6, 11, 13]),
      levels,
      levelSpacingBps: chance.pick([4, 6, 9]),
      amount: (amount / 1000).toFixed(3),
      levelAmountStep: chance.pick(['0', '0.001']),
      refreshToleranceBps: isCalm(seed) ? 4 : chance.pick([0.5, 2, 4]),
      maxOrderAgeMs: isCalm(seed) ? 1_800_000 : chance.pick([30_000, 300_000, 1_800_000]),
      minEdgeBps: 1,
      skew: { priceBpsAtLimit: chance.pick([0, 10]) },
    },
    limits: {
      positionMax: ((amount * room) / 1000).toFixed(3),
      orderValueMax: '50000',
      ordersMax: 12,
      collarBps: 200,
      drawdownMax: tight ? '60' : '5000',
      dayLossMax: tight ? '100' : '5000',
    },
    halts: tight ? { fillsPer10Min: 40, unknownsPerMinute: 10, messagesPerMinute: 300 } : {},
    sentinel: { required: hasSentinel && second.hit(0.5) },
    inventory: { target: '1.5' },
    timing: { fenceMs, settleMs, privatePollMs: chance.pick([1_000, 2_000, 2_000]) },
  });
  const loaded = loadConfig(text, `seed ${seed}`);
  if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
  const base = FLOW_PROFILES[BOOK]!;
  const busy = swarm.get('busy market') ?? 0;
  return {
    config: loaded.config,
    profile: { ...base, takersPerSecond: base.takersPerSecond * (1 + 4 * busy) },
    balances: { btc: '1.5', mxn: '3000000' },
    usesStream,
    hasSentinel,
    rollAfterMs,
    safetyMs: chance.between(swarm.has('changed rules') ? 7.5 : 5, 12) * 60_000,
    healMs: fenceMs + settleMs + 75_000,
    quietMs: fenceMs + settleMs + 60_000,
    heldMaxMs: fenceMs - FENCE_MARGIN_MS,
  };
}
