/** Schema of the mapping file, which gives the meaning, units and words of columns in CSV, Parquet or JSON files. */
import { LineCounter, parseDocument } from 'yaml';
import { z } from 'zod';
import { sessionOf } from '../../model/session.ts';
import { timeZoneOf } from '../../model/timeZone.ts';
import { plainText } from '../digits.ts';
import { WrongFile } from '../read/findings.ts';

const column = z.string().min(1);
const decimal = z
  .union([z.string(), z.number()])
  // YAML parses 0.00000001 as a number, whose text is 1e-8. `plainText` restores the decimals.
  .transform(value => (typeof value === 'number' ? plainText(String(value), () => undefined) : value))
  .pipe(z.string().refine(text => /^\d+(\.\d+)?$/.test(text) && /[1-9]/.test(text), 'expected a decimal above 0'));
const word = z.union([z.string(), z.number(), z.boolean()]).transform(String);
const words = z.array(word).min(1);
const side = z.strictObject({ column, buy: words, sell: words });
const NO_TIME = {
  unit: 'text' as const,
  ...{ hour: undefined, clock: undefined, clockDigits: undefined, zone: undefined, order: undefined, day: false },
};

/** Schema of text that `read` accepts. If `read` throws, the message of the error becomes the message of the issue. */
const textFor = (read: (text: string) => unknown) =>
  z.string().superRefine((text, context) => {
    try {
      read(text);
    } catch (error) {
      context.addIssue((error as Error).message);
    }
  });
const takerSide = side.extend({
  /** Words that mean a trade without a taker. */
  none: words.default([]),
});
const snapshot = z.strictObject({ column, words });

const time = z.union([
  column.transform(name => ({ ...NO_TIME, column: [name] })),
  z.strictObject({
    /** Columns of the time. The first column that is not empty in a row is used. */
    column: z.union([column.transform(name => [name]), z.array(column).min(1)]),
    /** Column of the hour, for a date without a time. */
    hour: column.optional(),
    /** Column of the time of day, for a date without a time. */
    clock: column.optional(),
    /**
     * Number of digits of a time of day that is written without separators. Missing leading zeros are added: with 6
     * digits, 93000 is 09:30:00.
     */
    clockDigits: z.literal([4, 6, 9, 12, 15]).optional(),
    unit: z.enum(['s', 'ms', 'us', 'ns', 'text']).default('text'),
    zone: textFor(timeZoneOf).optional(),
    /** Order of day and month in dates such as 11/12/2023. */
    order: z.enum(['mdy', 'dmy']).optional(),
    /** Whether times count from midnight of the date in the file name. */
    day: z.boolean().default(false),
  }),
]);

const COMMON = {
  files: z.string().min(1),
  delimiter: z.string().length(1).default(','),
  /** Column names of a file without a header line. */
  header: z.array(column).min(1).optional(),
  /**
   * Location of the rows in JSON. `rows` is the path of the list whose elements are rows. `before` lists the column
   * names of the space-separated words before the JSON in a line.
   */
  json: z.strictObject({ rows: column.optional(), before: z.array(column).default([]) }).optional(),
  /** Companion files, with other columns of the same rows. */
  beside: z.strictObject({ files: z.string().min(1), header: z.array(column).min(1) }).optional(),
  where: z.record(z.string(), z.union([word.transform(one => [one]), words])).default({}),
  time,
  received: time.optional(),
  /** Maximum delay of late rows, in seconds. Rows are sorted by time within this delay. */
  sort: z.number().positive().max(3_600).optional(),
  /** Factor by which the prices in the file are multiplied. */
  priceUnit: decimal.default('1'),
  /** Factor by which the amounts in the file are multiplied. */
  amountUnit: decimal.default('1'),
  /** Decimal separator. */
  decimal: z.literal(['.', ',']).default('.'),
  /** Thousands separator; if omitted, numbers have none. */
  thousands: z.literal(['.', ',', ' ', "'", '_']).optional(),
  /**
   * Time without a row after which a gap is recorded, in seconds. Without this key, a table of trades gets no such
   * gaps.
   */
  silence: z.number().positive().optional(),
};

const table = z.discriminatedUnion('kind', [
  z
    .strictObject({
      ...COMMON,
      kind: z.literal('quotes'),
      bid: column,
      ask: column,
      bidAmount: column.optional(),
      askAmount: column.optional(),
      /** Cell text of a price that means an unchanged side. */
      unchanged: word.optional(),
    })
    .refine(({ bidAmount, askAmount }) => (bidAmount === undefined) === (askAmount === undefined), {
      message: 'expected both bidAmount and askAmount, or neither key',
    }),
  z.strictObject({
    ...COMMON,
    kind: z.literal('books'),
    levels: z.number().int().positive().max(5_000),
    /** Number of the first level; `{}` in column names stands for the number of a level. */
    first: z.number().int().nonnegative().default(0),
    bid: column,
    bidAmount: column.optional(),
    ask: column,
    askAmount: column.optional(),
    /**
     * Separators if all levels of a side are in one cell: the first between levels, the second between price and
     * amount. Example: "|:".
     */
    packed: z.string().length(2).optional(),
    /** Cell texts of a price that mean a missing level. */
    empty: words.optional(),
  }),
  z.strictObject({
    ...COMMON,
    kind: z.literal('levels'),
    side,
    price: column,
    amount: column,
    /** Column whose `words` mean a removed level, whatever the amount in the row. */
    removed: z.strictObject({ column, words }).optional(),
    /** Words that mark rows of a book snapshot. Consecutive rows with the same time of receipt are one snapshot. */
    snapshot: snapshot.optional(),
  }),
  z
    .strictObject({
      ...COMMON,
      kind: z.literal('orders'),
      event: z
        .strictObject({
          column,
          add: words,
          /** Words that mean: the amount is the order's remaining amount. */
          change: words.default([]),
          /** Words that mean: the amount was removed from the order without an execution. */
          reduce: words.default([]),
          remove: words.default([]),
          /** Words that mean: the amount was executed. */
          execute: words.default([]),
          /**
           * Words that mean an execution that has its own trade row, and whose amount a later event removes from the
           * order.
           */
          fill: words.default([]),
          /**
           * Words that mean: the order is replaced. The new order has the id in `newId` and the price and amount of the
           * row.
           */
          replace: words.default([]),
          /** Words that mean: the book is empty. */
          clear: words.default([]),
        })
        .refine(({ remove, reduce, execute }) => [remove, reduce, execute].some(({ length }) => length > 0), {
          message:
            'expected at least one word for remove, reduce or execute; otherwise no order is ever removed from the book',
        }),
      id: column,
      /** Column with the id of the new order of a `replace`. */
      newId: column.optional(),
      side,
      price: column,
      amount: column,
      /** Words that mark rows of a snapshot of orders, as in `levels`. */
      snapshot: snapshot.optional(),
    })
    .refine(({ event, newId }) => event.replace.length > 0 === (newId !== undefined), {
      path: ['newId'],
      message: 'expected both newId (the column of the new id) and event.replace, or neither key',
    }),
  z.strictObject({
    ...COMMON,
    kind: z.literal('trades'),
    price: column,
    /** If omitted, the trades have only prices, and each gets a placeholder amount of one lot. */
    amount: column.optional(),
    id: column.optional(),
    /** Side of the taker. */
    side: takerSide.optional(),
  }),
]);

const mapping = z.strictObject({
  book: z.string().regex(/^[a-z0-9]+_[a-z0-9]+$/, 'expected a book like btc_usd'),
  tick: decimal.optional(),
  lot: decimal.optional(),
  /** Hours in which the market is open, such as 09:30-16:00@America/New_York; other times are gaps. */
  session: textFor(sessionOf).optional(),
  tables: z.array(table).min(1),
});

export type Mapping = z.infer<typeof mapping>;
export type Table = Mapping['tables'][number];
export type TableOf<K extends Table['kind']> = Extract<Table, { kind: K }>;
export type Time = Table['time'];
export type SideWords = z.infer<typeof side>;

/** Parses a mapping file. Throws a WrongFile of one line that names the file, the line and the expected value. */
export function mappingOf(text: string, path: string): Mapping {
  if (text.length > TEXT_MAX)
    throw new WrongFile(`${path}: expected at most ${TEXT_MAX} characters, found ${text.length}`);
  const lines = new LineCounter();
  const { document, value } = yamlOf(text, path, lines);
  const found = mapping.safeParse(value);
  if (found.success) return found.data;
  const [issue] = found.error.issues;
  const at = issue!.path.join('.');
  // A missing key has no position in the file, so the error names the line of its parent.
  const places = issue!.path.map((_, i) => document.getIn(issue!.path.slice(0, issue!.path.length - i), true));
  const place = places.find((node): node is { range: [number, number, number] } => isNode(node));
  const line = place === undefined ? '' : `:${lines.linePos(place.range[0]).line}`;
  throw new WrongFile(`${path}${line}: ${at === '' ? 'the file' : at}: ${issue!.message}`);
}

/** Maximum length of a mapping file, enough for more than a hundred tables. */
const TEXT_MAX = 256 * 1024;

/** Parses YAML. Excessive aliases and nesting are rejected as invalid YAML. */
function yamlOf(text: string, path: string, lineCounter: LineCounter) {
  try {
    const document = parseDocument(text, { lineCounter });
    const [broken] = document.errors;
    if (broken) throw broken;
    return { document, value: document.toJS({ maxAliasCount: 100 }) as unknown };
  } catch (error) {
    throw new WrongFile(`${path}: ${(error as Error).message.split('\n')[0]}`, { cause: error });
  }
}

const isNode = (node: unknown): boolean =>
  typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range);
