/** The verbs on real files, with what a kill leaves behind; what needs a bot is in `test/cli/promote.test.ts`. */
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { keptCopy, putInPlace } from '../../../src/app/promote/liveFile.ts';
import { promotionJudge } from '../../../backtest/app/promote/checkStage.ts';
import {
  approvePromotion,
  checkPromotion,
  promoteOptions,
  promotionBack,
  startPromotion,
} from '../../../src/app/promote/promote.ts';
import { promotedJson, promotedText } from '../../../src/app/promote/promoteText.ts';
import type { PromoteOptions } from '../../../src/app/promote/promoteCommand.ts';
import type { StageCheck } from '../../../src/app/promote/promotionJudge.ts';
import { noteInJournal, promotionJournal } from '../../../src/app/promote/promotionJournal.ts';
import { showPromotion } from '../../../src/app/promote/showPromotion.ts';
import { previewBack } from '../../../src/app/promote/previewBack.ts';
import { realClock } from '../../../src/live/realClock.ts';
import { STAGES, type CriterionResult, type Stage } from '../../../src/app/promote/records.ts';
import { btcMxn } from '../../core/market.ts';
import { approved, back, checked, placed } from './records.ts';
import { NO_PROGRESS } from '../noProgress.ts';
import { isMany } from '../../many.ts';

const SANDBOX = readFileSync(fileURLToPath(new URL('../../../config/sandbox.yaml', import.meta.url)), 'utf8');
const root = mkdtempSync(join(tmpdir(), 'puntas-promote-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let dir = root;
beforeEach(() => (dir = mkdtempSync(join(root, 'one-'))));

const file = (name: string, text: string): string => {
  writeFileSync(join(dir, name), text);
  return join(dir, name);
};
const wider = (bps: number): string => SANDBOX.replace('halfSpreadBps: 16', `halfSpreadBps: ${bps}`);
const clock = realClock();
const optionsOf = (over: Partial<Omit<PromoteOptions, 'dir'>> = {}) =>
  promoteOptions({
    judge: promotionJudge,
    ...{ liveFile: join(dir, 'my.yaml'), by: 'ann', reason: 'a test', needsReason: true, version: '0.1.0', threads: 1 },
    ...{ clock, progress: NO_PROGRESS, onInput: () => undefined },
    ...over,
  });
const criteriaFile = () =>
  file(
    'criteria.yaml',
    'replay: { tapes: [{ flow: { seconds: 300, seed: 3 } }], segments: 1, fillsLeast: 1, net60sLeast: null }',
  );
const begun = async () => {
  file('my.yaml', SANDBOX);
  return startPromotion(optionsOf(), { candidate: file('best.yaml', wider(18)), criteria: criteriaFile() });
};
const live = (): string | null =>
  existsSync(join(dir, 'my.yaml')) ? readFileSync(join(dir, 'my.yaml'), 'utf8') : null;

describe('a promotion', () => {
  test('copies its candidate and its criteria: what is changed afterwards changes nothing of it', async () => {
    const { standing } = await begun();
    file('best.yaml', wider(99));
    file('criteria.yaml', 'replay: { fillsLeast: 0 }');
    const approval = await approvePromotion(optionsOf(), false);
    const { end, standing: next } = approval;
    expect([end, next.open?.stage]).toEqual(['done', 'paper']);
    expect(next.open?.started).toEqual(standing.open?.started);
    // It is at paper, and the table is of what replay was approved on.
    expect(promotedText(approval, 'my.yaml').join('\n')).toMatch(
      / has been at stage paper since\s[^]*\n\ncriteria of stage replay at the last check:\n +criterion +expected +found\n/,
    );
    expect(promotedJson(approval, 'my.yaml', dir)).toMatchObject({ stage: 'paper', check: { stage: 'replay' } });
    expect(next.open?.evidence[0]?.replay?.measures.fills).toBeGreaterThan(0);
    expect(live()).toBe(SANDBOX);
    const paper = join(dir, 'my.promotions/1/paper.yaml');
    expect(readFileSync(paper, 'utf8')).toContain('halfSpreadBps: 18');
    writeFileSync(paper, readFileSync(paper, 'utf8').replace('halfSpreadBps: 18', 'halfSpreadBps: 19'));
    await expect(checkPromotion(optionsOf())).rejects.toThrow(
      'settings that affect trading were changed during the promotion',
    );
  });

  test('cannot be approved where criteria are not met, and with anyway only with a reason, which is written down', async () => {
    file('my.yaml', SANDBOX);
    const criteria = file(
      'much.yaml',
      'replay: { tapes: [{ flow: { seconds: 300, seed: 3 } }], segments: 1, fillsLeast: 9000 }',
    );
    await startPromotion(optionsOf(), { candidate: file('best.yaml', wider(18)), criteria });
    const refused = await approvePromotion(optionsOf(), false);
    expect([refused.end, refused.check?.result, refused.standing.open?.stage]).toEqual(['refused', 'failed', 'replay']);
    expect(() => optionsOf({ reason: 'eh' })).toThrow('--reason: expected a few words that say why');
    const forced = await approvePromotion(optionsOf({ reason: 'for a trial' }), true);
    expect([forced.end, forced.standing.open?.stage]).toEqual(['done', 'paper']);
    const { records } = promotionJournal(join(dir, 'my.promotions'));
    expect(records.map(({ kind }) => kind)).toEqual(['started', 'checked', 'refused', 'approved']);
    expect(records.at(-1)).toMatchObject({ anyway: true, result: 'failed', reason: 'for a trial', by: 'ann' });
  });

  test('approves a stage that an earlier promotion approved, once in each', async () => {
    for (const count of [1, 2]) {
      expect((await begun()).standing.open).toMatchObject({ stage: 'replay', started: { promotion: count } });
      for (const said of ['stage replay is approved', 'this command approved no stage, because ann already approved']) {
        const { end, lines, standing } = await approvePromotion(optionsOf(), true, 'replay');
        expect([end, lines.join(' ')]).toEqual(['done', expect.stringContaining(said)]);
        expect(standing.open?.stage).toBe('paper');
      }
      await promotionBack(optionsOf());
    }
  });

  test('begins with nothing that trades elsewhere, without tapes, or while another one is under way', async () => {
    file('my.yaml', SANDBOX);
    const other = file(
      'other.yaml',
      `${wider(18).replace('instance: demo', 'instance: two')}\nstate: { dir: ./elsewhere }\n`,
    );
    const start = (candidate: string, criteria?: string) => startPromotion(optionsOf(), { candidate, criteria });
    await expect(start(other, criteriaFile())).rejects.toThrow(
      /other\.yaml: instance: expected demo[^\n]+\n[^\n]+state\.dir: expected /,
    );
    await expect(start(file('best.yaml', wider(18)))).rejects.toThrow('no recordings to replay');
    await expect(start(join(dir, 'best.yaml'), file('wrong.yaml', 'paper: { hours: 24 }'))).rejects.toThrow(
      /wrong\.yaml:1:10 paper\.hours: unknown key; known keys: hoursLeast, /,
    );
    await start(join(dir, 'best.yaml'), criteriaFile());
    await expect(start(join(dir, 'best.yaml'), criteriaFile())).rejects.toThrow(
      'promotion 1 is under way, at stage replay',
    );
    const given = await promotionBack(optionsOf());
    expect([given.end, given.standing.open, live()]).toEqual(['done', null, SANDBOX]);
    const again = await start(join(dir, 'best.yaml'), criteriaFile());
    expect(again.standing.open?.started.promotion).toBe(2);
  });
});

/** A judge whose checks end as told, and that counts them. */
function judging(result: CriterionResult) {
  const looks: Stage[] = [];
  const check = { findings: [{ criterion: 'fills', expected: '1', found: `now ${result}`, result }], result };
  const checkStage: typeof promotionJudge.checkStage = ({ stage }) => {
    looks.push(stage);
    const traded: StageCheck['traded'] = stage === 'replay' ? null : { instrument: btcMxn, midTicks: 150_000_000 };
    return Promise.resolve({ check, traded });
  };
  return { looks, judge: { ...promotionJudge, checkStage } };
}

/** A promotion at this stage, with the smallest size in place at the last one. */
async function begunUntil(stage: Stage): Promise<string> {
  await begun();
  const folder = join(dir, 'my.promotions');
  if (stage !== 'replay') noteInJournal(folder, approved(1, 1, 'replay', null, null));
  if (stage !== 'smallest') return folder;
  noteInJournal(folder, approved(1, 2, 'paper', keptCopy(folder, wider(21)), keptCopy(folder, SANDBOX)));
  noteInJournal(folder, placed(1, 3));
  file('my.yaml', wider(21));
  return folder;
}

describe.each(STAGES)('an approval of %s', stage => {
  test.each(
    (['0.1.0', '0.0.9'] as const).flatMap(version =>
      [null, 'passed' as const].map(earlier => [version, earlier] as const),
    ),
  )('rests on a new check, unless it is of a replay that this version checked (%s: %s)', async (version, earlier) => {
    for (const result of ['passed', 'not yet'] as const) {
      dir = mkdtempSync(join(root, 'one-'));
      const folder = await begunUntil(stage);
      if (earlier !== null) noteInJournal(folder, { ...checked(1, 4, stage), version });
      const before = live();
      const { looks, judge } = judging(result);
      const { end, standing } = await approvePromotion(optionsOf({ judge }), false);
      const isOld = stage === 'replay' && version === '0.1.0' && earlier !== null;
      expect(looks).toEqual(isOld ? [] : [stage]);
      const isApproved = isOld || result === 'passed';
      expect(end).toBe(isApproved ? 'done' : 'refused');
      const next = { replay: 'paper', paper: 'smallest', smallest: undefined }[stage];
      expect(standing.open?.stage).toBe(isApproved ? next : stage);
      expect(live() === before).toBe(!isApproved || stage === 'replay');
      const [last] = promotionJournal(folder)
        .records.slice(-1)
        .filter(({ kind }) => kind !== 'placed');
      if (last !== undefined) expect(last).toMatchObject({ findings: isOld ? [] : [{ found: `now ${result}` }] });
    }
  });

  const moved: readonly (readonly [string, (text: string) => string])[] = [
    ['book', text => text.replace('book: btc_mxn', 'book: eth_mxn').replace("btc: '1.5'", "eth: '9'")],
    ['instance', text => text.replace('instance: demo', 'instance: two')],
    [
      'exchange.kind',
      text => text.replace(/^exchange:\n(?: .*\n)+/m, "exchange: { kind: remote, restUrl: 'https://example.com' }\n"),
    ],
    ['state.dir', text => `${text}\nstate: { dir: ./elsewhere }\n`],
  ];
  test.each(stage === 'replay' ? [] : moved)(
    'is rejected while the live file has another %s than at the start, and changes nothing',
    async (key, change) => {
      const folder = await begunUntil(stage);
      file('my.yaml', change(live()!));
      const [before, { records }] = [live(), promotionJournal(folder)];
      const approval = approvePromotion(optionsOf(judging('passed')), false);
      await expect(approval).rejects.toThrow(`promotion 1 (best.yaml): ${key}: expected`);
      expect(live()).toBe(before);
      expect(
        promotionJournal(folder)
          .records.slice(records.length)
          .map(({ kind }) => kind),
      ).toEqual(['checked']);
    },
  );
});

test('a live file that is not there is a slip, unless the promotion is to make it, and leaves nothing behind', async () => {
  const candidate = file('best.yaml', wider(18));
  const slip = 'my.yaml: no such file; pass the live file with -c FILE';
  const criteria = criteriaFile();
  const before = readdirSync(dir);
  expect(() => showPromotion(optionsOf())).toThrow(slip);
  await expect(previewBack(optionsOf())).rejects.toThrow(slip);
  for (const verb of [
    checkPromotion(optionsOf()),
    approvePromotion(optionsOf(), true),
    promotionBack(optionsOf()),
    startPromotion(optionsOf(), { candidate, criteria }),
  ])
    await expect(verb).rejects.toThrow(slip);
  expect(readdirSync(dir)).toEqual(before);
  // Nor does a verb on a file that is there, of which nothing was begun.
  file('my.yaml', SANDBOX);
  await expect(checkPromotion(optionsOf())).rejects.toThrow(
    'no promotion is under way; start a promotion with: puntas promote start',
  );
  await expect(promotionBack(optionsOf())).rejects.toThrow('there is nothing to roll back');
  expect(existsSync(join(dir, 'my.promotions'))).toBe(false);
  rmSync(join(dir, 'my.yaml'));
  const { standing } = await startPromotion(optionsOf(), { candidate, criteria, isNew: true });
  expect([standing.open?.stage, showPromotion(optionsOf()).lines]).toEqual(['replay', []]);
});

test('a look that takes long keeps nobody from going back, and is worth nothing then', async () => {
  await begun();
  let given: ReturnType<typeof promotionBack> | undefined;
  const begin = () => void (given ??= promotionBack(optionsOf()));
  const looking = checkPromotion({ ...optionsOf(), progress: { ...NO_PROGRESS, begin } });
  await expect(looking).rejects.toThrow('the promotion advanced during this check of stage replay');
  expect(await given).toMatchObject({ end: 'done', standing: { open: null } });
  expect(promotionJournal(join(dir, 'my.promotions')).records.map(({ kind }) => kind)).toEqual(['started', 'back']);
});

test('a copy that was damaged is written anew before it is needed', async () => {
  await begun();
  const at = join(dir, 'my.promotions');
  const digest = keptCopy(at, SANDBOX);
  writeFileSync(join(at, `files/${digest}.yaml`), 'half of');
  expect(keptCopy(at, SANDBOX)).toBe(digest);
  expect(readFileSync(join(at, `files/${digest}.yaml`), 'utf8')).toBe(SANDBOX);
});

describe('a decision whose process was killed', () => {
  /** The journal says smallest; the file is as the kill left it. */
  const decided = async (isPlaced: boolean) => {
    await begun();
    const at = join(dir, 'my.promotions');
    const [before, to] = [keptCopy(at, SANDBOX), keptCopy(at, wider(21))];
    noteInJournal(at, approved(1, clock.now(), 'replay', null, null));
    noteInJournal(at, approved(1, clock.now(), 'paper', to, before));
    if (isPlaced) file('my.yaml', wider(21));
  };

  test.each([false, true])(
    'is done by the next command (file already there: %s), and then by none any more',
    async isPlaced => {
      await decided(isPlaced);
      expect(showPromotion(optionsOf()).lines.join(' ')).toContain('promotion 1 was interrupted while it changed ');
      const { lines, check, standing } = await checkPromotion(optionsOf());
      expect([live(), standing.pending]).toEqual([wider(21), null]);
      expect(lines[0]).toBe('the decision of an interrupted command was completed:');
      expect(check?.result).toBe('not yet');
      // From now on a person's own change is the person's.
      file('my.yaml', wider(30));
      expect(showPromotion(optionsOf()).lines.join(' ')).toContain('was changed manually');
      const refusal: unknown = await checkPromotion(optionsOf()).catch((error: unknown) => error);
      const [, kept = ''] = /changed manually since the promotion .* text from (\S+),/.exec(
        (refusal as Error).message,
      )!;
      expect(readFileSync(kept, 'utf8')).toBe(wider(21));
      expect(live()).toBe(wider(30));
    },
  );

  test.each([false, true])('is gone back from as if it had not been (file already there: %s)', async isPlaced => {
    await decided(isPlaced);
    expect((await previewBack(optionsOf())).lines[0]).toContain('would be restored to its content before promotion 1');
    const { end, standing } = await promotionBack(optionsOf());
    expect([end, live(), standing.open, standing.pending]).toEqual(['done', SANDBOX, null, null]);
    await expect(previewBack(optionsOf())).rejects.toThrow('there is nothing to roll back');
    await expect(promotionBack(optionsOf())).rejects.toThrow('there is nothing to roll back');
  });

  test.each([wider(21), SANDBOX, wider(30)])(
    'to go back is carried to its end by going back once more, and no further',
    async found => {
      await decided(true);
      const at = join(dir, 'my.promotions');
      noteInJournal(at, placed(1, clock.now()));
      noteInJournal(at, back(1, 9, keptCopy(at, wider(21)), keptCopy(at, SANDBOX)));
      file('my.yaml', found);
      expect((await previewBack(optionsOf())).lines[0]).toContain(
        'would be restored to its content before promotion 1',
      );
      const { end, lines, standing } = await promotionBack(optionsOf());
      expect([end, live(), standing.pending, standing.placed]).toEqual(['done', SANDBOX, null, []]);
      expect(lines.join(' ').includes('changed manually')).toBe(found === wider(30));
      await expect(promotionBack(optionsOf())).rejects.toThrow('there is nothing to roll back');
    },
  );

  test.each([
    ['to put a text in place', wider(21), SANDBOX, false],
    ['to put the first text in place', wider(21), null, false],
    ['to go back to a text', SANDBOX, wider(21), true],
    ['to go back to no file', null, wider(21), true],
    ['to go back from a text that a person changed', SANDBOX, wider(25), true],
  ] as const)(
    '%s is done by any command, unless the file is another than before and after it',
    async (_, to, from, isBack) => {
      const verbs = {
        check: () => checkPromotion(optionsOf(judging('not yet'))),
        approve: () => approvePromotion(optionsOf(judging('not yet')), false),
        start: () =>
          startPromotion(optionsOf(), { candidate: join(dir, 'best.yaml'), criteria: join(dir, 'criteria.yaml') }),
        back: () => promotionBack(optionsOf()),
      };
      await begun();
      const prepared = dir;
      const digestOf = (text: string | null): string | null => text && keptCopy(join(dir, 'my.promotions'), text);
      const before = isBack ? to : from;
      noteInJournal(join(dir, 'my.promotions'), approved(1, 1, 'replay', null, null));
      noteInJournal(join(dir, 'my.promotions'), approved(1, 2, 'paper', digestOf(wider(21)), digestOf(before)));
      if (isBack) {
        noteInJournal(join(dir, 'my.promotions'), placed(1, 3));
        noteInJournal(join(dir, 'my.promotions'), back(1, 4, digestOf(from), digestOf(to)));
      }
      const all = ['check', 'start', 'approve', 'back'] as const;
      for (const [i, found] of [...new Set([wider(30), from, null, to])].entries())
        for (const verb of isMany ? all : [all[i % all.length]!]) {
          dir = mkdtempSync(join(root, 'one-'));
          cpSync(prepared, dir, { recursive: true });
          if (found === null) rmSync(join(dir, 'my.yaml'), { force: true });
          else file('my.yaml', found);
          const said = await verbs[verb]().then(
            ({ lines }) => lines.join(' '),
            (error: unknown) => String(error),
          );
          const isLeft = verb !== 'back' && found !== to && found !== from;
          expect([verb, found, live()]).toEqual([verb, found, isLeft ? found : verb === 'back' ? before : to]);
          expect(said.includes('the file was changed manually after the decision of promotion 1')).toBe(isLeft);
          expect(promotionJournal(join(dir, 'my.promotions')).standing.pending === null).toBe(!isLeft);
        }
    },
  );

  test('leaves a file alone that a person has changed since, and goes back all the same, keeping it', async () => {
    await decided(false);
    file('my.yaml', wider(30));
    await expect(checkPromotion(optionsOf())).rejects.toThrow(
      'the file was changed manually after the decision of promotion 1',
    );
    expect(live()).toBe(wider(30));
    await promotionBack(optionsOf());
    expect(live()).toBe(SANDBOX);
    expect(existsSync(join(dir, `my.promotions/files/${keptCopy(join(dir, 'other'), wider(30))}.yaml`))).toBe(true);
  });
});

test('going back keeps the rights and the link of the live file, and takes away one that was not there before', async () => {
  await begun();
  const at = join(dir, 'my.promotions');
  const real = file('real.yaml', wider(21));
  rmSync(join(dir, 'my.yaml'));
  symlinkSync(real, join(dir, 'my.yaml'));
  const mode = statSync(real).mode;
  noteInJournal(at, approved(1, 1, 'replay', null, null));
  noteInJournal(at, approved(1, 2, 'paper', keptCopy(at, wider(21)), keptCopy(at, SANDBOX)));
  noteInJournal(at, placed(1, 3));
  await promotionBack(optionsOf());
  expect([readFileSync(real, 'utf8'), live(), statSync(real).mode]).toEqual([SANDBOX, SANDBOX, mode]);

  await startPromotion(optionsOf(), { candidate: join(dir, 'best.yaml'), criteria: criteriaFile() });
  noteInJournal(at, approved(2, 4, 'replay', null, null));
  noteInJournal(at, approved(2, 5, 'paper', keptCopy(at, wider(21)), null));
  const { lines } = await promotionBack(optionsOf());
  expect([existsSync(real), lines.join(' ')]).toEqual([false, expect.stringContaining('is removed')]);
  // The link that leads nowhere now stays one.
  putInPlace(join(dir, 'my.yaml'), SANDBOX);
  expect([readFileSync(real, 'utf8'), lstatSync(join(dir, 'my.yaml')).isSymbolicLink()]).toEqual([SANDBOX, true]);
});

const isRoot = process.geteuid?.() === 0;
const STRANGER = 65_534;

test.skipIf(!isRoot)("under sudo the live file stays its owner's, with its rights", async () => {
  await begun();
  const my = join(dir, 'my.yaml');
  chmodSync(my, 0o640);
  chownSync(my, STRANGER, STRANGER);
  expect(putInPlace(my, wider(21))).toEqual([]);
  const { uid, gid, mode } = statSync(my);
  expect([uid, gid, mode & 0o777, live()]).toEqual([STRANGER, STRANGER, 0o640, wider(21)]);
});

test.skipIf(!isRoot)('an owner that only root could keep is told, and the file is in place all the same', () => {
  // A folder of the stranger's, within reach of his, with a file of root's in it.
  const his = mkdtempSync('/tmp/puntas-promote-');
  const my = join(his, 'my.yaml');
  writeFileSync(my, SANDBOX, { mode: 0o644 });
  chownSync(his, STRANGER, STRANGER);
  process.seteuid!(STRANGER);
  try {
    expect(putInPlace(my, wider(21))).toEqual([
      `${my} belonged to 0:0 (user:group) and now belongs to ${STRANGER}:0, because only root can change it back; run chown 0:0 ${my}`,
    ]);
  } finally {
    process.seteuid!(0);
  }
  expect([statSync(my).uid, readFileSync(my, 'utf8')]).toEqual([STRANGER, wider(21)]);
  rmSync(his, { recursive: true });
});

describe('a live file that is broken', () => {
  /** The smallest size is in place, and an editor's slip after it. */
  const broken = async (before = SANDBOX) => {
    await begun();
    const at = join(dir, 'my.promotions');
    noteInJournal(at, approved(1, 1, 'replay', null, null));
    noteInJournal(at, approved(1, 2, 'paper', keptCopy(at, wider(21)), keptCopy(at, before)));
    noteInJournal(at, placed(1, 3));
    file('my.yaml', 'book: [btc_mxn');
  };

  test('keeps nobody from seeing where its promotion stands, nor from going back', async () => {
    await broken();
    const shown = showPromotion(optionsOf());
    expect(shown.lines).toEqual([
      `${join(dir, 'my.yaml')} is not a valid configuration:`,
      expect.stringMatching(/my\.yaml:1:/),
      `${join(dir, 'my.yaml')} was changed manually since the promotion wrote it`,
    ]);
    expect(shown.next).toContain(`puntas promote back -c ${join(dir, 'my.yaml')} --reason "..."`);
    expect((await previewBack(optionsOf())).lines).toEqual([
      `${join(dir, 'my.yaml')} would be restored to its content before promotion 1`,
      'the current configuration is invalid:',
      expect.stringMatching(/my\.yaml:1:/),
      'no bot is running with this file',
    ]);
    const { end } = await promotionBack(optionsOf());
    expect([end, live()]).toEqual(['done', SANDBOX]);
  });

  test('gives way to what was there before although that is broken too, and it is said that no bot takes it up', async () => {
    await broken('book: {');
    expect((await previewBack(optionsOf())).lines[1]).toBe('the restored configuration would be invalid:');
    const { end, lines, next } = await promotionBack(optionsOf());
    expect([end, live(), lines.at(-1)]).toEqual([
      'refused',
      'book: {',
      expect.stringMatching(/^reload: .*my\.yaml:1:/),
    ]);
    expect(next).toEqual([`puntas check -c ${join(dir, 'my.yaml')}`]);
  });

  test('of paper is told by its next step', async () => {
    await begun();
    noteInJournal(join(dir, 'my.promotions'), approved(1, 1, 'replay', null, null));
    const paper = join(dir, 'my.promotions/1/paper.yaml');
    writeFileSync(paper, 'book: [');
    expect(showPromotion(optionsOf()).next).toEqual([`puntas check -c ${paper}`]);
  });
});
