/** A promote command that is killed at any of its writes, and then repeated: together they do what one does that nobody kills. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  approvePromotion,
  checkPromotion,
  promoteOptions,
  promotionBack,
  startPromotion,
} from '../../../src/app/promote/promote.ts';
import { promotionJudge } from '../../../backtest/app/promote/checkStage.ts';
import { promotionJournal } from '../../../src/app/promote/promotionJournal.ts';
import type { PromotionRecord } from '../../../src/app/promote/records.ts';
import { readConfigText, shippedConfig } from '../../../src/wiring/configFile.ts';
import { disk, hookDisk } from '../killedDisk.ts';
import { started, worldOf, type World } from '../../live/world.ts';
import { NO_PROGRESS } from '../noProgress.ts';
import { isMany } from '../../many.ts';

const root = mkdtempSync(join(tmpdir(), 'puntas-killed-'));
const dir = join(root, 'bot');
const snapshot = join(root, 'snapshot');
const live = join(dir, 'my.yaml');
const promotions = join(dir, 'my.promotions');
const shipped = readFileSync(shippedConfig('sandbox'), 'utf8');
let world: World;
let unhook = (): void => undefined;
beforeAll(() => {
  world = worldOf(7);
  unhook = hookDisk();
});
afterAll(() => {
  unhook();
  world.end();
  rmSync(root, { recursive: true, force: true });
});

/** The same command each time; `stage` of the promotion in the first line of what it says. */
const optionsOf = () =>
  promoteOptions({
    judge: promotionJudge,
    ...{ liveFile: live, by: 'ann', reason: 'a test', needsReason: true, version: '0.1.0', threads: 1 },
    ...{ clock: world.clock, progress: NO_PROGRESS, onInput: () => undefined },
  });

/** Runs the configuration of a file for a minute of virtual time, as a person runs paper. */
async function traded(file: string): Promise<void> {
  const running = await started(world, { config: readConfigText(file).config });
  await world.clock.advance(60_000);
  await running.stop();
}

/** Everything that is left of it: decisions, the live file, and the names of all files. Looks are left out: the repeated command has its own. */
function outcome() {
  const { records, standing } = promotionJournal(promotions);
  const decided = records.filter(({ kind }) => kind !== 'checked').map(withoutTime);
  const { pending, placed, count, open } = standing;
  return {
    ...{ decided, pending, placed, count, stage: open?.stage ?? null },
    live: existsSync(live) ? readFileSync(live, 'utf8') : null,
    files: (readdirSync(dir, { recursive: true }) as string[]).filter(name => !name.startsWith('state')).sort(),
  };
}

const withoutTime = (record: PromotionRecord) => {
  const { kind, promotion } = record;
  const stage = 'stage' in record ? record.stage : null;
  return { kind, promotion, stage, to: 'to' in record ? record.to : undefined };
};

const isHalfWritten = (name: string): boolean => basename(name).endsWith('.new');

/** Kills the command at each of its writes, one after the other, from the same beginning; at every third in `npm test`. */
async function killedAnywhere(command: () => Promise<unknown>): Promise<void> {
  cpSync(dir, snapshot, { recursive: true });
  const again = () => {
    rmSync(dir, { recursive: true });
    cpSync(snapshot, dir, { recursive: true });
  };
  [disk.writes, disk.killAt] = [0, Infinity];
  await command();
  const { writes } = disk;
  const wanted = outcome();
  expect(wanted.files.filter(isHalfWritten)).toEqual([]);
  expect(wanted.files).not.toContain('my.promotions/command.json');
  expect(writes).toBeGreaterThan(5);
  for (let n = 1; n <= writes; n += isMany ? 1 : 3) {
    again();
    [disk.writes, disk.killAt] = [0, n];
    await expect(command(), `write ${n}`).rejects.toThrow(/killed/);
    disk.killAt = Infinity;
    // Next to the live file nothing is left, whatever a person makes of the rest.
    expect(readdirSync(dir).filter(isHalfWritten), `killed at write ${n}`).toEqual([]);
    await command();
    expect({ n, ...outcome() }).toEqual({ n, ...wanted });
  }
  rmSync(snapshot, { recursive: true });
}

describe('a promote command that is killed at any write and repeated decides what one decides that is not killed:', () => {
  beforeAll(() => {
    mkdirSync(dir, { recursive: true });
    writeFileSync(live, shipped);
    writeFileSync(join(dir, 'best.yaml'), shipped.replace('halfSpreadBps: 16', 'halfSpreadBps: 18'));
    writeFileSync(
      join(dir, 'criteria.yaml'),
      'replay: { tapes: [{ flow: { seconds: 300, seed: 3 } }], segments: 1, fillsLeast: 1, net60sLeast: null }',
    );
  });

  test('start', () =>
    killedAnywhere(() =>
      startPromotion(optionsOf(), { candidate: join(dir, 'best.yaml'), criteria: join(dir, 'criteria.yaml') }),
    ));

  test('check', () => killedAnywhere(() => checkPromotion(optionsOf())));

  test('approve, of a replay', () => killedAnywhere(() => approvePromotion(optionsOf(), true)));

  test('approve --anyway, of paper, which approves nothing of the smallest size', async () => {
    await traded(join(promotions, '1/paper.yaml'));
    await killedAnywhere(() => approvePromotion(optionsOf(), true));
    expect(outcome().stage).toBe('smallest');
  });

  test('approve that is refused', () => killedAnywhere(() => approvePromotion(optionsOf(), false)));

  test('approve smallest --anyway', async () => {
    await killedAnywhere(() => approvePromotion(optionsOf(), true, 'smallest'));
    expect(outcome().stage).toBe(null);
  });

  test('a stage that was approved is not approved again, and one that is not reached is refused by name', async () => {
    const before = outcome();
    const { end, lines } = await approvePromotion(optionsOf(), true, 'paper');
    expect([end, lines.join(' ')]).toEqual(['done', expect.stringContaining('paper was approved by ann')]);
    expect(outcome()).toEqual(before);
    await startPromotion(optionsOf(), { candidate: join(dir, 'best.yaml'), criteria: join(dir, 'criteria.yaml') });
    await expect(approvePromotion(optionsOf(), true, 'smallest')).rejects.toThrow(
      'stage smallest cannot be approved while the promotion is at stage replay',
    );
  });

  test('back, of one with nothing in place', async () => {
    await killedAnywhere(() => promotionBack(optionsOf()));
    expect(outcome().placed).toHaveLength(1);
  });

  test('back, of what is in place, which goes back over one promotion only', async () => {
    await killedAnywhere(() => promotionBack(optionsOf()));
    expect(outcome()).toMatchObject({ placed: [], live: shipped });
  });
});
