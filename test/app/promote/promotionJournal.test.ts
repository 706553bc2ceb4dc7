import { createHash } from 'node:crypto';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import {
  withPromotionLock,
  noteInJournal,
  promotionJournal,
  promotionsDir,
} from '../../../src/app/promote/promotionJournal.ts';
import { approved, back, checked, placed, started } from './records.ts';

const root = mkdtempSync(join(tmpdir(), 'puntas-promotions-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let dir = root;
beforeEach(() => (dir = mkdtempSync(join(root, 'one-'))));

const WHOLE = [
  started(1, 1),
  checked(1, 2, 'replay'),
  approved(1, 3, 'replay', null, null),
  approved(1, 4, 'paper', 'small', 'old'),
  placed(1, 5),
  approved(1, 6, 'smallest', 'whole', 'small'),
  placed(1, 7),
  back(1, 8, 'whole', 'old'),
  placed(1, 9),
];
const file = () => join(dir, 'journal.jsonl');
const GONE = (): readonly string[] => [];
/** What a hand does to a line. */
const CHANGES = [
  GONE,
  (line: string) => [line.replace('"by":"ann"', '"by":"eve"')],
  (line: string) => [line.replace(/,"digest":"[0-9a-f]+"/, '')],
  (line: string) => [line.replace('"by":"ann"', '"by":"ann')],
  (line: string) => [line.replace(/,("digest":"[0-9a-f]+")/, ', $1')],
];

describe('the journal of promotions', () => {
  test('cut at any byte it stands where a whole line stood, and goes on from there to the same end', () => {
    for (const record of WHOLE) noteInJournal(dir, record);
    const bytes = readFileSync(file());
    const end = promotionJournal(dir).standing;
    const ends = [...bytes.entries()].flatMap(([i, byte]) => (byte === 0x0a ? [i] : []));
    fc.assert(
      fc.property(fc.integer({ min: 0, max: bytes.length }), cut => {
        writeFileSync(file(), bytes.subarray(0, cut));
        // A line is written once its last brace is.
        const lines = ends.filter(at => at <= cut).length;
        const { records } = promotionJournal(dir);
        expect(records).toEqual(WHOLE.slice(0, lines));
        for (const record of WHOLE.slice(lines)) noteInJournal(dir, record);
        expect(promotionJournal(dir)).toMatchObject({ records: WHOLE, standing: end });
      }),
      { numRuns: 200 },
    );
  });

  test('in which a line was changed, or taken out, is told by its line and not believed', () => {
    for (const record of WHOLE) noteInJournal(dir, record);
    const lines = readFileSync(file(), 'utf8').split('\n').slice(0, -1);
    fc.assert(
      fc.property(fc.integer({ min: 0, max: lines.length - 1 }), fc.constantFrom(...CHANGES), (at, change) => {
        // Of a last line that is gone nothing is left that could tell.
        fc.pre(change !== GONE || at < lines.length - 1);
        const changed = lines.flatMap((line, i) => (i === at ? change(line) : [line]));
        writeFileSync(file(), `${changed.join('\n')}\n`);
        expect(() => promotionJournal(dir)).toThrow(/journal\.jsonl:\d+: .*restore the file from a copy/);
      }),
    );
  });

  test('of an earlier version, whose lines have no digest of their own, is read and gone on with', () => {
    let last: string | null = null;
    for (const record of WHOLE.slice(0, 5)) {
      const line: string = JSON.stringify({ ...record, after: last });
      appendFileSync(file(), `${line}\n`);
      last = createHash('sha256').update(line).digest('hex');
    }
    for (const record of WHOLE.slice(5)) noteInJournal(dir, record);
    expect(promotionJournal(dir).records).toEqual(WHOLE);
  });

  test('takes no record that cannot follow, and writes nothing of it', () => {
    noteInJournal(dir, WHOLE[0]!);
    expect(() => noteInJournal(dir, approved(1, 2, 'smallest', 'whole', null))).toThrow(
      'the promotion is at stage replay',
    );
    expect(promotionJournal(dir).records).toHaveLength(1);
  });

  test('is worked on by one at a time', async () => {
    const at = { liveFile: join(root, 'my.yaml'), dir: promotionsDir(join(root, 'my.yaml')) };
    await withPromotionLock(at, async () => {
      await expect(withPromotionLock(at, () => Promise.resolve(1))).rejects.toThrow(
        `${at.dir}: another puntas promote is running in this folder`,
      );
    });
    expect(await withPromotionLock(at, () => Promise.resolve(1))).toBe(1);
  });

  test('is beside the live file, under its name', () => {
    expect(promotionsDir('/home/ann/my.yaml')).toBe('/home/ann/my.promotions');
  });

  describe('of a link', () => {
    /** `links/my.yaml` leads to `files/real.yaml`. */
    const linked = (isThere = true) => {
      for (const name of ['links/my.promotions', 'files/real.promotions'])
        mkdirSync(join(dir, name), { recursive: true });
      const [link, real] = [join(dir, 'links/my.yaml'), join(dir, 'files/real.yaml')];
      if (isThere) writeFileSync(real, 'book: btc_mxn');
      symlinkSync('../files/real.yaml', link);
      return { link, real, beside: join(dir, 'links/my.promotions') };
    };

    test.each([true, false])('is the one of its target, whether that is there or not (%s)', isThere => {
      const { link, real } = linked(isThere);
      expect(promotionsDir(link)).toBe(join(dir, 'files/real.promotions'));
      expect(promotionsDir(real)).toBe(promotionsDir(link));
    });

    test('that lies beside the link from earlier stays in use, and from the next decision on under both names', async () => {
      const { link, real, beside } = linked();
      rmdirSync(join(dir, 'files/real.promotions'));
      noteInJournal(beside, WHOLE[0]!);
      expect(promotionsDir(link)).toBe(beside);
      await withPromotionLock({ liveFile: link, dir: promotionsDir(link) }, () => Promise.resolve());
      expect(promotionJournal(promotionsDir(real)).records).toEqual([WHOLE[0]]);
      expect(promotionsDir(link)).toBe(beside);
      await withPromotionLock({ liveFile: link, dir: beside }, () => Promise.resolve());
      const at = { liveFile: real, dir: promotionsDir(real) };
      await withPromotionLock({ liveFile: link, dir: beside }, async () => {
        await expect(withPromotionLock(at, () => Promise.resolve(1))).rejects.toThrow(
          'another puntas promote is running in this folder',
        );
      });
    });

    test('that lies at both places is told, and neither is gone on with', () => {
      const { link, real, beside } = linked();
      noteInJournal(beside, WHOLE[0]!);
      noteInJournal(promotionsDir(real), WHOLE[0]!);
      expect(() => promotionsDir(link)).toThrow(
        `both have a promotion journal (${beside} and ${join(dir, 'files/real.promotions')})`,
      );
    });
  });
});
