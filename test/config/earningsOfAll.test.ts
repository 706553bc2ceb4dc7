/** The figures in the heads of all shipped configurations, measured again: every file, every seed. */
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { earnedOfAll, recordedEarnings } from '../scripts/earnings.ts';

const folder = fileURLToPath(new URL('../../config/', import.meta.url));
const recorded = recordedEarnings(fileURLToPath(new URL('earnings.json', import.meta.url)));

test.each(Object.keys(recorded))(
  '%s earns what it says',
  async name => expect(await earnedOfAll(folder, name)).toEqual(recorded[name]),
  600_000,
);
