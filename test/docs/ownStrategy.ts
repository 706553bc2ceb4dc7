/** Files of one's own that the pages show. */
import { readFileSync } from 'node:fs';

/** Returns the strategy file of docs/strategy-files.md. */
export const ownStrategyOnPage = (): string => codeOn('docs/strategy-files.md');

/** Returns the fill model file of docs/fill-models.md. */
export const ownFillModelOnPage = (): string => codeOn('docs/fill-models.md');

function codeOn(page: string): string {
  // The built runner lies deeper than the sources; both start in the root of the repository.
  const [, text] = /```ts\n([^]*?)```/.exec(readFileSync(page, 'utf8')) ?? [];
  if (text === undefined) throw new Error(`${page} shows no file in TypeScript`);
  return text;
}
