/** Messages of `puntas promote` without a verb, for any history of promotions and any configuration of the bot. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { paperFile } from '../../../src/app/promote/candidate.ts';
import { noteInJournal } from '../../../src/app/promote/promotionJournal.ts';
import { STAGES } from '../../../src/app/promote/records.ts';
import { showPromotion } from '../../../src/app/promote/showPromotion.ts';
import { digestOf } from '../../../src/app/run/reloading.ts';
import { realClock } from '../../../src/live/realClock.ts';
import { recorderIn } from '../../../src/live/recording/recordings.ts';
import { heartbeatIn } from '../../../src/live/safety/heartbeat.ts';
import { readConfig, shippedConfig } from '../../../src/wiring/configFile.ts';
import { runsOf } from '../../many.ts';
import { approved, back, checked, placed, started } from './records.ts';

const root = mkdtempSync(join(tmpdir(), 'puntas-shown-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const clock = realClock();
const SANDBOX = readFileSync(shippedConfig('sandbox'), 'utf8');
const textOf = (bps: number): string => SANDBOX.replace('halfSpreadBps: 16', `halfSpreadBps: ${bps}`);
let made = 0;

type Event = 'place' | 'abandon' | 'roll back';

/** A folder with a live file, and its promotions as these events leave them; `last` is the last that changed the file. */
function world(events: readonly Event[]) {
  const folder = join(root, String(++made));
  const [dir, liveFile] = [join(folder, 'my.promotions'), join(folder, 'my.yaml')];
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  let live = textOf(16);
  let last: Event | null = null;
  let count = 0;
  const inPlace: { readonly promotion: number; readonly before: string }[] = [];
  for (const event of events) {
    const top = inPlace.at(-1);
    if (event === 'roll back' && top === undefined) continue;
    const digest = digestOf(live);
    if (event === 'roll back') {
      noteInJournal(dir, back(top!.promotion, 1, digest, digestOf(top!.before)));
      noteInJournal(dir, placed(top!.promotion, 1));
      live = inPlace.pop()!.before;
    } else noteInJournal(dir, started(++count, 1));
    if (event === 'abandon') noteInJournal(dir, back(count, 1, digest));
    if (event === 'place') {
      inPlace.push({ promotion: count, before: live });
      live = textOf(20 + count);
      noteInJournal(dir, approved(count, 1, 'replay', null, null));
      noteInJournal(dir, approved(count, 1, 'paper', digestOf(live), digest));
      noteInJournal(dir, placed(count, 1));
      noteInJournal(dir, approved(count, 1, 'smallest', digestOf(live), digestOf(live)));
      noteInJournal(dir, placed(count, 1));
    }
    if (event !== 'abandon') last = event;
  }
  writeFileSync(liveFile, live);
  return { dir, liveFile, last };
}

describe('a running bot', () => {
  const shownWith = (
    events: readonly Event[],
    change: (text: string) => string,
    beat: 'alive' | 'stopped' = 'alive',
  ) => {
    const { dir, liveFile, last } = world(events);
    const config = readConfig(liveFile);
    mkdirSync(config.state.dir, { recursive: true });
    heartbeatIn(config.state.dir, 'bot', clock).beat(beat);
    const other = `${liveFile}.other.yaml`;
    writeFileSync(other, change(readFileSync(liveFile, 'utf8')));
    const setup = JSON.stringify(readConfig(other));
    recorderIn(config.state.dir, { run: 1, startedAt: 1, setup, format: 2 }).close();
    const { lines, next } = showPromotion({ dir, liveFile, clock });
    return { last, lines, next };
  };
  const wider = (text: string): string => text.replace('levels: 3', 'levels: 2');

  test('that trades with another configuration is told whether the file was replaced or restored last, and how to reload', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom<Event[]>('place', 'abandon', 'roll back'), { maxLength: 4 }), events => {
        const { last, lines, next } = shownWith(events, wider);
        const said = last === null ? [] : [last === 'place' ? 'is replaced, but' : 'is restored, but'];
        expect(lines).toEqual(said.map((text): unknown => expect.stringContaining(text)));
        expect(next.some(step => step.startsWith('puntas reload'))).toBe(last !== null);
        expect(next.at(-1)).toContain('puntas promote start');
      }),
      { ...runsOf(40, 4), examples: [[['place', 'abandon']], [['place', 'roll back', 'abandon']]] },
    );
  });

  test('that trades as the file says is not told to reload, nor is one that has stopped', () => {
    expect(shownWith(['place'], text => text).lines).toEqual([]);
    expect(shownWith(['place'], text => `${text}\nlog: { level: debug }\n`).lines).toEqual([]);
    expect(shownWith(['place'], wider, 'stopped').lines).toEqual([]);
  });
});

test.each(STAGES)(
  'the last step that %s names is back after a failed check, approve after a passed one, and else check',
  stage => {
    for (const result of [null, 'failed', 'not yet', 'passed'] as const) {
      const { dir, liveFile } = world([]);
      const paper = paperFile(dir, 1);
      mkdirSync(join(dir, '1'));
      writeFileSync(paper, SANDBOX);
      noteInJournal(dir, started(1, 1));
      if (stage !== 'replay') noteInJournal(dir, approved(1, 1, 'replay', null, null));
      if (stage === 'smallest') {
        noteInJournal(dir, approved(1, 1, 'paper', digestOf(SANDBOX), digestOf(SANDBOX)));
        noteInJournal(dir, placed(1, 1));
      }
      if (result !== null) noteInJournal(dir, { ...checked(1, 1, stage), result } as never);
      const { next } = showPromotion({ dir, liveFile, clock });
      const wanted =
        result === 'failed' ? 'promote back' : result === 'passed' ? `promote approve ${stage}` : 'promote check';
      expect(next.at(-1)).toContain(`puntas ${wanted} -c `);
      // The run is named before it, except after a failed check.
      const runs =
        result === 'failed'
          ? []
          : stage === 'smallest'
            ? [liveFile]
            : stage === 'paper' && result !== 'passed'
              ? [paper]
              : [];
      expect(next.filter(step => step.startsWith('puntas run'))).toEqual(runs.map(file => `puntas run -c ${file}`));
      if (result === 'failed') expect(next).toHaveLength(1);
    }
  },
);
