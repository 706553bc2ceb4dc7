/**
 * `puntas new-strategy`: writes the smallest strategy that passes the common tests, with folder, index entry,
 * configuration and test.
 */
import { readRegularFile, TEXT_FILE, writeOutputFile } from '../../guard/index.ts';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../../wiring/usageError.ts';

/** Name of a strategy: lower-case words with digits, separated by dashes, as in avellaneda-stoikov. */
const NAME = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;

/**
 * Writes a strategy into a checkout of the sources; overwrites nothing. Returns the paths that were written or changed.
 * The index is changed last, so that a repetition of a killed command completes the work.
 */
export function newStrategy(root: string, name: string): readonly string[] {
  if (!(NAME.test(name) && name.length <= 40)) {
    throw new UsageError(`expected a name of lower-case letters, digits and dashes, like order-flow; found ${name}`);
  }
  const index = join(root, 'strategies/index.ts');
  if (!existsSync(index)) {
    throw new UsageError(
      `${root}: no strategies/index.ts; run this command in a checkout of the sources, or pass the folder of a checkout with --root`,
    );
  }
  const word = name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
  const files = filesOf(name, word);
  const before = readRegularFile(index, TEXT_FILE);
  const isListed = before.includes(importOf(name, word));
  for (const [path, text] of Object.entries(files)) {
    const isFromKilled = (place: string): boolean => !isListed && readRegularFile(place, TEXT_FILE) === text;
    if (existsSync(join(root, path)) && !isFromKilled(join(root, path)))
      throw new UsageError(`${path} already exists; choose another name, or remove the existing strategy first`);
  }
  const after = indexWith(before, name, word);
  for (const [path, text] of Object.entries(files)) writeOutputFile(join(root, path), text);
  writeOutputFile(index, after);
  return ['strategies/index.ts', ...Object.keys(files)];
}

function indexWith(text: string, name: string, word: string): string {
  const start = text.indexOf('\nexport const strategies = byName({\n');
  const end = text.indexOf('});\n', start);
  if (start < 1 || end < 0 || text.slice(start, end).includes('}')) {
    throw new UsageError(
      'strategies/index.ts has an unexpected form; add the strategy to this file manually (docs/strategies.md)',
    );
  }
  const line = importOf(name, word);
  return `${text.slice(0, start)}${line}${text.slice(start, end)}  ${word},\n${text.slice(end)}`;
}

const importOf = (name: string, word: string): string => `import { ${word} } from './${name}/strategy.ts';\n`;

type Names = {
  /** Name of the strategy in the configuration. */
  readonly name: string;
  /** Prefix of the strategy's function names. */
  readonly word: string;
  /** Name of the strategy's parameter type. */
  readonly type: string;
};

function filesOf(name: string, word: string): Readonly<Record<string, string>> {
  const names = { name, word, type: `${word[0]?.toUpperCase() ?? ''}${word.slice(1)}Parameters` };
  return {
    [`strategies/${name}/parameters.ts`]: parametersFile(names),
    [`strategies/${name}/strategy.ts`]: strategyFile(names),
    [`strategies/${name}/README.md`]: readmeFile(names),
    [`config/${name}.yaml`]: configurationFile(names),
    [`test/strategies/${word}.test.ts`]: testFile(names),
  };
}

const parametersFile = ({
  name,
  word,
  type,
}: Names): string => `/** The parameters of ${name} as they stand in the YAML. */
import { z } from 'zod';
import { spreadEdgeProblem, spreadLimitProblems, spreadParameters } from '../fixedSpread.ts';
import type { LimitProblem, LimitsAsked } from '../parameters.ts';

/** Every key of your own with .describe(): what it means, its unit, and what happens if it is omitted. */
export const ${word}Parameters = z.strictObject({ ...spreadParameters });

export type ${type} = z.infer<typeof ${word}Parameters>;

/** The last number is the maximum distance of your fair value from the configured one (default: the mid price), in bps. */
export const ${word}LimitProblems = (p: ${type}, limits: LimitsAsked): readonly LimitProblem[] =>
  spreadLimitProblems(p, limits, 0);

/** Null, or why the spread does not earn this maker fee, in parts of 10^-8. */
export const ${word}EdgeProblem = (p: ${type}, makerRate: number): string | null =>
  spreadEdgeProblem(p, makerRate);
`;

const strategyFile = ({ name, word, type }: Names): string => `/** Say here in one sentence what ${name} is for. */
import { amountFloor } from '../../src/core/index.ts';
import type { Instrument, Strategy } from '../../src/core/index.ts';
import { defineStrategy } from '../defineStrategy.ts';
import { quoteAround, SPREAD_STEPS, spreadTuning } from '../fixedSpread.ts';
import { spreadFromMarket } from '../fromMarket.ts';
import { toleranceOf } from '../parameters.ts';
import { fairSteps, silent, unknownIn } from '../quoteLevels.ts';
import { ${word}EdgeProblem, ${word}LimitProblems, ${word}Parameters } from './parameters.ts';
import type { ${type} } from './parameters.ts';

export const ${word} = defineStrategy({
  name: '${name}',
  summary: 'A spread around the mid price, skewed against inventory.',
  needs: 'a spread',
  parameters: ${word}Parameters,
  // Every step that its prices may have: what it means.
  steps: { ...SPREAD_STEPS },
  // Keys that tuning varies, with their ranges: linear, log or among of ../tuning.ts.
  tuning: { ...spreadTuning },
  // Parameters for a market, for puntas compare; or a text that says why none follow from it.
  fromMarket: (terms, feeBps) => ({ ...spreadFromMarket(terms, feeBps) }),
  make: quoting,
  edgeProblem: ${word}EdgeProblem,
  limitProblems: ${word}LimitProblems,
  tolerance: toleranceOf,
});

/** Describe here what the strategy remembers between two quotes. The template remembers nothing. */
function quoting(p: ${type}, instrument: Instrument): Strategy {
  const lots = amountFloor(instrument, p.amount);
  return {
    quote(view) {
      const unknown = unknownIn(view);
      if (unknown !== null) return silent(unknown);
      // Your fair value as steps in ticks; puntas explain shows each step.
      return quoteAround(p, lots, view, [...fairSteps(view)]);
    },
  };
}
`;

const readmeFile = ({ name }: Names): string => `# ${name}

One sentence: what the strategy quotes, and around which price.

![quotes against inventory](quotes.svg)

**Idea.** Why this should earn money.

**Formula**. The formula, with its source.

**When it loses.** Markets in which this strategy loses money.

## Parameters

All keys with bounds: [docs/configuration.md](../../docs/configuration.md).

<!-- Generated from what each strategy says of itself, up to the next mark. -->

<!-- By hand again. -->
`;

const configurationFile = ({ name }: Names): string => `# yaml-language-server: $schema=./schema.json
# ${name} on the embedded exchange.

book: btc_mxn
instance: ${name.replaceAll('-', '').slice(0, 12)}

exchange:
  kind: embedded
  seed: 1
  market: { kind: flow }
  balances: { btc: '1.5', mxn: '2000000' }
  # The best fee tier of the mxn books, 0.100% for the maker.
  volume30d: '200000000'

strategy:
  name: ${name}
  # A round trip costs two maker fees, 20 bps at this tier.
  halfSpreadBps: 16
  levels: 3
  levelSpacingBps: 6
  amount: '0.006'
  skewBpsAtLimit: 10
  refreshToleranceBps: 4

limits:
  positionMax: '0.1'
  orderValueMax: '50000'
  ordersMax: 12
  collarBps: 200
  drawdownMax: '5000'
  dayLossMax: '5000'

inventory:
  target: '1.5'
`;

const testFile = ({ name }: Names): string => `import { expect, test } from 'vitest';
import { strategyOf, viewOf } from './examples.ts';

// all.test.ts and shipped.test.ts test every strategy; test here what only this one does.
test('quotes on both sides of the mid price', () => {
  const { bids, asks } = strategyOf('${name}').quote(viewOf());
  expect(bids[0]!.price).toBeLessThan(viewOf().mid);
  expect(asks[0]!.price).toBeGreaterThan(viewOf().mid);
});
`;
