/** Strategy files: the section that selects one, and the definition in its text. */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { RequoteTolerance, Strategy } from '../src/core/index.ts';
import * as contractModule from './contract.ts';
import { CONTRACT, WARMUP_MAX_MS, type OwnDefinition } from './contract.ts';
import { assertNoPromise, foundText, StrategyFileError } from './ownFiles/fileErrors.ts';
import { compiledFile } from './ownFiles/ownCode.ts';
import { levelProblems, toleranceOf } from './parameters.ts';

/**
 * Part of a `strategy` section that selects a file. The other keys of the section are the parameters of the strategy.
 */
export type StrategyFile = {
  /** Name in reports: the file name, `@`, and the first 12 digits of `sha256`, or `unread` if the text is unknown. */
  readonly name: `${string}@${string}`;
  /** Path as in the configuration. */
  readonly file: string;
  /** SHA-256 (hex) of the text; absent if the text is unknown. */
  readonly sha256?: string;
  /**
   * Text of the file. Only the reader of a configuration adds this key, and only if the command may run the file; in a
   * YAML file, the key is an error. Absent in recorded configurations, and in commands that do not trade.
   */
  readonly code?: string;
  /** Result of the function `tolerance` of the file, so that a replay needs no code. */
  readonly tolerance?: RequoteTolerance;
  /** Folder of a tape with the public trades from before a run; absent if there is none. */
  readonly historyTape?: string;
};

/** Section whose file may be run. */
export type StrategyCode = StrategyFile & { readonly code: string };

/** Returns the keys of a section that identify a file with this text. `text` is `null` if it is unknown. */
export function strategyIdentity(file: string, text: string | null): Pick<StrategyFile, 'name' | 'file' | 'sha256'> {
  if (text === null) return { name: `${baseOf(file)}@unread`, file };
  const { code: _, ...identity } = strategyFileOf(file, text);
  return identity;
}

/** Returns the section that runs a file with this text. */
export function strategyFileOf(file: string, code: string): StrategyCode & { readonly sha256: string } {
  const sha256 = createHash('sha256').update(code).digest('hex');
  return { name: `${baseOf(file)}@${sha256.slice(0, 12)}`, file, sha256, code };
}

const baseOf = (file: string): string => file.split(/[\\/]/).at(-1) ?? file;

/** Keys that every section with a file has; parameters must have other names. */
const RESERVED = ['name', 'file', 'sha256', 'code', 'tolerance', 'historyTape'] as const;

/** Maximum number of definitions in the cache; the least recently used one is dropped first. */
const REMEMBERED_MAX = 16;
const remembered = new Map<string, FileDefinition>();

/** Definition in a strategy file, with defaults for the functions that the file omits. */
export type FileDefinition = OwnDefinition &
  Required<Pick<OwnDefinition, 'edgeProblem' | 'limitProblems' | 'tolerance' | 'warmup' | 'history'>>;

/**
 * Returns the definition in a strategy file.
 * @throws StrategyFileError if the text is not a strategy of this contract.
 */
export function definitionIn({ file, code }: Pick<StrategyCode, 'file' | 'code'>): FileDefinition {
  const key = `${file}\n${code}`;
  const known = remembered.get(key);
  if (known !== undefined) {
    remembered.delete(key);
    remembered.set(key, known);
    return known;
  }
  const evaluate = compiledFile(file, code, {
    ...{ noun: 'strategy', define: 'defineStrategy', module: contractModule },
    given: 'use only the view and the trades (view.at is the time of the decision)',
  });
  const first = definitionOf(file, evaluate());
  const {
    edgeProblem = () => null,
    limitProblems = (p, limits) => levelProblems({ ...LEVELS, ...p }, limits),
    warmup = () => 0,
    history = () => 0,
    tolerance = p => toleranceOf({ ...LEVELS, ...p }),
  } = first;
  const definition: FileDefinition = {
    ...first,
    edgeProblem: (p, makerRate) => assertNoPromise('edgeProblem', edgeProblem(p, makerRate)),
    limitProblems: (p, limits, book) => assertNoPromise('limitProblems', limitProblems(p, limits, book)),
    warmup: p => assertNoPromise('warmup', warmup(p)),
    history: p => assertNoPromise('history', history(p)),
    tolerance: p => assertNoPromise('tolerance', tolerance(p)),
    // Evaluates the file again for each strategy, so that runs in one process do not share variables of the file.
    make: (parameters, instrument) =>
      withoutPromises(assertNoPromise('make', definitionOf(file, evaluate()).make(parameters, instrument))),
  };
  const [oldest] = remembered.keys();
  if (oldest !== undefined && remembered.size >= REMEMBERED_MAX) remembered.delete(oldest);
  remembered.set(key, definition);
  return definition;
}

/**
 * Returns a strategy that throws instead of returning a promise. A value that is not a strategy is returned unchanged.
 */
function withoutPromises(made: Strategy): Strategy {
  if (typeof (made as Strategy | undefined)?.quote !== 'function') return made;
  return {
    quote: view => assertNoPromise('quote', made.quote(view)),
    ...(made.trade !== undefined && { trade: trade => assertNoPromise('trade', made.trade?.(trade)) }),
  };
}

/** Defaults of common parameters that a file may not have. */
const LEVELS = { amount: '0', levels: 1, refreshToleranceBps: 2, maxOrderAgeMs: 1_800_000 };

/** Metadata of the keys that a reader adds to a section; a YAML file cannot have these keys. */
const ADDED = { isAddedByReader: true };

/** Returns the schema of a section that selects this file. */
export const sectionSchema = ({ parameters, tolerance, warmup, history }: FileDefinition): z.ZodObject =>
  parameters
    .strict()
    .safeExtend({
      ...{ file: z.string(), historyTape: z.string().min(1).optional(), sha256: z.string() },
      ...{ name: z.string().meta(ADDED), code: z.string().meta(ADDED) },
      tolerance: z
        .strictObject({ priceBps: z.number(), amountShare: z.number(), maxAgeMs: z.number() })
        .readonly()
        .optional()
        .meta(ADDED),
    })
    .superRefine((section, context) => {
      const wrong = (message: string) => context.addIssue({ code: 'custom', path: ['file'], message });
      if (!survivesJson(section))
        wrong('expected a file whose parameters are JSON values after the check, without transformations');
      if (!isToleranceAllowed(tolerance(section)))
        wrong(
          'expected a file whose function tolerance returns priceBps, amountShare and maxAgeMs, numbers of at least 0',
        );
      for (const [key, ms] of [
        ['warmup', warmup(section)],
        ['history', history(section)],
      ] as const)
        if (!isTimeAllowed(ms)) wrong(`expected a file whose function ${key} returns 0 to ${WARMUP_MAX_MS} ms`);
      if (section['historyTape'] !== undefined && !(history(section) > 0))
        context.addIssue({
          ...{ code: 'custom', path: ['historyTape'] },
          message: 'expected no tape, because the strategy file needs no history',
        });
    });

/** Whether a result of `warmup` or `history` is allowed: ms from 0 to `WARMUP_MAX_MS`. */
export const isTimeAllowed = (ms: unknown): boolean => typeof ms === 'number' && ms >= 0 && ms <= WARMUP_MAX_MS;

/** Whether a result of `tolerance` is allowed. */
export function isToleranceAllowed(found: unknown): boolean {
  const values = (found ?? {}) as Readonly<Record<string, unknown>>;
  return ['priceBps', 'amountShare', 'maxAgeMs'].every(key => {
    const value = values[key];
    return typeof value === 'number' && Number.isFinite(value) && value >= 0;
  });
}

function survivesJson(value: unknown): boolean {
  try {
    // A clone, because a default value of the file has the prototypes of the realm of the file.
    return isDeepStrictEqual(JSON.parse(JSON.stringify(value)), structuredClone(value));
  } catch {
    return false;
  }
}

function definitionOf(file: string, found: unknown): OwnDefinition {
  const fail = (expected: string, was: unknown, remedy: string) =>
    new StrategyFileError(`${file}: ${expected}, found ${foundText(was)}; ${remedy}`);
  const write = 'write export default defineStrategy({ … })';
  if (typeof found !== 'object' || found === null)
    throw fail('expected a strategy as the default export', found, write);
  const { contract, parameters, make, ...rest } = found as Readonly<Record<string, unknown>>;
  if (contract !== CONTRACT)
    throw fail(`expected contract: ${CONTRACT}`, contract, `this Puntas runs strategies of contract ${CONTRACT} only`);
  if (!(parameters instanceof z.ZodObject))
    throw fail(
      'parameters: expected a zod object',
      parameters,
      'write z.strictObject({ … }) with z from puntas/strategy',
    );
  const { shape } = parameters;
  const reserved = RESERVED.find(key => key in shape);
  if (reserved !== undefined)
    throw new StrategyFileError(
      `${file}: parameters: ${reserved} is a reserved key of strategy files; rename the parameter`,
    );
  if (!('amount' in shape))
    throw fail('parameters: expected the key amount', Object.keys(shape).join(', '), 'add amount: aboveZero');
  if (typeof make !== 'function')
    throw fail('make: expected a function', make, 'write a function that returns a strategy with quote(view)');
  for (const key of ['edgeProblem', 'limitProblems', 'tolerance', 'warmup', 'history'] as const)
    if (rest[key] !== undefined && typeof rest[key] !== 'function')
      throw fail(`${key}: expected a function`, rest[key], 'correct or remove it');
  return found as OwnDefinition;
}
