/** Plainest values of what a seed draws of its configuration: each can be put back alone, and no draw changes by it. */
import { loadConfig, type Config } from '../../../src/config.ts';
import type { Scenario } from './scenario.ts';

type Change = (scenario: Scenario) => Scenario;
type Part<K extends keyof Config> = (part: Config[K]) => object | undefined;

/** Changes one part of the configuration; undefined takes it out. */
const part =
  <K extends keyof Config>(name: K, change: Part<K>): Change =>
  scenario => ({ ...scenario, config: { ...scenario.config, [name]: change(scenario.config[name]) } });

/** Changes the settings of a ladder. Other strategies remain unchanged, because they have other settings. */
const ladder = (change: object): Change =>
  part('strategy', strategy => (strategy.name === 'ladder' ? { ...strategy, ...change } : strategy));
const without = <T extends object>(all: T, name: keyof T): object => {
  const { [name]: _, ...rest } = all;
  return rest;
};
const timing = (change: object): Change => part('timing', all => ({ ...all, ...change }));

const noFairValue: Change = scenario =>
  part('reference', () => undefined)(part('fairValue', () => undefined)(scenario));

/** Settings that need a stream go with it. */
const noStream: Change = scenario => {
  const { fairValue, pull } = scenario.config;
  const polled = part('exchange', exchange => ({ ...exchange, stream: false }))({ ...scenario, usesStream: false });
  return part(
    'fairValue',
    () => fairValue && without(fairValue, 'lastTrades'),
  )(part('pull', () => pull && without(pull, 'print'))(polled));
};

const noHedge: Change = scenario =>
  part('inventory', inventory => ({ ...inventory, target: '1.5' }))(
    part('hedge', () => undefined)({ ...scenario, desks: null, dollarPremiumBps: null }),
  );

const noSentinel: Change = scenario => ({
  ...part('sentinel', sentinel => ({ ...sentinel, required: false }))(scenario),
  hasSentinel: false,
});

const noMoreLimits: Change = scenario =>
  part(
    'limits',
    ({ orderAmountMax: _, priceMove: __, ...rest }) => rest,
  )(
    part('hedge', hedge => {
      if (hedge === undefined) return undefined;
      const { costDayMax: _, ...rest } = hedge;
      return rest;
    })(scenario),
  );

const PLAIN_CHANGES = {
  hedge: noHedge,
  'more-limits': noMoreLimits,
  inbox: scenario => ({ ...scenario, hasInbox: false }),
  sentinel: noSentinel,
  'fair-value': noFairValue,
  stream: noStream,
  rolls: scenario => ({ ...scenario, rollAfterMs: Infinity }),
  markouts: part('markouts', () => undefined),
  levels: part('strategy', strategy => ({ ...strategy, levels: 1 })),
  'level-step': ladder({ levelAmountStep: '0' }),
  'level-spacing': ladder({ levelSpacingBps: 4 }),
  skew: ladder({ skew: { priceBpsAtLimit: 0 } }),
  reference: ladder({ reference: 'mid' }),
  spread: ladder({ halfSpreadBps: 11 }),
  tolerance: ladder({ refreshToleranceBps: 4 }),
  age: ladder({ maxOrderAgeMs: 1_800_000 }),
  poll: timing({ privatePollMs: 2_000 }),
  halts: part('halts', () => ({})),
  cancels: scenario => ({ ...scenario, cancelTiming: 'at once' }),
  lists: scenario => ({ ...scenario, lists: { withdrawalTotal: 'at creation', transferListDelayMs: 0 } }),
} satisfies Record<string, Change>;

export type Plain = keyof typeof PLAIN_CHANGES;

export const PLAINS = Object.keys(PLAIN_CHANGES) as readonly Plain[];

/** @throws Error if the configuration does not load with these changes. */
export function plainer(scenario: Scenario, plain: readonly Plain[]): Scenario {
  if (plain.length === 0) return scenario;
  const changed = plain.reduce((all, name) => PLAIN_CHANGES[name](all), scenario);
  const loaded = loadConfig(JSON.stringify(changed.config), `plain ${plain.join(',')}`);
  if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
  return { ...changed, config: loaded.config };
}

/** @throws Error if a name is none of the settings. */
export function parsePlain(text: string): readonly Plain[] {
  const names = text === '' ? [] : text.split(',');
  for (const name of names)
    if (!PLAINS.includes(name as Plain)) throw new Error(`--plain: expected ${PLAINS.join(', ')}, found ${name}`);
  return names as readonly Plain[];
}
