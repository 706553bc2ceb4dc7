/** Configurations of several books for tests, and recordings of the linked markets that they quote. */
import { recordLinkedFlows, rowsOfTape, type SeveralBooksRun } from '../../../backtest/index.ts';
import { booksOf, type Config } from '../../../src/config.ts';
import type { Tape } from '../../../src/tape/index.ts';
import { tradedConfigOfText } from '../../../src/wiring/configFile.ts';
import { ownFees } from '../../../backtest/app/backtest/backtest.ts';
import { feedTravel, type Latencies } from '../../../backtest/app/backtest/backtestModel.ts';
import { runSeveralBooksJob, type SeveralBooksJob } from '../../../backtest/app/severalBooks/severalBooksRun.ts';

export const LATENCIES: Latencies = {
  orders: { kind: 'constant', ms: 25 },
  cancels: { kind: 'constant', ms: 25 },
  answers: { kind: 'constant', ms: 25 },
  feed: { kind: 'constant', ms: 0 },
};

export type WantedBook = {
  readonly amount: string;
  readonly positionMax: string;
  readonly lossMax?: string;
  readonly toleranceBps?: number;
  /** Further sections of the book, one on each line. */
  readonly more?: readonly string[];
};

export type WantedBooks = {
  readonly books: Readonly<Record<string, WantedBook>>;
  readonly balances: Readonly<Record<string, string>>;
  readonly more?: string;
  readonly halfSpreadBps?: number;
  readonly privatePerMinute?: number;
  readonly decideEveryMs?: number;
};

/** A configuration with `books`; of one book, with `book`. */
export function severalBooksConfig(wanted: WantedBooks): Config {
  const { books, balances, more = '', halfSpreadBps = 8, privatePerMinute = 1_000, decideEveryMs = 500 } = wanted;
  const names = Object.keys(books);
  const sections = (name: string, indent: string): string => {
    const { amount, positionMax, lossMax = '100000000', toleranceBps = 2, more: own = [] } = books[name]!;
    return [
      `strategy: { name: ladder, reference: mid, halfSpreadBps: ${halfSpreadBps}, levels: 2, levelSpacingBps: 6, amount: '${amount}', refreshToleranceBps: ${toleranceBps}, minEdgeBps: -1000, skew: { priceBpsAtLimit: 10, sizeRange: '${positionMax}' } }`,
      `limits: { positionMax: '${positionMax}', orderValueMax: '1000000', ordersMax: 8, collarBps: 500, drawdownMax: '${lossMax}', dayLossMax: '${lossMax}' }`,
      'halts: { fillsPer10Min: 10000, refusalsPerMinute: 10000, unknownsPerMinute: 10000, messagesPerMinute: 10000 }',
      ...(indent === '' ? [] : own),
    ]
      .map(line => `${indent}${line}\n`)
      .join('');
  };
  const list =
    names.length === 1
      ? `book: ${names[0]}\n${sections(names[0]!, '')}`
      : `books:\n${names.map(name => `  - symbol: ${name}\n${sections(name, '    ')}`).join('')}${sections(names[0]!, '')}`;
  const balanceText = Object.entries(balances)
    .map(([currency, total]) => `${currency}: '${total}'`)
    .join(', ');
  return tradedConfigOfText(
    'desk.yaml',
    `${list}instance: desk
exchange:
  kind: embedded
  balances: { ${balanceText} }
  volume30d: '200000000'
  budgets: { privatePerMinute: ${privatePerMinute} }
  market: { kind: flow${names.length === 1 ? '' : `, books: { ${names.map(name => `${name}: {}`).join(', ')} }`} }
timing: { decideEveryMs: ${decideEveryMs}, privatePollMs: 2000, bookPollMs: 10000, staleAfterMs: 30000 }
${more}`,
  );
}

/** Tapes of the books on one set of hidden prices, in order. */
export const severalBooksTapes = (books: readonly string[], seed: number, seconds: number, correlation = 0.7) =>
  recordLinkedFlows(Object.fromEntries(books.map(book => [book, { noiseBps: 1 }])), { seed, seconds, correlation });

/** A job over complete tapes, which may start and end at other times. */
export function severalBooksJob(
  config: Config,
  tapes: readonly Tape[],
  change: Partial<SeveralBooksJob> = {},
): SeveralBooksJob {
  const { latencies = LATENCIES, seed = 1 } = change;
  const ends = tapes.map(({ columns: { at, length } }) => [at[0]!, at[length - 1]!] as const);
  return {
    config,
    model: 'expected',
    seed,
    latencies,
    from: Math.max(...ends.map(([from]) => from)),
    to: Math.min(...ends.map(([, to]) => to)),
    balances: config.exchange.kind === 'embedded' ? config.exchange.balances : {},
    privatePerMinute: config.exchange.budgets.privatePerMinute,
    books: booksOf(config).map((one, i) => ({
      instrument: tapes[i]!.instrument,
      rows: { kind: 'memory', rows: rowsOfTape(tapes[i]!, { feed: feedTravel(latencies, seed) }) },
      gaps: tapes[i]!.gaps,
      fees: ownFees(one) ?? {
        tiers: [{ volume: '999999999999999', maker: '0.0002', taker: '0.0004' }],
        volume30d: '0',
      },
      csv: null,
    })),
    ...change,
  };
}

export type Reports = SeveralBooksRun['reports'];

export const runOf = (job: SeveralBooksJob): Reports => runSeveralBooksJob(job).reports;
