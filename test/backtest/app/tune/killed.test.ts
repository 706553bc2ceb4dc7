/** A study that is killed at any of its writes, and then repeated: together they leave what one leaves that nobody kills. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tuningPage } from '../../../../backtest/index.ts';
import { Registry } from '../../../../backtest/app/tune/registry.ts';
import { tune, type Tuned } from '../../../../backtest/app/tune/tune.ts';
import { writeTuning } from '../../../../backtest/app/tune/tuningFiles.ts';
import { disk, hookDisk } from '../../../app/killedDisk.ts';
import { isMany } from '../../../many.ts';
import { folder, options, studyFile } from './studies.ts';

const dir = folder();
const registry = join(dir, 'trials');
const FILES = ['best.html', 'best.json', 'best.yaml'] as const;
const file = studyFile(dir, {
  tapes: [{ name: 'flow', flow: { seconds: 780, seed: 11 } }],
  segments: 1,
  parameters: { 'strategy.halfSpreadBps': { linear: [12, 30] } },
  search: { algorithm: 'sobol', seed: 1, trials: 2, batch: 2 },
});
let unhook = (): void => undefined;
beforeAll(() => (unhook = hookDisk()));
afterAll(() => {
  unhook();
  rmSync(dir, { recursive: true, force: true });
});

const parts = { library: '', libraryStyle: '', script: '' };
const studied = (): Promise<Tuned> => tune(options(file, registry));
const writtenOut = (tuned: Tuned): boolean =>
  writeTuning(tuned, { out: join(dir, 'best.html'), yaml: join(dir, 'best.yaml'), anyway: true }, tuning =>
    tuningPage(tuning, parts),
  );
const study = async (): Promise<boolean> => writtenOut(await studied());

const textOf = (name: string): string | null =>
  existsSync(join(dir, name)) ? readFileSync(join(dir, name), 'utf8') : null;
const records = () => new Registry(registry).records();
const outcome = () => ({
  texts: FILES.map(textOf),
  records: records(),
  names: (readdirSync(dir, { recursive: true }) as string[]).sort(),
});

/** Leaves nothing but the study's own file, and what an earlier study left. */
function begin(earlier: string | null): void {
  disk.killAt = Infinity;
  rmSync(registry, { recursive: true, force: true });
  for (const name of readdirSync(dir)) if (name !== 'tune.yaml') rmSync(join(dir, name), { recursive: true });
  if (earlier !== null) for (const name of FILES) writeFileSync(join(dir, name), earlier);
}

const EARLIER = 'of an earlier study\n';
let wanted: ReturnType<typeof outcome>;
/** Writes of the whole study. */
let writes = 0;

beforeAll(async () => {
  begin(EARLIER);
  disk.writes = 0;
  await study();
  ({ writes } = disk);
  wanted = outcome();
  expect(wanted.names).toEqual([...FILES, 'trials', 'trials/trials.jsonl', 'tune.yaml'].sort());
  expect(wanted.records.filter(({ kind }) => kind === 'trial')).toHaveLength(2);
});

/** Kills `command` at its n-th write. Nothing under a final name is half of it, and the registry holds the first of its records. */
async function killedAt(n: number, earlier: string | null, command: () => unknown): Promise<void> {
  [disk.writes, disk.killAt] = [0, n];
  await expect((async () => command())(), `write ${n}`).rejects.toThrow(/killed/);
  disk.killAt = Infinity;
  for (const [i, name] of FILES.entries()) expect([earlier, wanted.texts[i]], `write ${n}`).toContain(textOf(name));
  const kept = records();
  expect(kept).toEqual(wanted.records.slice(0, kept.length));
}

describe('a study that is killed at any write', () => {
  test('and repeated, leaves what one leaves that is not killed', async () => {
    const all = Array.from({ length: writes }, (_, i) => i + 1);
    for (const n of isMany ? all : all.filter(n => n % 4 === 0)) {
      begin(EARLIER);
      await killedAt(n, EARLIER, study);
      await study();
      expect({ n, ...outcome() }).toEqual({ n, ...wanted });
    }
  });

  test('and repeated without its registry, leaves the same', async () => {
    for (const n of [Math.floor(writes / 2), writes]) {
      begin(EARLIER);
      await killedAt(n, EARLIER, study);
      rmSync(registry, { recursive: true });
      await study();
      expect({ n, ...outcome() }).toEqual({ n, ...wanted });
    }
  });

  test.each([
    ['where nothing is', null],
    ['over those of an earlier one', EARLIER],
  ])('of its files, %s, and repeated, leaves the same', async (_, earlier) => {
    begin(earlier);
    const tuned = await studied();
    disk.writes = 0;
    writtenOut(tuned);
    const count = disk.writes;
    expect(count).toBeGreaterThanOrEqual(FILES.length);
    for (let n = 1; n <= count; n++) {
      for (const name of FILES) rmSync(join(dir, name), { force: true });
      if (earlier !== null) for (const name of FILES) writeFileSync(join(dir, name), earlier);
      await killedAt(n, earlier, () => writtenOut(tuned));
      writtenOut(tuned);
      expect({ n, ...outcome() }).toEqual({ n, ...wanted });
    }
  });
});
