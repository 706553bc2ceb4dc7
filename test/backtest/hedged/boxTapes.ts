/** Tapes of the two exchanges in a box, recorded in virtual time by the recorders of `puntas record` through the streams of both. */
import { join } from 'node:path';
import { randomOf, VirtualClock, type BookRules, type VenueClient } from '../../../src/core/index.ts';
import type { Config } from '../../../src/config.ts';
import { expectedSymbol } from '../../../src/exchange/binance/client.ts';
import { combinedStreamPath } from '../../../src/exchange/binance/stream/stream.ts';
import { binanceSpot, bitso } from '../../../src/exchange/index.ts';
import { inProcessStream } from '../../../src/sandbox/index.ts';
import {
  LevelRecorder,
  loadStoredTape,
  openStoredTape,
  Recorder,
  rulesOf,
  TapeWriter,
  type RecordSink,
  type Tape,
} from '../../../src/tape/index.ts';
import { openBox } from '../../../src/wiring/embedded.ts';
import { transportTo } from '../../exchange/binance/fakes.ts';
import { wireTo } from '../../live/inProcess.ts';

/** Tapes of the traded book of the first exchange, and of the book of the second exchange. */
export type BoxTapes = { readonly quoted: Tape; readonly hedge: Tape };

/** Records both exchanges of a configuration from their start, in the folders `here` and `there` of `dir`. */
export async function boxTapes(config: Config, seed: number, hours: number, dir: string): Promise<BoxTapes> {
  const clock = new VirtualClock();
  const box = openBox(config, clock, { tapes: [], seed });
  const { second } = box;
  if (second === null || config.elsewhere === undefined) throw new Error('expected two exchanges in the configuration');
  const random = () => randomOf(seed);
  const connection = { deadlineMs: 5_000, budgets: { public: 57, private: 57 }, restUrl: 'http://127.0.0.1/api' };
  const here = bitso.connect({
    ...{ ...connection, clock, random: random(), transport: wireTo({ ...box, clock, random: random() }) },
  });
  const there = binanceSpot.connect({
    ...{ ...connection, clock, random: random(), transport: transportTo(second.exchange, clock) },
  });
  const broken: unknown[] = [];
  const writerOf = (name: string, rules: BookRules, depth: number) =>
    new TapeWriter({ dir: join(dir, name), rules, source: name, depth });
  const shared = (writer: TapeWriter, exchange: VenueClient, rules: BookRules) => ({
    ...{ clock, exchange, rules, lot: writer.lot, resumedFrom: null, sink: lazily(writer), log: () => undefined },
    onBroken: (error: unknown) => void broken.push(error),
  });
  const rulesIn = async (exchange: VenueClient, book: string): Promise<BookRules> => {
    const request = exchange.availableBooks();
    await clock.advance(500);
    const listed = await request;
    const row = listed.kind === 'done' ? listed.value.find(each => each.book === book) : undefined;
    if (row === undefined) throw new Error(`the exchange does not list ${book}`);
    return rulesOf(row);
  };
  const [book, hedgeBook] = [config.book, config.elsewhere.book];
  const [rules, hedgeRules] = [await rulesIn(here, book), await rulesIn(there, hedgeBook)];
  const writers = [writerOf('here', rules, Infinity), writerOf('there', hedgeRules, there.limits.depth)] as const;
  const path = combinedStreamPath(expectedSymbol(hedgeBook));
  const recorders = [
    new Recorder({
      ...shared(writers[0], here, rules),
      stream: bitso.marketStream!({
        ...{ clock, random: random(), book, exchange: here },
        transport: inProcessStream(box.exchange.stream, clock),
      }),
    }),
    new LevelRecorder({
      ...shared(writers[1], there, hedgeRules),
      pollMs: 10_000,
      stream: binanceSpot.marketStream!({
        ...{ clock, random: random(), book: hedgeBook, exchange: there },
        transport: inProcessStream(second.exchange.stream, clock, 0, path),
      }),
    }),
  ];
  for (const recorder of recorders) recorder.start();
  await clock.advance(hours * 3_600_000);
  for (const recorder of recorders) recorder.stop();
  for (const writer of writers) writer.close();
  box.stop();
  if (broken.length > 0) throw broken[0];
  const read = (name: string): Tape => loadStoredTape(openStoredTape(join(dir, name)));
  return { quoted: read('here'), hedge: read('there') };
}

/** Returns the writer without its flushes, each of which waits for the disk. */
const lazily = (writer: TapeWriter): RecordSink => ({
  append: columns => writer.append(columns),
  gap: gap => writer.gap(gap),
  flaws: entries => writer.flaws(entries),
  rulesChanged: (to, at) => writer.rulesChanged(to, at),
  flush: () => undefined,
});
