/** Old names of configuration keys, as a user meets them: what still works, and the line that is said. */
import { afterAll, expect, test } from 'vitest';
import { Bench, complaints, ran } from './program.ts';

const bench = new Bench();
afterAll(() => bench.clear());

const file = bench.config('hedged', text =>
  text.replace('  venues:', '  ways:').replace('timing:', 'timing:\n  fenceMs: 40000'),
);
const WARNINGS = [
  /^\S*hedged-1\.yaml:\d+:3 hedge\.ways: old name of hedge\.venues; write venues, because Puntas 0\.2\.0 rejects the old name$/,
  /^\S*hedged-1\.yaml:\d+:3 timing\.fenceMs: old name of timing\.requestDelayMaxMs; write requestDelayMaxMs, because Puntas 0\.2\.0/,
];

test('check warns of each once, and shows the configuration in the names of now', async () => {
  const ended = await ran(['check', '-c', file]);
  expect(ended.stdout).toContain('requestDelayMaxMs: 40000');
  expect(ended.stdout).toMatch(/ venues:\n +- rfq/);
  expect(complaints(ended)).toEqual(WARNINGS.map(line => expect.stringMatching(line) as string));
  expect(ended.code).toBe(0);
}, 300_000);

test.each([
  ['reduce', '--reason', 'a test'],
  ['halt', '--reason', 'a test'],
  ['resume', '--reason', 'a test'],
  ['ledger'],
  ['hedges'],
  ['webhooks', 'list'],
  ['explain'],
  ['sentinel'],
])(
  '%s warns too',
  async (...args) => {
    const ended = await ran([...args, '-c', file]);
    expect(complaints(ended).slice(0, 2)).toEqual(WARNINGS.map(line => expect.stringMatching(line) as string));
  },
  300_000,
);
