/** Threads of the console's replays. */
import { writeFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { consoleApi } from '../../../src/app/console/consoleApi.ts';
import { replaysOf } from '../../../src/app/console/replays.ts';
import type { ReplayedBot } from '../../../src/app/console/consoleReplayer.ts';
import { realClock } from '../../../src/live/realClock.ts';
import { Folders } from '../../live/states.ts';

const folders = new Folders();
afterAll(() => folders.clear());

test('a preview of an operator does not wait for one of an agent', async () => {
  const dir = folders.fresh();
  mkdirSync(dir, { mode: 0o700 });
  // A thread that is busy from the first request of an agent on.
  const file = join(dir, 'thread.mjs');
  writeFileSync(
    file,
    `import { parentPort } from 'node:worker_threads';
     parentPort.on('message', ({ id, ask }) => {
       if (ask.via === 'agent') for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
       parentPort.postMessage({ id, kind: 'done', told: ['answered'] });
     });`,
  );
  const clock = realClock();
  const replays = replaysOf({ config: {}, bot: { stateDir: dir } } as ReplayedBot, clock, file);
  const api = consoleApi({ stateDir: dir }, clock, true, {
    ...{ read: ask => replays.read(ask), preview: ask => replays.preview(ask, () => undefined) },
    ...{ proposalPreview: replays.proposalPreview, summary: () => null, events: () => [] },
  });
  const agents = api.proposals.preview({ action: 'pause', reason: 'odd fills', agent: 'a helper', minutes: null });
  const isOpen = agents.then(
    () => false,
    () => true,
  );
  const asked = { action: 'pause', reason: 'a test', by: 'Ana', minutes: null, costMax: null };
  expect(await api.preview!(asked)).toEqual(['answered']);
  replays.close();
  expect(await isOpen).toBe(true);
});
