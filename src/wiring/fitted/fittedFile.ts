/** Parameter file of the fill model `fitted`, as written by `puntas calibrate --fills`. */
import { createHash } from 'node:crypto';
import { textOfError } from '../../core/index.ts';
import { parsedHypotheses, type WeightedHypothesis } from '../../fills/index.ts';
import { pathLine, readRegularFile, TEXT_FILE } from '../../guard/index.ts';

/** `hash`: SHA-256 of the file. `fallback`: reason why the model works like `expected`; `null` if it is a fit. */
export type FittedFile = {
  readonly hypotheses: readonly WeightedHypothesis[];
  readonly hash: string;
  readonly fallback: string | null;
};

/** Reads the parameters for a book. Returns one line with the name of the file and the reason if it cannot be used. */
export function readFittedFile(file: string, book: string): FittedFile | string {
  let text: string;
  try {
    text = readRegularFile(file, TEXT_FILE);
  } catch (error) {
    return pathLine(file, error, 'read', 'write the file with puntas calibrate --fills');
  }
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    return `${file}: ${textOfError(error)}`;
  }
  const hypotheses = parsedHypotheses(parsed, book);
  if (typeof hypotheses === 'string') return `${file}: ${hypotheses}`;
  const { fallback } = parsed as { readonly fallback?: unknown };
  return {
    hypotheses,
    hash: createHash('sha256').update(text).digest('hex'),
    fallback: typeof fallback === 'string' ? fallback : null,
  };
}
