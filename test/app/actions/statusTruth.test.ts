/** What `puntas status` says of a bot that shows no life: yes, no, or unknown, by the evidence there is and its age. */
import { readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Clock } from '../../../src/core/index.ts';
import { botStatus } from '../../../src/app/actions/botStatus.ts';
import { botStatusText } from '../../../src/app/actions/botStatusText.ts';
import { HEARTBEAT_FILES } from '../../../src/live/safety/heartbeat.ts';
import { noteOrdersSeen } from '../../../src/live/safety/ordersSeen.ts';
import { FULL_VIEW } from '../../console/hostileTexts.ts';
import { started, worldOf, type World } from '../../live/world.ts';

let world: World;
let end: () => Promise<unknown>;
let beat: Record<string, unknown>;
beforeAll(async () => {
  world = worldOf(17);
  const running = await started(world);
  await world.clock.advance(30_000);
  end = () => running.stop();
  beat = JSON.parse(readFileSync(join(world.stateDir, HEARTBEAT_FILES.bot), 'utf8')) as typeof beat;
});
afterAll(async () => {
  await end();
  world.end();
});

const BEAT_AT = 1_800_000_000_000;
const clockAt = (at: number): Clock => ({
  now: () => at,
  elapsed: () => 0,
  after: () => ({ stop: () => undefined }),
});
/** No process has such a number. */
const NO_PROCESS = 2 ** 22 + 1;

/** The recording is that of a bot with quotes; its heartbeat, and what others have seen, are as they are given. */
async function statusOf(
  state: string,
  agoMs: number,
  seen: { readonly afterMs: number; readonly count: number } | null,
) {
  const file = join(world.stateDir, HEARTBEAT_FILES.bot);
  const process = { ...(beat['process'] as object), pid: NO_PROCESS };
  writeFileSync(file, JSON.stringify({ ...beat, state, process }));
  utimesSync(file, BEAT_AT / 1_000, BEAT_AT / 1_000);
  const at = BEAT_AT + (seen?.afterMs ?? -1e9);
  noteOrdersSeen(world.stateDir, { at, by: 'sentinel', count: seen?.count ?? 0 });
  const status = await botStatus(world.stateDir, clockAt(BEAT_AT + agoMs));
  return { status, text: botStatusText(status, world.stateDir).replaceAll(/\s+/g, ' '), mtime: statSync(file).mtimeMs };
}

test('orders of a bot that shows no life are unknown, unless another process has looked since its last sign of life', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('alive', 'kept out', 'stopped'),
      fc.integer({ min: 20_000, max: 86_400_000 }),
      fc.option(fc.record({ afterMs: fc.integer({ min: -60_000, max: 60_000 }), count: fc.nat(5) })),
      async (state, agoMs, seen) => {
        const { status, text } = await statusOf(state, agoMs, seen);
        const { openOrders, run } = status;
        if (state === 'stopped') {
          expect(openOrders).toMatchObject({ count: 0, by: 'bot' });
          return;
        }
        const isEvidence = seen !== null && seen.afterMs >= 0;
        const count = isEvidence ? seen.count : null;
        expect(openOrders).toEqual(
          isEvidence ? { count, at: BEAT_AT + seen.afterMs, by: 'sentinel' } : { count: null, at: null, by: null },
        );
        // Nothing is said of now that only the recording says.
        expect(run?.recorded.bids.length).toBeGreaterThan(0);
        expect(run?.regime).toMatchObject({ regime: 'unknown', since: null });
        expect([run?.bids, run?.asks]).toEqual(count === 0 ? [[], []] : [null, null]);
        const { fills, holdings, profit, inventory } = run!;
        expect([fills, holdings, profit, inventory.fromTarget]).toEqual([null, null, null, null]);
        expect(run!.unknown).toContain('no heartbeat');
        expect(text).toContain(`fills unknown; fills in the recording of this run: ${run!.recorded.fills}`);
        expect(/no open orders, verified by/.test(text)).toBe(count === 0);
        expect(/orders may still be open/.test(text)).toBe(count === null);
        expect(/ orders? of the bot (?:was|were) open /.test(text)).toBe(count !== null && count > 0);
        expect(text).not.toMatch(/regime +normal/);
      },
    ),
    { numRuns: 20 },
  );
});

test('a disk that takes nothing is named, and a bot that shows no life on it is not called gone', async () => {
  const { status } = await statusOf('alive', 60_000, null);
  const text = botStatusText({ ...status, disk: 'no room' }, world.stateDir).replaceAll(/\s+/g, ' ');
  expect(text).toContain('(it may still be running, but cannot write a heartbeat to its state directory: no room)');
  expect(text).toContain('disk the state directory cannot be written (no room)');
  expect(botStatusText(status, world.stateDir)).not.toContain('disk');
});

test.each([
  [-1_000, -2_000, -400, "follows the bot's book by 1.0 s (95%: 0.4 to 2.0 s)"],
  [-1_000, -2_000, 400, 'neither price clearly leads; lead of the source: -1.0 s (95%: -2.0 to 0.4 s)'],
])('a lead of %d ms with an interval from %d to %d ms is: %s', async (ms, lowMs, highMs, says) => {
  const { status } = await statusOf('alive', 60_000, null);
  const elsewhere = FULL_VIEW.elsewhere!;
  const sources = elsewhere.sources.map(source => ({ ...source, lead: { ms, lowMs, highMs, correlation: 0.5 } }));
  const run = { ...status.run!, elsewhere: { ...elsewhere, sources } };
  expect(botStatusText({ ...status, run }, world.stateDir).replaceAll(/\s+/g, ' ')).toContain(says);
});

test('figures of a running bot whose trades or balances cannot be read are unknown in status, log and metrics until they are read again', async () => {
  const at = worldOf(23);
  let lost: RegExp | null = null;
  const running = await started(at, { fate: ({ target }) => (lost?.test(target) === true ? 'lost' : 'arrives') });
  const page = running.log.map(({ text }) => /metrics at (\S+)/.exec(text)?.[1]).find(url => url !== undefined)!;
  const shown = async () => {
    await at.clock.advance(1_010);
    const metrics = await (await fetch(page)).text();
    const status = await botStatus(at.stateDir, at.clock);
    const line = running.log.findLast(({ text }) => /\| market/.test(text))!;
    return {
      ...{ status, line, text: botStatusText(status, at.stateDir).replaceAll(/\s+/g, ' ') },
      series: ['puntas_position', 'puntas_pnl', 'puntas_profit_since_opening', 'puntas_profit_run'].map(name =>
        metrics.includes(`\n${name}{`),
      ),
    };
  };
  await at.clock.advance(60_000);
  const before = await shown();
  expect([before.status.run!.unknown, before.series]).toEqual([null, [true, true, true, true]]);
  expect(before.line.text).toMatch(/\d+ fills, btc/);

  for (const [list, isTrades] of [
    [/user_trades/, true],
    [/\/balance/, false],
  ] as const) {
    lost = list;
    await at.clock.advance(90_000);
    const { status, line, text, series } = await shown();
    const { run, profit } = status;
    expect([run!.fills, run!.profit, run!.inventory.fromTarget, profit].map(of => of === null)).toEqual(
      Array(4).fill(isTrades),
    );
    expect(run!.holdings).toBeNull();
    expect(series).toEqual([false, !isTrades, !isTrades, !isTrades]);
    expect(text).toContain(`inventory unknown: ${run!.unknown}`);
    expect(/ profit unknown until the bot has read its trades again: /.test(text)).toBe(isTrades);
    expect(line.text).toMatch(
      isTrades
        ? /fills, inventory and profit unknown: the last read of the account's trades is more than 10 s old/
        : /\d+ fills, btc/,
    );
    lost = null;
    await at.clock.advance(30_000);
    const after = await shown();
    expect([after.status.run!.unknown, after.series]).toEqual([null, [true, true, true, true]]);
    expect(after.status.run!.fills).toBeGreaterThanOrEqual(before.status.run!.fills!);
  }
  await running.stop();
  at.end();
});
