/** Sections that select a strategy file: the text of the file becomes part of the configuration. */
import type { z } from 'zod';
import { textOfError } from '../core/index.ts';
import {
  definitionIn,
  sectionSchema,
  StrategyFileError,
  strategyFileOf,
  type StrategyFile,
} from '../../strategies/index.ts';
import type { Problem } from './problems.ts';
import type { StrategyConfig } from './sections/strategy.ts';

/** Returns the schema of a section with a strategy file; `null` if the section selects no valid strategy file. */
export function strategyFileKeys(section: unknown): z.ZodType<StrategyConfig> | null {
  if (!hasCode(section)) return null;
  try {
    return sectionSchema(definitionIn(section)) as unknown as z.ZodType<StrategyConfig>;
  } catch (error) {
    if (error instanceof StrategyFileError) return null;
    throw error;
  }
}

const hasCode = (section: unknown): section is StrategyFile => isTree(section) && typeof section['code'] === 'string';

type Tree = Readonly<Record<string, unknown>>;
const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null;

/**
 * Adds the text of a strategy file to a parsed configuration. `read` returns the text of the file at a path, or throws
 * an error with the reason. Configurations without a strategy file are returned unchanged.
 */
export function withStrategyFile(
  value: unknown,
  read: (file: string) => string,
): { readonly value: unknown; readonly problems: readonly Problem[] } {
  const section = isTree(value) ? value['strategy'] : undefined;
  if (!isTree(section) || !('file' in section)) return { value, problems: [] };
  const problem = (key: string, message: string) => ({ value, problems: [{ path: ['strategy', key], message }] });
  const { name, file, code, ...parameters } = section;
  if (name !== undefined) return problem('name', 'a strategy has a name or a file; remove one of these two keys');
  if (code !== undefined) return problem('code', 'unknown key; remove it');
  if (typeof file !== 'string' || file === '') return problem('file', 'expected a path like "./my-strategy.ts"');
  try {
    const own = strategyFileOf(file, read(file));
    const filled = { ...own, ...parameters };
    // The check runs code of the file; an error of this code must not end the command without the name of the file.
    sectionSchema(definitionIn(own)).safeParse(filled);
    return { value: { ...(value as Tree), strategy: filled }, problems: [] };
  } catch (error) {
    return problem('file', error instanceof StrategyFileError ? error.message : `${file}: ${textOfError(error)}`);
  }
}

/** Returns a parsed configuration as an operator writes it: with the path of a strategy file only. */
export function withoutStrategyText<T extends Tree>(tree: T): T {
  const section = tree['strategy'];
  if (!hasCode(section)) return tree;
  const { name: _, code: __, ...written } = section;
  return { ...tree, strategy: written };
}

/** Returns the text of the strategy file of a configuration, checked or as parsed; `undefined` if it has none. */
export const strategyTextIn = ({ strategy }: { readonly strategy?: unknown }): string | undefined =>
  hasCode(strategy) ? strategy.code : undefined;
