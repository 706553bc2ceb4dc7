/** The strategy file that docs/strategies.md shows. */
import { readFileSync } from 'node:fs';

export function ownStrategyOnPage(): string {
  // The built runner lies deeper than the sources; both start in the root of the repository.
  const [, text] = /```ts\n([^]*?)```/.exec(readFileSync('docs/strategies.md', 'utf8')) ?? [];
  if (text === undefined) throw new Error('docs/strategies.md shows no strategy file');
  return text;
}
