/** Check of a strategy file: every law with drawn views, without a test runner. The draws are the same at each check. */
import { isDeepStrictEqual } from 'node:util';
import {
  amount,
  emptyDepth,
  instrumentOf,
  price,
  randomOf,
  type Depth,
  type Instrument,
  type Random,
  type Side,
  type Strategy,
  type View,
} from '../../core/index.ts';
import {
  definitionIn,
  FILE_LAW,
  isTimeAllowed,
  isToleranceAllowed,
  oneLine,
  STRATEGY_LAWS,
  StrategyFileError,
  thrownText,
  WARMUP_MAX_MS,
  type FileDefinition,
  type LimitsAsked,
  type StrategyCode,
} from '../../../strategies/index.ts';

export type StrategyVerdict = {
  /** Sentence of the law. */
  readonly law: string;
  /** Text with the violation; `null` if the strategy obeys. */
  readonly violation: string | null;
};

/** Number of drawn series of views for each law, and of views in a series. */
const SERIES = 40;
const VIEWS = 8;
/** Number of views in one longer series, in which an error at a late call breaks most laws. */
const LONG_VIEWS = 150;

/** Values of common parameters without a default. */
const USUAL: Readonly<Record<string, unknown>> = { amount: '0.01', halfSpreadBps: 30 };

/**
 * Checks a strategy file. `parameters`: its keys in a configuration; `null` for their defaults.
 * @throws StrategyFileError if the file is no strategy, or a parameter has no value.
 */
export function strategyVerdicts(
  of: StrategyCode,
  parameters: Readonly<Record<string, unknown>> | null,
): readonly StrategyVerdict[] {
  const functions = functionsVerdict(of, parameters);
  const { make, instrument } = checkedFile(of, parameters);
  const laws = [...STRATEGY_LAWS, FILE_LAW].map(({ name: law, violation }, i) => {
    // Views of its own for each law: a file that remembers those of another law would know these in advance.
    const random = randomOf(1 + i);
    for (let n = 0; n < SERIES; n++) {
      const views = drawnViews(random, instrument, [1, LONG_VIEWS][n] ?? VIEWS);
      try {
        const found = violation(make, views);
        if (found !== null) return { law, violation: found };
      } catch (error) {
        return { law, violation: thrownText(error, of.file) };
      }
    }
    return { law, violation: null };
  });
  return [functions, ...laws];
}

/** Checks the optional functions of a strategy file. Arguments and errors are those of `strategyVerdicts`. */
export function functionsVerdict(
  of: StrategyCode,
  parameters: Readonly<Record<string, unknown>> | null,
): StrategyVerdict {
  const { definition, values, make } = checkedFile(of, parameters);
  return { law: FUNCTIONS_LAW, violation: functionViolation(of.file, definition, values, make) };
}

function checkedFile(of: StrategyCode, parameters: Readonly<Record<string, unknown>> | null) {
  const definition = definitionIn(of);
  const { shape } = definition.parameters;
  const usual = Object.fromEntries(Object.entries(USUAL).filter(([key]) => key in shape));
  const parsed = definition.parameters.safeParse(parameters ?? usual);
  if (!parsed.success) {
    const [first] = parsed.error.issues;
    const key = first?.path.map(String).join('.');
    throw new StrategyFileError(
      `${of.file}: parameters: ${key}: ${first?.message}; pass -c CONFIG, a configuration with the values of this strategy`,
    );
  }
  const [values, instrument] = [parsed.data, Object.freeze(checkedInstrument())];
  return { definition, values, instrument, make: () => definition.make(values, instrument) };
}

export const FUNCTIONS_LAW =
  'edgeProblem, limitProblems, tolerance, warmup and history return what the contract says, and always the same';

/** Returns what an optional function of the file does wrong; `null` if each obeys the contract. */
function functionViolation(
  file: string,
  definition: FileDefinition,
  parameters: object,
  make: () => Strategy,
): string | null {
  const limits: readonly LimitsAsked[] = ['0.00001', '1', '500'].flatMap(positionMax =>
    [1, 200].map(ordersMax => ({ positionMax, ordersMax, collarBps: 200 })),
  );
  const calls: readonly (readonly [
    name: string,
    call: () => unknown,
    isValid: (found: unknown) => boolean,
    expected: string,
  ])[] = [
    ...[0, 100_000, 650_000, 5_000_000].map(
      rate =>
        ['edgeProblem', () => definition.edgeProblem(parameters as never, rate), isTextOrNull, 'text or null'] as const,
    ),
    ...limits.map(
      asked =>
        [
          'limitProblems',
          () => definition.limitProblems(parameters as never, asked, 'btc_mxn'),
          isProblems,
          '[{ key, message }]',
        ] as const,
    ),
    [
      'tolerance',
      () => definition.tolerance(parameters as never),
      isToleranceAllowed,
      'priceBps, amountShare and maxAgeMs, numbers of at least 0',
    ],
  ];
  for (const [name, call, isValid, expected] of [...calls, ...timeCalls(definition, parameters)]) {
    try {
      const found = call();
      if (!isValid(found)) return `${name}: expected ${expected}, found ${oneLine(found)}`;
      if (!isDeepStrictEqual(call(), found)) return `${name}: two calls with the same values gave different results`;
    } catch (error) {
      return thrownText(error, file, name);
    }
  }
  try {
    const isDeaf = definition.history(parameters as never) > 0 && make().trade === undefined;
    return isDeaf ? 'history: expected a strategy with the function trade' : null;
  } catch {
    // The laws report an error of `make`.
    return null;
  }
}

const timeCalls = (definition: FileDefinition, parameters: object) =>
  (['warmup', 'history'] as const).map(
    key =>
      [
        ...([key, () => definition[key](parameters as never), isTimeAllowed] as const),
        `ms of at least 0 and at most ${WARMUP_MAX_MS}`,
      ] as const,
  );

const isTextOrNull = (found: unknown): boolean => found === null || (typeof found === 'string' && found !== '');
const isProblems = (found: unknown): boolean =>
  Array.isArray(found) &&
  found.every(one => {
    const { key, message } = (one ?? {}) as { readonly key?: unknown; readonly message?: unknown };
    return typeof key === 'string' && typeof message === 'string';
  });

/** Book like btc_mxn: one bps at a price of 150,000 ticks is 15 ticks. */
const checkedInstrument = (): Instrument =>
  instrumentOf({
    ...{ book: 'btc_mxn', tickSize: '10', minimumPrice: '10', maximumPrice: '20000000' },
    ...{ minimumAmount: '0.00001', maximumAmount: '500', minimumValue: '10', maximumValue: '200000000' },
  });

const COIN = 100_000_000;

/** Returns a series of two-sided books around a moving price, with any inventory. */
function drawnViews(random: Random, instrument: Instrument, count: number): readonly View[] {
  const nullable = <T>(value: T): T | null => (random.next() < 0.3 ? null : value);
  let bid = random.integer(1_000, 1_900_000);
  // Each series is at a time of its own, so that no earlier one is a memory of it.
  let at = random.integer(1_000_000, 2_000_000_000);
  return Array.from({ length: count }, (): View => {
    bid = Math.max(1_000, bid + random.integer(-30, 30));
    at += random.integer(1, 5_000);
    const gap = random.integer(1, 2_000);
    const mid = bid + gap / 2;
    const fill = (side: Side) => nullable({ at: at - random.integer(0, 60_000), side, price: price(bid) });
    return {
      ...{ at, instrument, mid, depth: drawnDepth(random, bid, bid + gap) },
      ...{ lastTrade: price(random.next() < 0.2 ? 0 : bid), hearsTrades: random.next() < 0.8 },
      reference: nullable({ at: at - random.integer(0, 10_000), price: mid + random.integer(-50, 50) }),
      ...{ position: random.integer(-COIN, COIN), positionMax: amount(COIN) },
      ...{ makerRate: random.integer(0, 700_000), takerRate: 800_000 },
      widenBps: { buy: random.integer(0, 3), sell: random.integer(0, 3) },
      ...{ lastBuy: fill('buy'), lastSell: fill('sell') },
    };
  });
}

function drawnDepth(random: Random, bid: number, ask: number): Depth {
  const levels = random.integer(1, 50);
  const depth = emptyDepth(levels);
  for (let i = 0; i < levels; i++) {
    depth.bidPrices[i] = bid - 3 * i;
    depth.askPrices[i] = ask + 3 * i;
    depth.bidAmounts[i] = random.integer(1, 50 * COIN);
    depth.askAmounts[i] = random.integer(1, 50 * COIN);
  }
  return Object.assign(depth, { bids: levels, asks: levels });
}
