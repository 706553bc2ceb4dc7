/** The trial order of `puntas doctor` on an account with several books. */
import { afterAll, expect, test } from 'vitest';
import { lastConfigOf } from '../../../src/app/inspect/botOfFolder.ts';
import { doctor } from '../../../src/app/doctor/doctor.ts';
import { isTrialOrder, symbolsOf } from '../../../src/config.ts';
import { lineOf } from '../../../src/live/recording/recording.ts';
import { readRecording, recordingsIn } from '../../../src/live/recording/recordings.ts';
import { realClock } from '../../../src/live/realClock.ts';
import { sandboxConfig } from '../../live/world.ts';
import { Folders } from '../../live/states.ts';
import { memoryLog } from '../../memoryLog.ts';

const folders = new Folders();
afterAll(() => folders.clear());
const BOOKS = ['btc_mxn', 'eth_mxn', 'btc_usd'];

/** Returns the ids of the orders that a run placed. */
const placedIn = (dir: string, run: number): readonly string[] =>
  [...readRecording(dir, run)!.lines].flatMap(text => {
    const line = lineOf(text);
    return line.kind !== 'commands' ? [] : line.commands.flatMap(each => (each.kind === 'place' ? [each.id] : []));
  });

test('one order is tried in each book by itself, after one question, and the other books stay without orders', async () => {
  const dir = folders.fresh();
  const asked: string[] = [];
  const { findings, left } = await doctor({
    ...{ config: sandboxConfig({ state: { dir } }, 'desk'), which: { configFile: undefined, stateDir: dir }, seed: 1 },
    ...{ clock: realClock(), version: 'test', openLog: () => memoryLog().log },
    ...{ tell: () => undefined, onStarted: () => undefined },
    mayOrder: what => {
      asked.push(what);
      return Promise.resolve(true);
    },
  });
  expect(left).toEqual([]);
  const tried = findings.filter(({ check }) => check === 'order');
  const idsTold = tried.map(
    ({ result, says }, i) =>
      new RegExp(
        `^pass ${BOOKS[i]!}: (?:buy|sell) \\S+ \\w+ at \\S+ \\((\\S+)\\): accepted and canceled; two reads found no open orders$`,
      ).exec(`${result} ${says}`)?.[1],
  );
  expect(idsTold.every(id => id !== undefined)).toBe(true);
  expect(asked).toEqual([expect.stringMatching(/^\w+ \S+ btc at [^;]+; \w+ \S+ eth at [^;]+; \w+ \S+ btc at [^;]+$/)]);
  expect(recordingsIn(dir).map(({ run }) => placedIn(dir, run))).toEqual(idsTold.map(id => [id]));
  const last = lastConfigOf(dir);
  expect([isTrialOrder(last), symbolsOf(last)]).toEqual([true, BOOKS]);
});
