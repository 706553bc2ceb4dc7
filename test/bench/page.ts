/** The figures of `npm run bench` as the tables of docs/development/benches.md. */
import { AIMS } from './backtest.ts';
import type { TapeFigures } from './tape.ts';

export const PAGE = 'docs/development/benches.md';
/** The text between these lines is written by `npm run bench -- --page`. */
const BEGIN = '<!-- Written by `npm run bench -- --page`: do not edit. -->';
const END = '<!-- End of what is written. -->';

export type Measured = {
  readonly commit: string;
  readonly date: string;
  readonly machine: string;
  readonly size: 'full' | 'smallest';
  /** Median and all rounds of a figure, by its name. */
  readonly figures: Readonly<Record<string, { readonly median: number; readonly rounds: readonly number[] }>>;
  /** Empty where the reference tape cannot be made. */
  readonly backtest: Readonly<Record<string, number>>;
  readonly tapes: Readonly<Record<string, TapeFigures>>;
};

const count = (n: number): string => Math.round(n).toLocaleString('en-US');

const WHAT: Readonly<Record<keyof typeof AIMS, string>> = {
  book: 'book only',
  golden: 'golden run, in memory',
  goldenFromTape: 'golden run, from a stored tape (two threads)',
  production: 'production path: engine, risk gate, ladder of two levels per side, accounting, one fill model',
  productionFromTape: 'production path, from a stored tape (two threads)',
  threeModels: 'three fill models over one set of rows (three threads), events of all three',
  sideBySide: 'sixteen configurations in one thread, events of all sixteen, over the first fifth',
};

/** Markdown of everything that was measured, with commit, date and machine. */
export function tablesOf({ commit, date, machine, size, figures, backtest, tapes }: Measured): string {
  const median = (name: string): number => figures[name]!.median;
  const ratio = (name: string): string => {
    const { rounds } = figures[name]!;
    return `${median(name).toFixed(2)} (${Math.min(...rounds).toFixed(2)} to ${Math.max(...rounds).toFixed(2)})`;
  };
  const strategies = Object.keys(figures).flatMap(name => /^strategy\.(.+)\.p99Micros$/.exec(name)?.[1] ?? []);
  const ms = (name: string): string =>
    `p50 ${median(`${name}.p50Ms`).toFixed(1)} ms, p99 ${median(`${name}.p99Ms`).toFixed(1)} ms`;
  const share = (name: string): string => backtest[name]?.toFixed(3) ?? '';
  return [
    `Measured at commit ${commit} on ${date}: ${machine}.`,
    ...(size === 'smallest'
      ? ['', 'This was the smallest size, which shows that the bench runs: its figures cannot be compared.']
      : []),
    '',
    '| what | figure | compared with | figure | ratio |',
    '|---|---:|---|---:|---:|',
    `| engine, 50 levels per side: book read, ladder of 5 levels per side quoted, planned and passed through the risk gate | ${count(median('engine.decidingStepsPerSecond'))} steps/s, p99 ${count(median('engine.decidingP99Micros'))} µs | \`JSON.parse\` of that book as the exchange sends it | ${count(median('engine.bookParsesPerSecond'))}/s | ${ratio('engine.decidingToParsing')} |`,
    `| engine, a level changed, nothing to decide yet | ${count(median('engine.quietStepsPerSecond'))} steps/s | | | |`,
    ...('desk.p99Micros' in figures
      ? [
          `| engine of ten books with joint inventory and limits by currency: a decision of one book, p99 | ${count(median('desk.p99Micros'))} µs | wanted | 100 µs | |`,
          `| memory of one more book in it | ${median('desk.mbPerBook').toFixed(2)} MB | wanted | 10 MB | |`,
        ]
      : []),
    `| embedded exchange over HTTP: signature and nonce checked, matched, settled | ${count(median('http.ordersPerSecond'))} orders/s | \`node:http\` that answers a constant | ${count(median('http.bareRequestsPerSecond'))} requests/s | ${ratio('http.ordersToBare')} |`,
    `| matching engine, places and cancels | ${count(median('matching.operationsPerSecond'))} ops/s | \`nodejs-order-book\` on the same operations | ${count(median('matching.otherOperationsPerSecond'))} ops/s | ${ratio('matching.toOther')} |`,
    ...('livePrice.request.p99Ms' in figures
      ? [
          `| price of a source by stream to the first request about an order | ${ms('livePrice.request')} | wanted | 5 ms | |`,
          `| the same to the first new order, which is on disk before | ${ms('livePrice.order')} | one durable write | ${ms('livePrice.write')} | |`,
        ]
      : []),
    '',
    '| decision by strategy, five levels per side on a book of 50 | p99, µs (at most 50 are wanted) |',
    '|---|---:|',
    ...strategies.map(name => `| ${name} | ${count(median(`strategy.${name}.p99Micros`))} |`),
    ...('backtest.bookEventsPerSecond' in backtest
      ? [
          '',
          "| backtest, as a share of the compiled loop's events per second | M events/s | aim | found | by processor time |",
          '|---|---:|---:|---:|---:|',
          ...('backtest.compiledLoopEventsPerSecond' in backtest
            ? [`| compiled loop | ${(backtest['backtest.compiledLoopEventsPerSecond'] / 1e6).toFixed(1)} | | 1 | 1 |`]
            : []),
          ...Object.entries(WHAT).map(
            ([name, what]) =>
              `| ${what} | ${(backtest[`backtest.${name}EventsPerSecond`]! / 1e6).toFixed(1)} | ${AIMS[name as keyof typeof AIMS] ?? ''} | ${share(`backtest.${name}ToCompiledLoop`)} | ${share(`backtest.${name}ProcessorTimeToCompiledLoop`)} |`,
          ),
        ]
      : []),
    ...(Object.keys(tapes).length > 0
      ? [
          '',
          '| stored tape | rows | bytes per row (aim 6) | decoded, M rows/s (aim 16) |',
          '|---|---:|---:|---:|',
          ...Object.entries(tapes).map(
            ([name, { rows, bytesPerRow, decodeRowsPerSecond }]) =>
              `| ${name} | ${count(rows)} | ${bytesPerRow.toFixed(2)} | ${(decodeRowsPerSecond / 1e6).toFixed(1)} |`,
          ),
        ]
      : []),
  ].join('\n');
}

/** The page with new tables. @throws if its markers are missing. */
export function withTables(page: string, tables: string): string {
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`${PAGE}: expected the lines ${BEGIN} and ${END}`);
  return `${page.slice(0, from + BEGIN.length)}\n\n${tables}\n\n${page.slice(to)}`;
}

/** The written part of the page. @throws if its markers are missing. */
export function tablesIn(page: string): string {
  withTables(page, '');
  return page.slice(page.indexOf(BEGIN) + BEGIN.length, page.indexOf(END)).trim();
}
