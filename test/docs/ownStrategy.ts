/** Files of one's own that the pages show. */
import { readFileSync } from 'node:fs';

/** Returns the strategy file of docs/strategy-files.md. */
export const ownStrategyOnPage = (): string => codeOn('docs/strategy-files.md');

/** Returns the fill model file of docs/fill-models.md. */
export const ownFillModelOnPage = (): string => codeOn('docs/fill-models.md');

/** Returns the blocks of TypeScript on a page. The built runner lies deeper than the sources; both start in the root. */
export const blocksOn = (page: string): readonly string[] =>
  [...readFileSync(page, 'utf8').matchAll(/```ts\n([^]*?)```/g)].map(([, text]) => text!);

function codeOn(page: string): string {
  const [text] = blocksOn(page);
  if (text === undefined) throw new Error(`${page} shows no file in TypeScript`);
  return text;
}
