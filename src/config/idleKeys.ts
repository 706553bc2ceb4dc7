/**
 * Keys that have an effect only with other keys: one table, with the reason and the remedy for the operator. A key with
 * its default value, or without a value, is not reported. All are warnings: a file that an earlier version accepted
 * still starts a bot, and `puntas halt` can still read it.
 */
import { z } from 'zod';
import { isUnread, kindOf } from '../../strategies/index.ts';
import type { Problem } from './problems.ts';
import { configSchema, type Config } from './schema.ts';
import { embeddedFeesOf, liveBooksOf, marketBooksOf } from './sections/exchange.ts';
import { sourceLegs } from './sections/reference.ts';
import { schemaAt } from './shape.ts';

type IdleRule = {
  /** Dotted paths of keys or sections; `*` stands for each element of a list. */
  readonly keys: readonly string[];
  /** Whether the keys have an effect. `at`: the section that contains the key. */
  readonly hasEffect: (config: Config, at: Section) => boolean;
  readonly message: string;
};

type Section = Readonly<Record<string, unknown>>;

const has = (section: Section, ...keys: readonly string[]): boolean => keys.some(key => section[key] !== undefined);

/** Parts of the fair value that are averaged by weight. */
const WEIGHTED = ['mid', 'weightedMid', 'microprice', 'lastTrades', 'reference'] as const;
const SHIFTS = ['depthImbalance', 'orderFlowImbalance'] as const;

const REMOVE = 'or remove this key';

/** Rules in the order of the schema. */
export const IDLE_RULES: readonly IdleRule[] = [
  {
    keys: ['exchange.volume30d'],
    hasEffect: ({ exchange, book }) =>
      [...liveBooksOf(exchange, book)].some(name => embeddedFeesOf(exchange, book, name) === undefined),
    message:
      'has no effect, because the fees of exchange.fees or exchange.market.books replace the fee tiers; remove these fees, or remove this key',
  },
  {
    keys: ['exchange.market.correlation'],
    hasEffect: ({ exchange, elsewhere }) => marketBooksOf(exchange) !== undefined || elsewhere?.kind === 'embedded',
    message:
      'has no effect without exchange.market.books or a second embedded exchange; add one of these, or remove this one',
  },
  {
    keys: ['exchange.market.arbitrageur'],
    hasEffect: ({ exchange }) => marketBooksOf(exchange) !== undefined,
    message: 'has no effect without exchange.market.books; add this key with more books, or remove this one',
  },
  {
    keys: ['elsewhere'],
    hasEffect: ({ hedge, reference }) =>
      hedge?.elsewhere !== undefined ||
      hedge?.venues.includes('elsewhere') === true ||
      (reference?.sources ?? []).some(source => sourceLegs(source).some(({ from }) => from === 'elsewhere')),
    message:
      'has no effect, because the bot neither hedges on this exchange nor reads its prices; add elsewhere to hedge.venues with the keys of hedge.elsewhere, or a source with from: elsewhere, or remove this section',
  },
  {
    keys: ['jointInventory', 'crossRates'],
    hasEffect: () => false,
    message: 'has no effect with one book; add books, or remove this section',
  },
  {
    keys: ['strategy.halfSpreadBps'],
    hasEffect: (_, { bidSpreadBps, askSpreadBps }) => bidSpreadBps === undefined || askSpreadBps === undefined,
    message:
      'has no effect, because bidSpreadBps and askSpreadBps set both sides; remove this key, or one of the other two',
  },
  {
    keys: ['strategy.optimization.depthAmount'],
    hasEffect: (_, { enabled }) => enabled === true,
    message: `has no effect without enabled: true; set strategy.optimization.enabled, ${REMOVE}`,
  },
  {
    keys: ['strategy.market.memory', 'strategy.market.withinFactor'],
    hasEffect: (_, { estimate }) => estimate === 'rolling',
    message: `has no effect with estimate: fixed; set strategy.market.estimate to rolling, ${REMOVE}`,
  },
  {
    keys: ['fairValue'],
    hasEffect: ({ fairValue }) => has(fairValue ?? {}, ...WEIGHTED, ...SHIFTS),
    message: 'has no effect without a part; add a part, like weightedMid: {}, or remove this section',
  },
  {
    keys: ['fairValue.withinBps'],
    hasEffect: (_, { mid, ...others }) => mid === undefined || has(others, ...WEIGHTED, ...SHIFTS),
    message: 'has no effect, because mid is the only part; add another part, like weightedMid: {}, or remove this key',
  },
  {
    keys: WEIGHTED.map(name => `fairValue.${name}.weight`),
    hasEffect: ({ fairValue = {} }) => WEIGHTED.filter(name => has(fairValue, name)).length > 1,
    message: `has no effect, because only one part has a weight; add another part, like mid: {}, ${REMOVE}`,
  },
  {
    keys: ['paper.fittedFile', 'paper.fittedSha256'],
    hasEffect: ({ paper }) => paper.fills === 'fitted',
    message: `has no effect without paper.fills: fitted; set this fill model, ${REMOVE}`,
  },
  {
    keys: ['reference'],
    // `reference.sources` has an effect even if no price depends on it: quoting stops if too few sources are usable.
    hasEffect: ({ reference, strategy, fairValue, pull }) =>
      reference?.sources !== undefined ||
      isUnread(strategy) ||
      kindOf(strategy).needsReference === true ||
      fairValue?.reference !== undefined ||
      pull?.leader !== undefined,
    message:
      'no quote depends on the reference price; add fairValue.reference or pull.leader, use a strategy like peg, or remove this section',
  },
  {
    keys: [
      'reference.combine',
      'reference.sourcesMin',
      'reference.divergenceMaxBps',
      'reference.moveBps',
      'reference.basis',
    ],
    hasEffect: (_, { sources }) => sources !== undefined,
    message: `has no effect without reference.sources; add sources, ${REMOVE}`,
  },
  {
    keys: ['reference.feeds.*.name'],
    hasEffect: ({ reference }) => reference?.sources !== undefined,
    message: `has no effect without reference.sources, where a source can select a feed by name; add sources, ${REMOVE}`,
  },
  {
    keys: ['reference.feeds.*.timeoutMs'],
    hasEffect: (_, { url }) => url !== undefined,
    message: 'has no effect, because the feed is a file; remove this key',
  },
  {
    keys: ['reference.sources.*.weight'],
    hasEffect: ({ reference }) => reference?.combine === 'weights',
    message: `has no effect unless reference.combine is weights; set it to weights, ${REMOVE}`,
  },
  {
    keys: ['reference.sources.*.feeBps'],
    hasEffect: ({ reference, fairValue }) =>
      fairValue?.reference?.leave !== undefined ||
      (reference?.basis !== undefined && reference.basis.bandBps === undefined),
    message: `has no effect, because neither quotes nor reference.basis depend on this fee; add fairValue.reference.leave, ${REMOVE}`,
  },
  {
    keys: ['hedge.risk', 'hedge.flow'],
    hasEffect: (_, { band }) => band === undefined,
    message:
      'has no effect, because hedge.band is set; remove this key, or remove band so that Puntas computes the band',
  },
  {
    keys: ['hedge.unwindMs'],
    hasEffect: (_, { carryBpsPerHour }) => carryBpsPerHour !== 0,
    message: `has no effect without carryBpsPerHour; set hedge.carryBpsPerHour, ${REMOVE}`,
  },
  {
    keys: ['hedge.quoteLifeMinMs'],
    hasEffect: ({ hedge }) =>
      hedge?.routes !== undefined || hedge?.venues.some(way => way === 'rfq' || way === 'conversion') === true,
    message: `has no effect, because no allowed hedge accepts RFQ or conversion quotes; add rfq or conversion to hedge.venues, ${REMOVE}`,
  },
  {
    keys: ['pull'],
    hasEffect: ({ pull = {} }) => has(pull, 'leader', 'print'),
    message: 'has no effect; set leader or print, or remove this section',
  },
  {
    keys: ['rfqReference.withinBps', 'rfqReference.beyond'],
    hasEffect: (_, { thinBps }) => thinBps !== undefined,
    message: `has no effect without thinBps; set rfqReference.thinBps, ${REMOVE}`,
  },
  {
    keys: ['regimes'],
    hasEffect: ({ regimes = {} }) => has(regimes, 'wide', 'reduceOnly'),
    message: 'has no effect; set wide or reduceOnly, or remove this section',
  },
  {
    keys: ['regimes.leaveShare'],
    hasEffect: ({ regimes }) => regimes?.wide !== undefined || regimes?.reduceOnly?.positionShare !== undefined,
    message: `has no effect without regimes.wide or regimes.reduceOnly.positionShare; set one of them, ${REMOVE}`,
  },
  {
    keys: ['regimes.calmMs'],
    hasEffect: (_, { wide }) => wide !== undefined,
    message: `has no effect without regimes.wide; set wide, ${REMOVE}`,
  },
  {
    keys: ['regimes.wide'],
    hasEffect: ({ regimes }) => has(regimes?.wide ?? {}, 'volatilityBps', 'marketSpreadBps', 'depthMin'),
    message: 'has no effect; set volatilityBps, marketSpreadBps or depthMin, or remove this section',
  },
  {
    keys: ['regimes.wide.volatilityMemoryMs'],
    hasEffect: (_, { volatilityBps }) => volatilityBps !== undefined,
    message: `has no effect without volatilityBps; set regimes.wide.volatilityBps, ${REMOVE}`,
  },
  {
    keys: ['regimes.wide.depthBps'],
    hasEffect: (_, { depthMin }) => depthMin !== undefined,
    message: `has no effect without depthMin; set regimes.wide.depthMin, ${REMOVE}`,
  },
  {
    keys: ['regimes.reduceOnly'],
    hasEffect: ({ regimes }) => has(regimes?.reduceOnly ?? {}, 'positionShare', 'drawdownShare'),
    message: 'has no effect; set positionShare or drawdownShare, or remove this section',
  },
  {
    keys: ['console.behindTls'],
    hasEffect: (_, page) => has(page, 'operatorTokenFile', 'viewerTokenFile'),
    message: `has no effect without tokens, because the console is then read-only; set operatorTokenFile or viewerTokenFile, ${REMOVE}`,
  },
];

/** Returns the keys of one rule that the configuration sets without effect. */
export function idleProblems({ keys, hasEffect, message }: IdleRule, config: Config): readonly Problem[] {
  return keys.flatMap(key =>
    keyPlaces(key.split('.'), config).flatMap(({ path, at }) => {
      const given = at[path.at(-1)!];
      const isSet = given !== undefined && JSON.stringify(given) !== JSON.stringify(defaultAt(config, path));
      return isSet && !hasEffect(config, at) ? [{ path, message, isWarning: true }] : [];
    }),
  );
}

type Place = { readonly path: readonly string[]; readonly at: Section };

/**
 * Returns every path that matches `[step, ...rest]`, where `*` matches each element, with the section that contains the
 * key; empty if that section is absent.
 */
function keyPlaces([step, ...rest]: readonly string[], at: unknown, above: readonly string[] = []): readonly Place[] {
  if (typeof at !== 'object' || at === null || step === undefined) return [];
  const section = at as Section;
  if (rest.length === 0) return [{ path: [...above, step], at: section }];
  const steps = step === '*' ? Object.keys(section) : [step];
  return steps.flatMap(each => keyPlaces(rest, section[each], [...above, each]));
}

/** Returns the default of a key; `undefined` if it has none. */
function defaultAt(config: Config, path: readonly string[]): unknown {
  const section = schemaAt(configSchema, config, path.slice(0, -1));
  if (!(section instanceof z.ZodObject)) return undefined;
  const member = (section.shape as Readonly<Record<string, z.core.$ZodType>>)[path.at(-1)!];
  return member instanceof z.ZodDefault ? member.def.defaultValue : undefined;
}
