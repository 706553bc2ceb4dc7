import { describe, expect, test } from 'vitest';
import type { StreamConnection, StreamTransport, WireRequest } from '../../../src/core/index.ts';
import { inProcessStream } from '../../../src/sandbox/index.ts';
import { started, worldOf, type Running, type World } from '../world.ts';

const SECOND = 1_000;
const account = (world: World) => world.box.exchange.venue.accounts.get(world.box.account.id)!;
const ours = (world: World) => [...account(world).active.values()];

/** The way to the stream, which a test can cut. */
function cuttable(inner: StreamTransport) {
  const open = new Set<StreamConnection>();
  let broken = false;
  const transport: StreamTransport = {
    connect: listener => {
      const connection = inner.connect({ ...listener, open: () => (broken ? connection.close() : listener.open()) });
      open.add(connection);
      return connection;
    },
  };
  return {
    transport,
    cut: () => {
      broken = true;
      for (const connection of open) connection.close();
      open.clear();
    },
    mend: () => void (broken = false),
  };
}

async function streaming(seed = 1, latencyMs?: readonly [number, number]) {
  const world = worldOf(seed);
  const line = cuttable(inProcessStream(world.box.exchange.stream, world.clock, 10));
  const running = await started(world, { stream: line.transport, ...(latencyMs ? { latencyMs } : {}) });
  const requests = (part: string, from = 0) =>
    running.arrived.slice(from).filter(({ target }) => target.includes(part));
  return { world, line, running, requests, end: () => finish(world, running) };
}

async function finish(world: World, running: Running) {
  const result = await running.stop();
  world.end();
  return result;
}

const said = (running: Running) => running.log.map(({ text }) => text).filter(text => text.startsWith('market data'));
const isBook = ({ target }: WireRequest): boolean => target.includes('/order_book');

describe('a run with a stream', () => {
  test('quotes from it with one whole book read and hardly a poll, and its ledger equals the exchange', async () => {
    const { world, running, requests, end } = await streaming();
    await world.clock.advance(20 * SECOND);
    const before = running.arrived.length;
    await world.clock.advance(120 * SECOND);
    expect(said(running)).toEqual(['market data comes from the stream']);
    expect(requests('aggregate=false').length).toBe(1);
    // Polled alone this would be 109.
    expect(requests('/order_book', before).length).toBeLessThan(60);
    expect(requests('/v3/trades?', before)).toEqual([]);
    expect(ours(world).length).toBeGreaterThan(0);
    expect(running.log.some(({ text }) => /^bid .* btc ahead\) \| ask .* btc ahead\)/.test(text))).toBe(true);
    const { summary, left } = await end();
    expect([summary.ledgerMatches, left]).toEqual([true, []]);
  });

  test('survives a cut connection by polling, and returns to the stream', async () => {
    const { world, line, running, requests, end } = await streaming(2);
    await world.clock.advance(20 * SECOND);
    line.cut();
    const before = running.arrived.length;
    await world.clock.advance(60 * SECOND);
    expect(requests('/order_book', before).length).toBeGreaterThan(45);
    expect(ours(world).length).toBeGreaterThan(0);
    expect(running.log.filter(({ text }) => text.startsWith('not quoting'))).toEqual([]);
    line.mend();
    await world.clock.advance(60 * SECOND);
    expect(said(running)).toEqual([
      'market data comes from the stream',
      'market data is read by polling: this program closed the connection',
      'market data comes from the stream',
    ]);
    expect((await end()).summary.ledgerMatches).toBe(true);
  });

  test('notices a lost frame at the next one, and a silent stream by polling; neither is quoted on for long', async () => {
    const { world, running, end } = await streaming(3);
    await world.clock.advance(10 * SECOND);
    world.box.exchange.venue.set({ streamDropEvery: 50 });
    await world.clock.advance(120 * SECOND);
    expect(said(running)).toContain('market data is read by polling: a frame was lost');
    world.box.exchange.venue.set({ streamDropEvery: 0, streamFrames: 'withheld' });
    await world.clock.advance(20 * SECOND);
    expect(said(running)).toContain(
      'market data is read by polling: the book of the stream is older than the polled book',
    );
    expect(running.log.filter(({ text }) => text.startsWith('not quoting'))).toEqual([]);
    world.box.exchange.venue.set({ streamFrames: 'sent' });
    await world.clock.advance(90 * SECOND);
    expect(said(running).at(-1)).toBe('market data comes from the stream');
    expect((await end()).summary.ledgerMatches).toBe(true);
  });

  test('whose frames cannot be read polls, tries again less and less often, and keeps within its budget', async () => {
    const world = worldOf(1);
    const inner = inProcessStream(world.box.exchange.stream, world.clock, 10);
    const running = await started(world, {
      stream: {
        connect: listener =>
          inner.connect({ ...listener, text: frame => listener.text(frame.replace(/"sent":\d+/, '"sent":"x"')) }),
      },
    });
    await world.clock.advance(300 * SECOND);
    const whole = running.arrived.filter(({ target }) => target.includes('aggregate=false'));
    expect(whole.length).toBeGreaterThan(3);
    expect(whole.length).toBeLessThan(12);
    expect(running.log.filter(({ text }) => text.startsWith('not quoting'))).toEqual([]);
    expect(ours(world).length).toBeGreaterThan(0);
    expect((await finish(world, running)).summary.ledgerMatches).toBe(true);
  });

  test('without stream and polls no quote stays in the book', async () => {
    const world = worldOf(4);
    const line = cuttable(inProcessStream(world.box.exchange.stream, world.clock, 10));
    let cut = false;
    const running = await started(world, {
      stream: line.transport,
      fate: request => (cut && isBook(request) ? 'lost' : 'arrives'),
    });
    await world.clock.advance(20 * SECOND);
    expect(ours(world).length).toBeGreaterThan(0);
    cut = true;
    line.cut();
    await world.clock.advance(15 * SECOND);
    expect(ours(world)).toEqual([]);
    await finish(world, running);
  });

  test('knows a fill of ours within a fraction of a second, long before the next poll of trades', async () => {
    const world = worldOf(5, { timing: { privatePollMs: 5_000 } });
    const running = await started(world, {
      stream: inProcessStream(world.box.exchange.stream, world.clock, 10),
      latencyMs: [5, 20],
    });
    await world.clock.advance(20 * SECOND);
    const { venue } = world.box.exchange;
    const taker = venue.openAccount({ balances: { btc: '5', mxn: '9000000' } });
    const delays: number[] = [];
    for (let i = 0; i < 10; i++) {
      const best = ours(world)
        .filter(order => order.side === 'sell' && order.engineId > 0)
        .sort((a, b) => a.price - b.price)[0];
      if (best) {
        const fills = () => running.log.filter(({ text }) => /^(bought|sold)/.test(text)).length;
        const before = fills();
        const at = world.clock.elapsed();
        const book = venue.books.get('btc_mxn')!;
        // Sweeps up to our best ask and takes a part of it.
        book.placeSynthetic('buy', best.price, 1e9 as never, 'IOC');
        while (fills() === before && world.clock.elapsed() - at < 10 * SECOND) await world.clock.advance(5);
        delays.push(world.clock.elapsed() - at);
      }
      await world.clock.advance(7 * SECOND);
    }
    expect(taker.id).toBeDefined();
    expect(delays.length).toBeGreaterThan(4);
    expect(Math.max(...delays)).toBeLessThan(400);
    expect((await finish(world, running)).summary.ledgerMatches).toBe(true);
  });

  test('switched off by configuration only polls', async () => {
    const world = worldOf(1, { exchange: { stream: false } });
    const running = await started(world, { stream: inProcessStream(world.box.exchange.stream, world.clock, 10) });
    await world.clock.advance(20 * SECOND);
    expect(running.arrived.filter(isBook).length).toBeGreaterThan(15);
    expect(world.box.exchange.venue.listening).toBe(false);
    expect(ours(world).length).toBeGreaterThan(0);
    await finish(world, running);
  });
});
