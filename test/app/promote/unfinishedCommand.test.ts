/** The record of a started command, beside the obvious rule: the last one that started and did not end. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { endCommand, startCommand, type UnfinishedCommand } from '../../../src/app/promote/unfinishedCommand.ts';

const root = mkdtempSync(join(tmpdir(), 'puntas-command-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const step = fc.oneof(
  fc.record({ kind: fc.constant('start' as const), ask: fc.constantFrom('check', 'back') }),
  fc.record({ kind: fc.constant('end' as const), which: fc.nat({ max: 3 }) }),
  // The journal gains records, or is restored from an older copy.
  fc.record({ kind: fc.constant('journal' as const), records: fc.integer({ min: 0, max: 3 }) }),
);

test('a command repeats the last one that started and did not end, if it asks the same and the journal still has its records', () => {
  let made = 0;
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), steps => {
      const dir = join(root, String(++made));
      mkdirSync(dir);
      let records = 2;
      let left: (UnfinishedCommand & { readonly asked: string }) | null = null;
      const begun: UnfinishedCommand[] = [];
      for (const one of steps) {
        if (one.kind === 'journal') ({ records } = one);
        if (one.kind === 'end') {
          const command = begun.at(-1 - one.which);
          if (command === undefined) continue;
          endCommand(dir, command);
          if (left?.id === command.id) left = null;
        }
        if (one.kind === 'start') {
          const command = startCommand(dir, [one.ask], records);
          const isRepeated: boolean = left !== null && left.asked === one.ask && left.records <= records;
          expect([command.isRepeated, command.records]).toEqual([isRepeated, isRepeated ? left!.records : records]);
          begun.push(command);
          left = { ...command, asked: one.ask };
        }
      }
    }),
    { numRuns: 100 },
  );
});
