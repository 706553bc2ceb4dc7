/** The panel with the results of each configuration: loading, none yet and an error are told apart. */
import { createRequire } from 'node:module';
import { afterEach, expect, test, vi } from 'vitest';
import type { LongHistory } from '../../../src/console/index.ts';
import { State } from '../../../src/console/page/state.ts';
import { FULL_LONG, FULL_VIEW } from '../../console/hostileTexts.ts';
import { textOf } from './pageText.ts';

afterEach(() => vi.unstubAllGlobals());

test('says whether results are loading, absent or unreadable, and keeps the last ones after an error', async () => {
  vi.stubGlobal('preact', createRequire(import.meta.url)('preact'));
  const { resultsPanel } = await import('../../../src/console/page/accountPanels.ts');
  const long: LongHistory = { ...FULL_LONG, results: [{ ...FULL_LONG.results[0]!, change: null }] };
  let answer: () => Promise<Response> = () => Promise.reject(new Error('no connection'));
  vi.stubGlobal('fetch', (path: string) => (path === '/long-history' ? answer() : Promise.reject(new Error('none'))));
  vi.stubGlobal('window', globalThis);
  let receive: (message: { data: string }) => void = () => undefined;
  class Stream {
    static readonly CLOSED = 2;
    readyState = 1;
    set onmessage(take: typeof receive) {
      receive = take;
    }
    close(): void {
      this.readyState = Stream.CLOSED;
    }
  }
  vi.stubGlobal('EventSource', Stream);
  let now = 0;
  const state = new State(
    () => undefined,
    () => undefined,
    () => now,
  );
  const shown = () => textOf(resultsPanel(state.long, state.longState, 'mxn', false)).trim();
  expect(shown()).toBe('loading');
  state.listen();
  const asked = async (next: typeof answer) => {
    answer = next;
    now += 60_000;
    receive({ data: JSON.stringify(FULL_VIEW) });
    await new Promise(resolve => setImmediate(resolve));
    await new Promise(resolve => setImmediate(resolve));
    return shown();
  };
  const known = () => Promise.resolve(new Response(JSON.stringify(long)));
  expect(await asked(() => Promise.reject(new Error('no connection')))).toMatch(/^the results cannot be read/);
  expect(await asked(() => Promise.resolve(new Response(null, { status: 204 })))).toMatch(/^no results yet/);
  expect(await asked(known)).toContain('opening of the ledger');
  const failed = await asked(() => Promise.resolve(new Response('', { status: 500 })));
  expect(failed).toMatch(/The last request failed; these results are older/);
  expect(failed).toContain('part while stopped');
  expect(await asked(known)).not.toContain('The last request failed');
  const unknown = textOf(resultsPanel({ ...long, isOpeningKnown: false }, 'known', 'mxn', false));
  expect(unknown).toContain('first stored figure');
});
