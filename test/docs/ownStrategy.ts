/** The strategy file that docs/strategy-files.md shows. */
import { readFileSync } from 'node:fs';

export function ownStrategyOnPage(): string {
  // The built runner lies deeper than the sources; both start in the root of the repository.
  const [, text] = /```ts\n([^]*?)```/.exec(readFileSync('docs/strategy-files.md', 'utf8')) ?? [];
  if (text === undefined) throw new Error('docs/strategy-files.md shows no strategy file');
  return text;
}
