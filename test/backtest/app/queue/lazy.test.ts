import { expect, test } from 'vitest';
import { sourcesIn } from '../../../imports.ts';

const files = ['src', 'backtest'].flatMap(sourcesIn);
const OF_QUEUES = ['bullmq', 'ioredis', 'pg', 'aws4fetch'];
const FOLDERS = ['backtest/app/queue/', 'backtest/app/tapeStore/'];
const isOfQueues = (path: string): boolean => FOLDERS.some(folder => path.startsWith(folder));
/** Whether an import is carried out only when its line is. */
const isLater = (text: string, to: string): boolean => {
  const name = to.split('/').at(-1)!.replaceAll('.', '\\.');
  return !new RegExp(`^(?:import|export) (?!type )[^;]*?['/]${name}';`, 'm').test(text);
};

test('nothing of queues and stores is loaded by a command that has none: only types, and imports where they are needed', () => {
  const arrows = files.flatMap(({ path, text, arrows: all }) =>
    all.filter(({ typesOnly }) => !typesOnly).map(({ to }) => ({ path, to, later: isLater(text, to) })),
  );
  const packages = arrows.filter(({ to }) => OF_QUEUES.includes(to));
  expect(new Set(packages.map(({ to }) => to))).toEqual(new Set(OF_QUEUES));
  expect(packages.filter(({ path }) => !isOfQueues(path))).toEqual([]);
  expect(packages.filter(({ later }) => !later)).toEqual([]);
  const entries = arrows.filter(({ path, to }) => !isOfQueues(path) && isOfQueues(to));
  expect(entries.length).toBeGreaterThan(3);
  expect(entries.filter(({ later }) => !later)).toEqual([]);
});

test('what is loaded later is told from what is loaded at once', () => {
  expect(isLater("import { Queue } from 'bullmq';", 'bullmq')).toBe(false);
  expect(isLater("import type { Queue } from 'bullmq';\nconst q = await import('bullmq');", 'bullmq')).toBe(true);
  expect(isLater("import { a } from '../b/c.ts';", 'src/b/c.ts')).toBe(false);
});
