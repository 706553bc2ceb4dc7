import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { EDITS } from './edits.ts';

describe('the bugs that are planted in CI', () => {
  it('each have a name of their own', () => {
    expect(new Set(EDITS.map(({ name }) => name)).size).toBe(EDITS.length);
    expect(EDITS.length).toBeGreaterThan(50);
  });

  it.each(EDITS.map(edit => [edit.name, edit] as const))('change text that is there once: %s', (_, edit) => {
    expect(readFileSync(edit.file, 'utf8').split(edit.from)).toHaveLength(2);
    expect(existsSync(edit.test)).toBe(true);
    expect(edit.to).not.toBe(edit.from);
  });
});
