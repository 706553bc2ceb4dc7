/** Laws of keys that have an effect only with other keys: no key of a configuration is without effect in silence. */
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { unsimulatedKey } from '../../backtest/app/backtest/notSimulated.ts';
import { parameterProblems } from '../../backtest/app/tune/parameters.ts';
import { configSchema, externalReferenceOf, liveSourcesOf, loadConfig, type Config } from '../../src/config.ts';
import { IDLE_RULES } from '../../src/config/idleKeys.ts';
import { hedgePlanOf } from '../../src/wiring/bot.ts';

const parsed = (name: string): Tree =>
  parse(readFileSync(new URL(`../../config/${name}`, import.meta.url), 'utf8')) as Tree;
type Tree = Readonly<Record<string, object>>;
const SHIPPED = parsed('sandbox.yaml');
const SANDBOX = { ...SHIPPED, exchange: { ...SHIPPED['exchange'], budgets: { publicPerMinute: 10_000 } } };
const REMOTE = { kind: 'remote', restUrl: 'https://api.example', budgets: { publicPerMinute: 10_000 } };
const LADDER = { name: 'ladder', halfSpreadBps: 16, amount: '0.004' };
const SIDES = { bidSpreadBps: 16, askSpreadBps: 16 };
const DESK = parsed('desk.yaml');
const USD_LIMITS = { positionMax: '5000', orderValueMax: '50000', ordersMax: 8, collarBps: 200 };
const USD_MXN = {
  symbol: 'usd_mxn',
  strategy: { ...LADDER, amount: '200' },
  limits: { ...USD_LIMITS, drawdownMax: '5000', dayLossMax: '5000' },
};
const TRIANGLE = { ...DESK, books: [{ symbol: 'btc_mxn' }, (DESK['books'] as readonly object[])[2]!, USD_MXN] };
const { strategy: GLFT } = parsed('glft.yaml');
const BOOKS = { books: ['btc_usd', 'usd_mxn'] };
const SOURCE = { name: 'cross', books: ['btc_usd', 'usd_mxn'], staleAfterMs: 20_000 };
const SOURCES = [SOURCE, { ...SOURCE, name: 'far', from: { ccxt: 'far' } }];
const USED = { fairValue: { reference: {} } };
const FLOW = { volatilityBps: 57, fillsPerMinute: 1.2, decayPerBps: 0.19 };
const PLACE = { kind: 'remote', venue: 'binance', book: 'btc_usdt', restUrl: 'https://there.example' };
const CHAIN = [{ book: 'btc_usdt', as: 'btc_mxn', from: 'elsewhere' }];
const weights = (...parts: readonly string[]) =>
  Object.fromEntries(parts.map(part => [part, { weight: 2, ...(part === 'microprice' && TABLE) }]));
const TABLE = { tick: '10', imbalanceBuckets: 1, spreadsTicks: [], adjustTicks: [[0]] };

const loaded = (changes: object) => loadConfig(stringify({ ...SANDBOX, ...changes }), 'a.yaml');
const linesOf = (changes: object): readonly string[] => {
  const found = loaded(changes);
  return [...found.warnings, ...(found.ok ? [] : found.errors)].map(line => line.replace(/^a\.yaml:\d+:\d+ /, ''));
};

/** Changes of the sandbox that set a key without effect, the end or part of the line, and changes with an effect. */
const CASES: readonly (readonly [key: string, idle: object, says: string, withEffect: object])[] = [
  [
    'exchange.volume30d',
    { exchange: { kind: 'embedded', volume30d: '5', fees: { maker: '0.0001', taker: '0.0001' } } },
    'because the fees of exchange.fees or exchange.market.books replace the fee tiers',
    { exchange: { kind: 'embedded', volume30d: '5' } },
  ],
  ...(
    [
      ['correlation', 0.5, 'has no effect without exchange.market.books or a second embedded exchange'],
      ['arbitrageur', {}, 'has no effect without exchange.market.books; add this key with more books'],
    ] as const
  ).map(([key, value, says]) => {
    const market = (changes: object) => ({
      exchange: { kind: 'embedded', market: { kind: 'flow', [key]: value, ...changes } },
    });
    return [`exchange.market.${key}`, market({}), says, market({ books: { btc_usd: {}, usd_mxn: {} } })] as const;
  }),
  [
    'elsewhere',
    { exchange: REMOTE, elsewhere: PLACE },
    'the bot neither hedges on this exchange nor reads its prices',
    { exchange: REMOTE, elsewhere: PLACE, reference: { sources: [{ name: 'far', books: CHAIN }] } },
  ],
  [
    'jointInventory',
    { jointInventory: {} },
    'has no effect with one book',
    { ...parsed('desk.yaml'), jointInventory: {}, book: undefined, inventory: undefined },
  ],
  [
    'crossRates',
    { crossRates: {} },
    'has no effect with one book',
    { ...TRIANGLE, crossRates: {}, book: undefined, inventory: undefined },
  ],
  ['strategy.halfSpreadBps', { strategy: { ...LADDER, ...SIDES } }, 'set both sides', { strategy: LADDER }],
  [
    'strategy.optimization.depthAmount',
    { strategy: { ...LADDER, optimization: { depthAmount: '0.1' } } },
    'without enabled: true',
    { strategy: { ...LADDER, optimization: { enabled: true, depthAmount: '0.1' } } },
  ],
  ...['memory', 'withinFactor'].map(key => {
    const market = { ...(GLFT as { market: object }).market, [key]: key === 'memory' ? '1h' : 2 };
    return [
      `strategy.market.${key}`,
      { strategy: { ...GLFT, market: { ...market, estimate: 'fixed' } } },
      'with estimate: fixed',
      { strategy: { ...GLFT, market } },
    ] as const;
  }),
  ['fairValue', { fairValue: {} }, 'has no effect without a part', { fairValue: { weightedMid: {} } }],
  [
    'fairValue.withinBps',
    { fairValue: { withinBps: 1, mid: {} } },
    'because mid is the only part',
    { fairValue: { withinBps: 1, depthImbalance: {} } },
  ],
  ...['mid', 'weightedMid', 'microprice', 'lastTrades', 'reference'].map(
    part =>
      [
        `fairValue.${part}.weight`,
        { fairValue: weights(part), reference: BOOKS },
        'only one part has a weight',
        { fairValue: weights(part, part === 'mid' ? 'weightedMid' : 'mid'), reference: BOOKS },
      ] as const,
  ),
  ...Object.entries({ fittedFile: 'fills.json', fittedSha256: 'a'.repeat(64) }).map(
    ([key, value]) =>
      [
        `paper.${key}`,
        { paper: { [key]: value } },
        'without paper.fills: fitted',
        { paper: { fills: 'fitted', fittedFile: 'fills.json', [key]: value } },
      ] as const,
  ),
  ['reference', { reference: BOOKS }, 'no quote depends on the reference price', { ...USED, reference: BOOKS }],
  ...Object.entries({ combine: 'weights', sourcesMin: 2, divergenceMaxBps: 1, moveBps: 5, basis: {} }).map(
    ([key, value]) =>
      [
        `reference.${key}`,
        { ...USED, reference: { ...BOOKS, [key]: value } },
        'has no effect without reference.sources',
        { ...USED, reference: { sources: SOURCES, [key]: value } },
      ] as const,
  ),
  [
    'reference.feeds.0.name',
    { ...USED, reference: { feeds: [{ name: 'desk', url: 'https://far.example/price' }] } },
    'without reference.sources',
    {
      ...USED,
      reference: {
        sources: [{ name: 'desk', books: ['btc_mxn'], from: { feed: 'desk' } }],
        feeds: [{ name: 'desk', url: 'https://far.example/price' }],
      },
    },
  ],
  [
    'reference.feeds.0.timeoutMs',
    { ...USED, reference: { feeds: [{ file: 'price', timeoutMs: 100 }] } },
    'because the feed is a file',
    { ...USED, reference: { feeds: [{ url: 'https://far.example/price', timeoutMs: 100 }] } },
  ],
  [
    'reference.sources.0.weight',
    { reference: { sources: [{ ...SOURCE, weight: 5 }, SOURCES[1]] } },
    'unless reference.combine is weights',
    { reference: { sources: [{ ...SOURCE, weight: 5 }, SOURCES[1]], combine: 'weights' } },
  ],
  [
    'reference.sources.0.feeBps',
    { reference: { sources: [{ ...SOURCE, feeBps: 5 }] } },
    'neither quotes nor reference.basis depend on this fee',
    { fairValue: { reference: { leave: {} } }, reference: { sources: [{ ...SOURCE, feeBps: 5 }] } },
  ],
  ...(['risk', 'flow'] as const).map(
    key =>
      [
        `hedge.${key}`,
        { hedge: { band: '0.02', [key]: key === 'risk' ? '2000 mxn' : FLOW } },
        'because hedge.band is set',
        { hedge: { risk: '2000 mxn', flow: FLOW } },
      ] as const,
  ),
  [
    'hedge.unwindMs',
    { hedge: { band: '0.02', unwindMs: 5_000 } },
    'without carryBpsPerHour',
    { hedge: { band: '0.02', unwindMs: 5_000, carryBpsPerHour: 1 } },
  ],
  [
    'hedge.quoteLifeMinMs',
    { hedge: { band: '0.02', venues: ['book'], quoteLifeMinMs: 1_000 } },
    'no allowed hedge accepts RFQ or conversion quotes',
    { hedge: { band: '0.02', quoteLifeMinMs: 1_000 } },
  ],
  ['pull', { pull: {} }, 'set leader or print', { pull: { print: { amount: '0.5' } } }],
  ...Object.entries({ withinBps: 5, beyond: 'widen' }).map(
    ([key, value]) =>
      [
        `rfqReference.${key}`,
        { rfqReference: { amount: '0.01', capsSkew: true, [key]: value } },
        'without thinBps',
        { rfqReference: { amount: '0.01', thinBps: 50, [key]: value } },
      ] as const,
  ),
  ['regimes', { regimes: {} }, 'set wide or reduceOnly', { regimes: { reduceOnly: { positionShare: 0.5 } } }],
  [
    'regimes.leaveShare',
    { regimes: { leaveShare: 0.5, reduceOnly: { drawdownShare: 0.5 } } },
    'without regimes.wide or regimes.reduceOnly.positionShare',
    { regimes: { leaveShare: 0.5, reduceOnly: { positionShare: 0.5 } } },
  ],
  [
    'regimes.calmMs',
    { regimes: { calmMs: 5, reduceOnly: { positionShare: 0.5 } } },
    'without regimes.wide',
    { regimes: { calmMs: 5, wide: { marketSpreadBps: 50 } } },
  ],
  [
    'regimes.wide',
    { regimes: { wide: { factor: 3 } } },
    'set volatilityBps, marketSpreadBps or depthMin',
    { regimes: { wide: { factor: 3, marketSpreadBps: 50 } } },
  ],
  [
    'regimes.wide.volatilityMemoryMs',
    { regimes: { wide: { marketSpreadBps: 50, volatilityMemoryMs: 20_000 } } },
    'without volatilityBps',
    { regimes: { wide: { volatilityBps: 50, volatilityMemoryMs: 20_000 } } },
  ],
  [
    'regimes.wide.depthBps',
    { regimes: { wide: { marketSpreadBps: 50, depthBps: 20 } } },
    'without depthMin',
    { regimes: { wide: { depthMin: '1', depthBps: 20 } } },
  ],
  [
    'regimes.reduceOnly',
    { regimes: { reduceOnly: {} } },
    'set positionShare or drawdownShare',
    { regimes: { reduceOnly: { drawdownShare: 0.5 } } },
  ],
  [
    'console.behindTls',
    { console: { behindTls: true } },
    'without tokens',
    { console: { behindTls: true, viewerTokenFile: './viewer.token' } },
  ],
];

const at = (tree: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((here, step) => (here as Record<string, unknown> | undefined)?.[step], tree);

function without(tree: object, path: readonly string[]): object {
  const copy = structuredClone(tree);
  delete (at(copy, path.slice(0, -1)) as Record<string, unknown>)[path.at(-1)!];
  return copy;
}

/** Default of `hedge.unwindMs`. */
const UNWIND_MS = Number(at(configSchema.parse({ ...SANDBOX, hedge: { band: '0.02' } }), ['hedge', 'unwindMs']));

/** Path of a key with `*` for the elements of lists, as in the table. */
const general = (key: string): string => key.replace(/\.\d+(?=\.)/g, '.*');

describe('a key that would have no effect', () => {
  test.each(CASES)('%s is reported with what it lacks, and accepted with it', (key, idle, says, withEffect) => {
    const line: unknown = expect.stringMatching(
      new RegExp(`^${key.replaceAll('.', '\\.')}: .*${says.replaceAll('.', '\\.')}`),
    );
    expect(linesOf(idle)).toContainEqual(line);
    expect(loaded(withEffect)).toMatchObject({ ok: true });
    expect(linesOf(withEffect).filter(text => text.startsWith(`${key}: `))).toEqual([]);
    const { ok, warnings } = loaded(idle);
    expect([ok, warnings.length > 0]).toEqual([true, true]);
  });

  test('is in the cases above for each row of the table', () => {
    expect([...new Set(CASES.map(([key]) => general(key)))].sort()).toEqual(
      IDLE_RULES.flatMap(({ keys }) => keys).sort(),
    );
  });

  test('is not reported if it has an effect in another live book of the embedded exchange', () => {
    const fees = { maker: '0.0001', taker: '0.0001' };
    const linesWith = (books: object) =>
      linesOf({ exchange: { kind: 'embedded', volume30d: '5', fees, market: { kind: 'flow', books } } });
    expect(linesWith({ btc_usd: {} })).toEqual([]);
    expect(linesWith({ btc_usd: { fees } })).toEqual([expect.stringMatching(/^exchange\.volume30d: has no effect/)]);
    expect(linesWith({ btc_usd: { fees }, btc_mxn: {} })).toHaveLength(1);
    const named = { kind: 'flow', books: { btc_mxn: { fees }, btc_usd: { fees } } };
    expect(linesOf({ exchange: { kind: 'embedded', volume30d: '5', market: named } })).toHaveLength(1);
  });

  test('is not reported of a file with errors, in which a book or section may be missing for the error', () => {
    const books = DESK['books'] as readonly Tree[];
    const [first, ...others] = books.map(book => ({ ...book, limits: { unknown: 1 } }));
    for (const wrong of [
      { ...DESK, books: [books[0], ...others] },
      { ...DESK, books: [first, ...books.slice(1)] },
      { ...DESK, log: 1 },
    ])
      expect(loadConfig(stringify(wrong), 'a.yaml')).toMatchObject({ ok: false, warnings: [] });
    expect(loadConfig(stringify(DESK), 'a.yaml')).toMatchObject({ ok: true, warnings: [] });
  });

  test('is not reported if its value is the default', () => {
    const defaults = { combine: 'median', sourcesMin: 1, divergenceMaxBps: 50, moveBps: 1 };
    expect(linesOf({ ...USED, reference: { ...BOOKS, ...defaults } })).toEqual([]);
  });
});

describe('a parameter of a study that would have no effect', () => {
  const inStudy = (
    key: string,
    { kept, values }: { readonly kept: object; readonly values: Record<string, unknown> },
  ) => parameterProblems({ [key]: { choice: values } }, { ...SANDBOX, ...kept });

  test.each(CASES)(
    '%s is refused with the same sentence, and accepted with what it lacks if a replay simulates it',
    (key, idle, says, withEffect) => {
      const path = key.split('.');
      const problems = inStudy(key, { kept: without(idle, path), values: { a: at(idle, path), b: at(idle, path) } });
      const isInList = general(key).includes('*');
      expect(problems.map(problem => problem.path)).toEqual([['parameters', key]]);
      expect(problems[0]!.message).toContain(isInList ? 'a study can only choose between whole lists' : says);
      const given = at(withEffect, path);
      if (given === undefined || isInList) return;
      const found = inStudy(key, { kept: without(withEffect, path), values: { a: given } });
      const section = unsimulatedKey(key);
      if (section === null) expect(found).toEqual([]);
      else expect(found[0]?.message).toContain(`does not simulate ${section}`);
    },
  );

  test('is accepted if another parameter gives it an effect, or if one of its own values has an effect', () => {
    const base = { ...SANDBOX, strategy: { ...LADDER, optimization: {} } };
    const depth = { 'strategy.optimization.depthAmount': { choice: ['0.1', '0.2'] } };
    expect(parameterProblems(depth, base)).toHaveLength(1);
    expect(parameterProblems({ ...depth, 'strategy.optimization.enabled': { choice: [false, true] } }, base)).toEqual(
      [],
    );
    const some = { choice: { none: {}, some: { print: { amount: '0.5' } } } };
    expect(parameterProblems({ pull: some }, SANDBOX)).toEqual([]);
  });

  test('is refused also if one end of its range is the default, which is not reported', () => {
    const base = { ...SANDBOX, hedge: { band: '0.02' } };
    const [before] = parameterProblems({ 'hedge.unwindMs': { integer: [UNWIND_MS, 2 * UNWIND_MS] } }, base);
    expect(before?.message).toMatch(
      /^all values of this parameter give the same bot: hedge\.unwindMs: has no effect without carry/,
    );
  });

  test('is refused if it has no effect at each value of its condition', () => {
    const levels = { integer: [1, 3] as [number, number] };
    const spread = { linear: [4, 40] as [number, number], when: { 'strategy.levels': [2, 3] } };
    const parameters = { 'strategy.levels': levels, 'strategy.halfSpreadBps': spread };
    expect(parameterProblems(parameters, SANDBOX)).toEqual([]);
    expect(parameterProblems(parameters, { ...SANDBOX, strategy: { ...LADDER, ...SIDES } })).toMatchObject([
      { path: ['parameters', 'strategy.halfSpreadBps'] },
    ]);
  });
});

/** Keys whose effect depends on no other key, or that another check reports, by their section. */
const OTHERS: readonly (readonly [section: string, keys: string])[] = [
  [
    'exchange',
    'seed engineDelayMs market balances fees port requestTimeoutMs stream authentication venue acceptUntried rfqUrl webhookUrl streamUrl',
  ],
  ['exchange.market', 'loop books imbalanceSignal'],
  ['exchange.market.books.*', 'lagMs noiseBps fees'],
  ['exchange.market.arbitrageur', 'costBps everyMs'],
  ['exchange.budgets', 'publicPerMinute privatePerMinute'],
  ['elsewhere', 'requestTimeoutMs stream seed port balances fees latencyMs leadMs spreadBps acceptUntried streamUrl'],
  ['elsewhere.noiseBps', 'here there'],
  ['elsewhere.basis', 'constantBps revertingBps revertingS walkBpsPerHour'],
  [
    'strategy',
    'reference bidSpreadBps askSpreadBps levels levelSpacingBps levelAmountStep refreshToleranceBps refreshMs maxOrderAgeMs amountTolerance priceCeiling priceFloor movingPriceBandPct minEdgeBps filledOrderDelayMs pingPong horizon solution anchorPrice lowPrice highPrice skewBpsAtLimit depthBps bpsPerDeviation memory maxAgeMs maxDivergenceBps weight basisMemory',
  ],
  ['strategy.skew', 'priceBpsAtLimit sizeRange'],
  ['strategy.optimization', 'enabled'],
  ['strategy.risk', 'per'],
  ['strategy.market', 'adverseBps profile estimate'],
  ['fairValue', 'mid weightedMid microprice lastTrades reference depthImbalance orderFlowImbalance'],
  ['fairValue.lastTrades', 'memory maxAgeMs'],
  ['fairValue.reference', 'maxAgeMs maxDivergenceBps basisMemory leave'],
  ['fairValue.reference.leave', 'source latencyMs volatilityBps memory riskZ edgeBps costMaxBps'],
  ['fairValue.depthImbalance', 'depthBps bpsPerDeviation memory'],
  ['fairValue.orderFlowImbalance', 'memory maxBps'],
  ['paper', 'fills balances volume30d fees latencyMs stateDir only'],
  ['limits', 'orderAmountMax priceMove'],
  ['limits.priceMove', 'windowMs'],
  ['halts', 'fillsPer10Min refusalsPerMinute unknownsPerMinute messagesPerMinute'],
  ['sentinel', 'required ttlMs'],
  ['reference', 'books everyMs sources feeds'],
  ['reference.sources.*.books.*', 'as from staleAfterMs frozenAfterMs'],
  ['reference.sources.*.books.*.from', 'streamUrl url'],
  ['reference.sources.*.from', 'streamUrl url'],
  ['reference.sources.*', 'from staleAfterMs frozenAfterMs amount'],
  ['reference.basis', 'sdBps revertMs driftBps errorMaxBps bandBps unknown'],
  ['reference.feeds.*', 'book url file price time'],
  ['', 'accountLimits books fillSamples hedge markouts nextTierCounts rfqReference webhooks alerts console'],
  ['hedge', 'band residual venues elsewhere routes costMaxBps costDayMax carryBpsPerHour everyMs pauseMs'],
  [
    'hedge.elsewhere',
    'valueMin quoteTarget failuresMax transferFeeMax transferMax transferWaitHours marginBps latencyMs riskZ volatilityBps backBps listingDelayMs',
  ],
  ['hedge.routes', 'riskBps waitMs'],
  ['backtest', 'fees'],
  [
    'backtest.desk',
    'spreadBps paddingBps lifeMs capacity refillMs delayMinMs delayMaxMs latencyMs failedShare refusedShare lostShare',
  ],
  ['markouts', 'horizonMs halfLifeMs minFills standardErrors toleratedBps widenBpsMax'],
  ['fillSamples', 'perHour lifeMs withinBps'],
  ['pull', 'leader print'],
  ['pull.leader', 'share marginBps basisMemoryMs maxAgeMs'],
  ['pull.print', 'withinMs holdMs'],
  ['rfqReference', 'everyMs staleAfterMs thinBps capsSkew'],
  ['regimes.wide', 'factor volatilityBps marketSpreadBps depthMin'],
  ['regimes.reduceOnly', 'positionShare drawdownShare'],
  ['inventory', 'target'],
  ['accountLimits', 'currencies value'],
  ['jointInventory', 'currency sampleMs halfLifeMs'],
  ['crossRates', 'withinMs'],
  [
    'timing',
    'decideEveryMs bookPollMs privatePollMs staleAfterMs requestDelayMaxMs tradeReportDelayMaxMs transferListDelayMaxMs shutdownMs',
  ],
  ['metrics', 'host port allowedHosts'],
  ['state', 'dir'],
  ['journal', 'rollHours keepMb'],
  ['webhooks', 'host callbackUrl sources proxies signature keep keepMb'],
  ['alerts', 'webhook telegram messagesPer10Min digestAt'],
  ['alerts.webhook', 'url'],
  ['alerts.telegram', 'url remote'],
  ['alerts.telegram.remote', 'resume besideRun'],
  [
    'alerts.events',
    'down halted ledgerDiffers sentinelGone diskLow bookStale ordersUnknown notQuoting sourceLost sourceDivergent hedgeDebt reduceOnly drawdownNear dayLossNear ordersRefused oneSided requestsSlow requestsFailing budgetSpent loopSlow noFills wide started stopped fill digest',
  ],
  ['console', 'besideRun host port allowedHosts operatorTokenFile viewerTokenFile'],
  ['log', 'level'],
];

type Node = z.core.$ZodType;
const bare = (schema: Node): Node =>
  schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional
    ? bare(schema.unwrap())
    : schema;

/** Returns the paths of all keys and sections that a configuration may omit, with their schemas. */
function optionalKeys(schema: Node, path = ''): readonly (readonly [path: string, schema: Node])[] {
  const inner = bare(schema);
  const own = inner === schema || path === '' ? [] : [[path, inner] as const];
  if (inner instanceof z.ZodUnion) return [...own, ...inner.options.flatMap(option => optionalKeys(option, path))];
  if (inner instanceof z.ZodArray) return [...own, ...optionalKeys(inner.element, `${path}.*`)];
  if (inner instanceof z.ZodRecord) return [...own, ...optionalKeys(inner.valueType, `${path}.*`)];
  if (!(inner instanceof z.ZodObject)) return own;
  const members: readonly (readonly [string, Node])[] = Object.entries(inner.shape);
  const below = members.flatMap(([key, member]) => optionalKeys(member, path === '' ? key : `${path}.${key}`));
  return [...(schema instanceof z.ZodPrefault ? [] : own), ...below];
}

test('every key that a configuration may omit is in the table, or among the others', () => {
  const others = OTHERS.flatMap(([section, keys]) =>
    keys.split(' ').map(key => (section === '' ? key : `${section}.${key}`)),
  );
  const known = [...others, ...IDLE_RULES.flatMap(({ keys }) => keys)];
  expect(new Set(known).size).toBe(known.length);
  expect([...new Set(optionalKeys(configSchema).map(([path]) => path))].sort()).toEqual(known.sort());
});

/** Values for any key; only those that the schema of the key accepts are tried. */
const VALUES: readonly unknown[] = [
  ...[true, false, 2, 0.5, 3, 150, 1_500, 70_000, '0.01', '5', '2000 mxn', 'weights', 'zero', 'exchange'],
  ...[{}, FLOW, { via: ['usd'] }, ['book'], ['rfq'], { ccxt: 'near' }, ['btc_eur', 'eur_mxn'], 'https://a.example'],
];

const BASES: readonly object[] = [
  { ...USED, reference: BOOKS },
  {
    ...USED,
    exchange: REMOTE,
    reference: { ...BOOKS, feeds: [{ book: 'btc_usd', url: 'https://far.example/price' }] },
  },
  { ...USED, reference: { sources: SOURCES } },
  { ...USED, reference: { sources: SOURCES, combine: 'weights', basis: {} } },
  { hedge: { band: '0.02' } },
  { hedge: { band: '0.02', carryBpsPerHour: 1, routes: { via: ['usd'] } } },
  { hedge: { risk: '2000 mxn', flow: FLOW } },
];

/** Keys that only bound another key, so that some of their values change nothing. */
const BOUNDS = ['reference.everyMs'];

/** Returns the options of the reference price and the hedges of a bot, as text. */
const builtFrom = (config: Config): string =>
  JSON.stringify([externalReferenceOf(config), liveSourcesOf(config), hedgePlanOf(config)], (_, value: unknown) =>
    value instanceof Map ? [...value] : typeof value === 'bigint' ? String(value) : value,
  );

const atPath = (tree: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((at, step) => (at as Readonly<Record<string, unknown>> | undefined)?.[step], tree);

test.each(BASES)('a key of %j that is accepted without a warning changes what the bot is built from', base => {
  const first = loaded(base);
  if (!first.ok) throw new Error(first.errors.join('\n'));
  const before = builtFrom(first.config);
  const keys = optionalKeys(configSchema).filter(
    ([path]) => /^(reference|hedge)\./.test(path) && !BOUNDS.includes(path),
  );
  const silent: string[] = [];
  let tried = 0;
  for (const [name, schema] of keys) {
    const path = name.replaceAll('*', '0').split('.');
    for (const value of VALUES.filter(each => z.safeParse(schema, each).success)) {
      const changed = structuredClone({ ...SANDBOX, ...base });
      const section = atPath(changed, path.slice(0, -1));
      if (typeof section !== 'object' || section === null) continue;
      Object.assign(section, { [path.at(-1)!]: value });
      const found = loadConfig(stringify(changed), 'a.yaml');
      if (!found.ok || found.warnings.length > 0 || isDeepStrictEqual(found.config, first.config)) continue;
      tried += 1;
      if (builtFrom(found.config) === before) silent.push(`${name}: ${JSON.stringify(value)}`);
    }
  }
  expect(silent).toEqual([]);
  expect(tried).toBeGreaterThan(0);
});
