/** Each shipped configuration says in its head what it earns on the built-in market, and that is what the code gives. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { readConfig } from '../../src/wiring/configFile.ts';
import { earnedOf, recordedEarnings, SEEDS, sentenceOf, SENTENCE, shippedNames } from '../scripts/earnings.ts';

const folder = fileURLToPath(new URL('../../config/', import.meta.url));
const recorded = recordedEarnings(fileURLToPath(new URL('earnings.json', import.meta.url)));
const names = shippedNames(folder);
const configOf = (name: string) => readConfig(join(folder, `${name}.yaml`));
/** Of these one seed is run at each `npm test`; all of them with test:long. */
const QUICK = ['sandbox'];

test('every shipped configuration was measured, over all seeds', () => {
  expect(Object.keys(recorded)).toEqual(names);
  for (const { nets, fills } of Object.values(recorded)) expect([nets.length, fills.length]).toEqual([SEEDS, SEEDS]);
});

describe.each(names)('%s', name => {
  test('says in its head what was measured', () => {
    const [said] = SENTENCE.exec(readFileSync(join(folder, `${name}.yaml`), 'utf8')) ?? [];
    expect(said).toBe(sentenceOf(recorded[name]!, configOf(name)));
  });
});

test.each(QUICK)('%s still gives its figures, on the first seed', async name => {
  const { nets, fills } = recorded[name]!;
  expect(await earnedOf(configOf(name), 1)).toEqual({ net: nets[0], fills: fills[0] });
});

test('the default makes money beyond its interval', () => {
  expect(sentenceOf(recorded.sandbox!, configOf('sandbox'))).toMatch(/it earns/);
});
