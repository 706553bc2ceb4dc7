import { afterAll, expect, test } from 'vitest';
import { replay } from '../../../src/app/inspect/replayCheck.ts';
import { explain } from '../../../src/app/inspect/explain.ts';
import { explanationText } from '../../../src/app/inspect/explainText.ts';
import { lineOf } from '../../../src/live/recording/recording.ts';
import { readRecording, recordingsIn } from '../../../src/live/recording/recordings.ts';
import { inProcessStream } from '../../../src/sandbox/index.ts';
import { doomed, restarted } from '../crashes.ts';
import { Folders } from '../states.ts';
import { started, worldOf } from '../world.ts';

const folders = new Folders();
afterAll(() => folders.clear());
const SECOND = 1_000;

const CHANGES = {
  reference: {
    sources: [{ name: 'cross', books: ['btc_usd', 'usd_mxn'], staleAfterMs: 20_000, amount: '0.01' }],
    everyMs: 8_000,
    basis: { errorMaxBps: 8 },
  },
  timing: { bookPollMs: 2_500 },
  limits: { collarBps: 400 },
  fairValue: { withinBps: 200, reference: { maxDivergenceBps: 200, leave: { costMaxBps: 90 } } },
};

test('a bot quotes around another book of the exchange with a basis that outlives a stop, and replays command by command without it', async () => {
  const world = worldOf(72, CHANGES);
  const stream = inProcessStream(world.box.exchange.stream, world.clock, 5);
  const first = await doomed(world, folders, undefined, { stream });
  await world.clock.advance(90 * SECOND);
  const dir = world.config.state.dir;
  const told = explain({ dir, at: null });
  expect(told.difference).toBeNull();
  expect(told.sources).toEqual([expect.objectContaining({ name: 'cross', notUsed: null })]);
  expect(told.sources[0]!.basisErrorBps).toBeLessThan(8);
  expect(told.fair?.steps.map(({ name }) => name)).toEqual(['fair value: mid', 'price there', 'basis']);
  expect(explanationText(told)).toMatch(
    /^source cross: [\d.]+, age \d+\.\d s, lag -?\d+ ms, basis -?[\d.]+ ± [\d.]+ bps/m,
  );
  await first.running.stop();
  const second = await restarted(world, dir, { stream });
  await world.clock.advance(5 * SECOND);
  const again = explain({ dir, at: null });
  // It does not measure the basis anew: five seconds would not be enough.
  expect(again.sources[0]).toMatchObject({ notUsed: null });
  expect(again.refusal).toBeNull();
  await second.stop();
  const printed: string[] = [];
  expect(replay(dir, 'all', line => printed.push(line))).toBe(true);
  expect(printed.filter(line => line.endsWith('all commands identical'))).toHaveLength(2);
  for (const { run } of recordingsIn(dir)) {
    const lines = [...(readRecording(dir, run)?.lines ?? [])].map(lineOf);
    expect(lines.filter(line => line.kind === 'input' && line.event.kind === 'source').length).toBeGreaterThan(4);
  }
  world.end();
});

test('when a book there cannot be read any more, the quotes go with the reason, and they return with the book', async () => {
  const { basis: _, ...reference } = CHANGES.reference;
  const sources = [{ ...reference.sources[0], staleAfterMs: 10_000 }];
  const world = worldOf(72, { ...CHANGES, reference: { ...reference, sources } });
  let isCut = false;
  const running = await started(world, {
    fate: ({ target }) => (isCut && target.includes('book=btc_usd') ? 'lost' : 'arrives'),
  });
  const look = async (seconds: number) => {
    await world.clock.advance(seconds * SECOND);
    return explain({ dir: world.config.state.dir, at: null });
  };
  expect((await look(20)).refusal).toBeNull();
  isCut = true;
  const { refusal, levels, sources: told } = await look(25);
  expect(refusal).toBe('no live price');
  expect(levels.every(({ decision }) => decision === 'not placed')).toBe(true);
  expect(told[0]!.notUsed).toBe(
    'lost (exchange btc_usd for 0.01: the book could not be read: no complete answer within 5000 ms (by the test))',
  );
  expect(running.log.map(({ text }) => text)).toContainEqual(expect.stringMatching(/^not quoting: no live price \(/));
  isCut = false;
  expect((await look(10)).refusal).toBeNull();
  await running.stop();
  const printed: string[] = [];
  expect(replay(world.config.state.dir, 'all', line => printed.push(line))).toBe(true);
  world.end();
});
