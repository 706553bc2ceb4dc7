import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { EDITS } from './edits.ts';

const textsOf = new Map<string, readonly string[]>();

/** Quoted arguments and list items in a file of tests, among them the names of its tests. */
function quotedIn(file: string): readonly string[] {
  let texts = textsOf.get(file);
  if (texts === undefined) {
    const quoted = readFileSync(file, 'utf8').matchAll(/[([,:]\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1/g);
    texts = Array.from(quoted, ([, , text = '']) => text.replace(/\\(.)/g, '$1'));
    textsOf.set(file, texts);
  }
  return texts;
}

/** Whether `title` is `name` with something in its places: `%s`, `%#`, `$name` or `${expression}`. */
function isNamed(name: string, title: string): boolean {
  const parts = name.split(/%[a-z#]|\$\{[^}]*\}|\$[\w.]+/);
  if (parts.length === 1) return name === title;
  const pattern = parts.map(part => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('.*');
  return /\w{3}/.test(parts.join('')) && new RegExp(`^${pattern}$`, 's').test(title);
}

describe('the bugs that are planted in CI', () => {
  it('each have a name of their own', () => {
    expect(new Set(EDITS.map(({ name }) => name)).size).toBe(EDITS.length);
    expect(EDITS.length).toBeGreaterThan(50);
  });

  it.each(EDITS.map(edit => [edit.name, edit] as const))(
    'change text that is there once, and have a test that is there: %s',
    (_, edit) => {
      expect(readFileSync(edit.file, 'utf8').split(edit.from)).toHaveLength(2);
      expect(existsSync(edit.test)).toBe(true);
      // The name of one test as it runs: a row of a table by its own words.
      expect(edit.title).not.toMatch(/%[a-z#]|\$\{/);
      expect(quotedIn(edit.test).some(name => isNamed(name, edit.title))).toBe(true);
      expect(edit.to).not.toBe(edit.from);
    },
  );
});
