/** Presence and surveillance of one of several books: its own quotes, orders, requests and trades, and no other book's. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { executeAction } from '../../../src/app/actions/executeAction.ts';
import { presenceCertificate } from '../../../src/app/compliance/presence.ts';
import { DEFAULT_WINDOWS } from '../../../src/app/compliance/ownFlow.ts';
import { surveillance } from '../../../src/app/compliance/surveillance.ts';
import { pairOf } from '../../../src/core/index.ts';
import { readRecording, recordingsIn } from '../../../src/live/recording/recordings.ts';
import { lineOf } from '../../../src/live/recording/recording.ts';
import { Folders } from '../../live/states.ts';
import { started, worldOf } from '../../live/world.ts';

const folders = new Folders();
afterAll(() => folders.clear());
const BOOKS = ['btc_mxn', 'eth_mxn', 'btc_usd'] as const;

let dir: string;
/** Live orders of each book at the exchange, by side, at each second of the run. */
const seen: Record<string, { bid: number; ask: number }> = {};

beforeAll(async () => {
  const world = worldOf(5, {}, 'desk');
  const running = await started(world);
  const sample = async (seconds: number) => {
    for (let i = 0; i < seconds; i++) {
      await world.clock.advance(1_000);
      const open = world.other().get<{ book: string; side: 'buy' | 'sell' }[]>('GET', '/api/v3/open_orders');
      for (const book of BOOKS) {
        const count = (seen[book] ??= { bid: 0, ask: 0 });
        if (open.some(order => order.book === book && order.side === 'buy')) count.bid++;
        if (open.some(order => order.book === book && order.side === 'sell')) count.ask++;
      }
    }
  };
  await sample(60);
  await executeAction(
    { stateDir: world.stateDir },
    { id: 'a-1', reason: 'the test', by: 'ann', via: 'command', action: 'pause', book: 'eth_mxn' },
    world.clock,
  );
  await sample(120);
  await running.stop();
  dir = folders.copyOf(world.stateDir);
  world.end();
});

const presence = (book?: string) =>
  presenceCertificate({
    dir,
    ...(book === undefined ? {} : { book }),
    ...{ terms: { spreadMaxBps: null, sizeMin: null }, version: 'test' },
  });
const flowOf = (book: string) => surveillance({ dir, book, windows: DEFAULT_WINDOWS });

describe('a recording of three books', () => {
  test.each(BOOKS)('has the presence of %s as the exchange had it', book => {
    const certificate = presence(book);
    expect([certificate.book, certificate.base]).toEqual([book, pairOf(book)[0]]);
    const [day] = certificate.days;
    // Samples are a second apart, and the bot learns of each change of its orders with a delay.
    for (const [side, ms] of [
      ['bid', day!.bidMs],
      ['ask', day!.askMs],
    ] as const)
      expect(Math.abs(ms / 1_000 - seen[book]![side]), `${book} ${side}`).toBeLessThan(15);
    const paused = certificate.stops.filter(({ reason }) => reason.startsWith('paused')).length;
    expect(paused > 0).toBe(book === 'eth_mxn');
  });

  test('has each placement and each execution in exactly one book', () => {
    const lines = recordingsIn(dir).flatMap(({ run }) => [...readRecording(dir, run)!.lines].map(lineOf));
    const commands = lines.flatMap(line => (line.kind === 'commands' ? line.commands : []));
    const trades = new Set(
      lines.flatMap(line =>
        line.kind === 'input' && line.event.kind === 'trades'
          ? line.event.trades.map(({ book, tid }) => `${book} ${tid}`)
          : [],
      ),
    );
    const flows = BOOKS.map(book => flowOf(book).days[0]!.stuffing);
    const sum = (of: (flow: (typeof flows)[number]) => number) => flows.reduce((all, flow) => all + of(flow), 0);
    expect(Math.min(...flows.map(({ placed }) => placed))).toBeGreaterThan(0);
    expect(sum(({ placed }) => placed)).toBe(commands.filter(({ kind }) => kind === 'place').length);
    expect(sum(({ canceled }) => canceled)).toBe(
      new Set(commands.flatMap(one => (one.kind === 'cancel' ? one.ids : []))).size,
    );
    expect(sum(({ executions }) => executions)).toBe(trades.size);
    expect(sum(({ requests }) => requests)).toBeGreaterThanOrEqual(
      commands.filter(({ kind }) => kind !== 'look').length,
    );
  });

  test('is refused without the name of a book, and with the name of another', () => {
    expect(() => presence()).toThrow(/has 3 books \(btc_mxn, eth_mxn, btc_usd\); choose one with --book/);
    for (const read of [() => presence('sol_mxn'), () => flowOf('sol_mxn')])
      expect(read).toThrow('--book sol_mxn: expected a book of the recorded runs (btc_mxn, eth_mxn, btc_usd)');
  });
});
