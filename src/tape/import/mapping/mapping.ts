/** The mapping file: which columns of which CSV or Parquet files mean what, in which units and words. */
import { LineCounter, parseDocument } from 'yaml';
import { z } from 'zod';
import { sessionOf } from '../../model/session.ts';
import { timeZoneOf } from '../../model/timeZone.ts';
import { plainText } from '../digits.ts';
import { WrongFile } from '../read/findings.ts';

const column = z.string().min(1);
const decimal = z
  .union([z.string(), z.number()])
  // YAML reads 0.00000001 as a number, whose text is 1e-8.
  .transform(value => (typeof value === 'number' ? plainText(String(value), () => undefined) : value))
  .pipe(z.string().refine(text => /^\d+(\.\d+)?$/.test(text) && /[1-9]/.test(text), 'expected a decimal above 0'));
const word = z.union([z.string(), z.number(), z.boolean()]).transform(String);
const words = z.array(word).min(1);
const side = z.strictObject({ column, buy: words, sell: words });
const NO_TIME = {
  unit: 'text' as const,
  ...{ hour: undefined, clock: undefined, clockDigits: undefined, zone: undefined, order: undefined, day: false },
};

/** Text that `read` takes; what it throws is what is wrong. */
const textFor = (read: (text: string) => unknown) =>
  z.string().superRefine((text, context) => {
    try {
      read(text);
    } catch (error) {
      context.addIssue((error as Error).message);
    }
  });
const takerSide = side.extend({
  /** Words of trades that have no taker. */
  none: words.default([]),
});
const snapshot = z.strictObject({ column, words });

const time = z.union([
  column.transform(name => ({ ...NO_TIME, column: [name] })),
  z.strictObject({
    /** Of several the first that is not empty. */
    column: z.union([column.transform(name => [name]), z.array(column).min(1)]),
    /** Of a date alone: the column with its hour. */
    hour: column.optional(),
    /** Of a date alone: the column with its time of day. */
    clock: column.optional(),
    /** Of a time of day in digits alone, such as 93000: how many it has with the noughts before it. */
    clockDigits: z.literal([4, 6, 9, 12, 15]).optional(),
    unit: z.enum(['s', 'ms', 'us', 'ns', 'text']).default('text'),
    zone: textFor(timeZoneOf).optional(),
    /** Of dates such as 11/12/2023: which number is the month. */
    order: z.enum(['mdy', 'dmy']).optional(),
    /** True: counted from midnight of the date in the file's name. */
    day: z.boolean().default(false),
  }),
]);

const COMMON = {
  files: z.string().min(1),
  delimiter: z.string().length(1).default(','),
  /** Names of the columns of a file without a header line. */
  header: z.array(column).min(1).optional(),
  /** Of JSON: the list whose elements are the rows, and names of the words before it in a line. */
  json: z.strictObject({ rows: column.optional(), before: z.array(column).default([]) }).optional(),
  /** Files whose rows stand beside these, row by row, and their columns. */
  beside: z.strictObject({ files: z.string().min(1), header: z.array(column).min(1) }).optional(),
  where: z.record(z.string(), z.union([word.transform(one => [one]), words])).default({}),
  time,
  received: time.optional(),
  /** Seconds by which rows may stand out of order: they are sorted within that. */
  sort: z.number().positive().max(3_600).optional(),
  /** What one of the file's numbers is worth. */
  priceUnit: decimal.default('1'),
  amountUnit: decimal.default('1'),
  /** What stands between whole numbers and decimals, and between thousands. */
  decimal: z.literal(['.', ',']).default('.'),
  thousands: z.literal(['.', ',', ' ', "'", '_']).optional(),
  /** Seconds; a longer silence is a gap. Of trades only where it is given. */
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
      /** The price that says that a side is as it was. */
      unchanged: word.optional(),
    })
    .refine(({ bidAmount, askAmount }) => (bidAmount === undefined) === (askAmount === undefined), {
      message: 'expected both of bidAmount and askAmount, or neither',
    }),
  z.strictObject({
    ...COMMON,
    kind: z.literal('books'),
    levels: z.number().int().positive().max(5_000),
    /** Number of the first level, which stands for `{}` in the names of columns. */
    first: z.number().int().nonnegative().default(0),
    bid: column,
    bidAmount: column.optional(),
    ask: column,
    askAmount: column.optional(),
    /** What stands between levels and between price and amount, when a side is one cell: "|:". */
    packed: z.string().length(2).optional(),
    /** Prices of levels that are not there. */
    empty: words.optional(),
  }),
  z.strictObject({
    ...COMMON,
    kind: z.literal('levels'),
    side,
    price: column,
    amount: column,
    /** Rows of levels that are gone, whatever their amount. */
    removed: z.strictObject({ column, words }).optional(),
    /** Rows that are part of a whole book: one, as long as they were received at one time. */
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
          /** The amount is what is left of the order. */
          change: words.default([]),
          /** The amount is what went from the order, without an execution. */
          reduce: words.default([]),
          remove: words.default([]),
          /** The amount is what was executed of the order. */
          execute: words.default([]),
          /** As `execute`, where another event takes the amount from the order and the trade has a row of its own. */
          fill: words.default([]),
          /** The order leaves the book, and one with the id of `newId`, and the price and amount of the row, rests instead. */
          replace: words.default([]),
          /** The book is empty. */
          clear: words.default([]),
        })
        .refine(({ remove, reduce, execute }) => [remove, reduce, execute].some(({ length }) => length > 0), {
          message: 'expected words of remove, reduce or execute: something must take orders out of the book',
        }),
      id: column,
      /** Column with the id that a `replace` gives the order. */
      newId: column.optional(),
      side,
      price: column,
      amount: column,
      /** As of `levels`: orders of a whole book. */
      snapshot: snapshot.optional(),
    })
    .refine(({ event, newId }) => event.replace.length > 0 === (newId !== undefined), {
      path: ['newId'],
      message: 'expected the column of the new id if event.replace has words, and no key otherwise',
    }),
  z.strictObject({
    ...COMMON,
    kind: z.literal('trades'),
    price: column,
    amount: column,
    id: column.optional(),
    /** The taker's. */
    side: takerSide.optional(),
  }),
]);

const mapping = z.strictObject({
  book: z.string().regex(/^[a-z0-9]+_[a-z0-9]+$/, 'expected a book like btc_usd'),
  tick: decimal.optional(),
  lot: decimal.optional(),
  /** Hours in which the market is open, such as 09:30-16:00@America/New_York; the others are gaps. */
  session: textFor(sessionOf).optional(),
  tables: z.array(table).min(1),
});

export type Mapping = z.infer<typeof mapping>;
export type Table = Mapping['tables'][number];
export type TableOf<K extends Table['kind']> = Extract<Table, { kind: K }>;
export type Time = Table['time'];
export type SideWords = z.infer<typeof side>;

/** Reads the text of a mapping file. Throws a WrongFile of one line that names the file, its line and what was expected. */
export function mappingOf(text: string, path: string): Mapping {
  if (text.length > TEXT_MAX)
    throw new WrongFile(`${path}: expected at most ${TEXT_MAX} letters, found ${text.length}`);
  const lines = new LineCounter();
  const { document, value } = yamlOf(text, path, lines);
  const found = mapping.safeParse(value);
  if (found.success) return found.data;
  const [issue] = found.error.issues;
  const at = issue!.path.join('.');
  // A key that is missing stands nowhere: what holds it does.
  const places = issue!.path.map((_, i) => document.getIn(issue!.path.slice(0, issue!.path.length - i), true));
  const place = places.find((node): node is { range: [number, number, number] } => isNode(node));
  const line = place === undefined ? '' : `:${lines.linePos(place.range[0]).line}`;
  throw new WrongFile(`${path}${line}: ${at === '' ? 'the file' : at}: ${issue!.message}`);
}

/** A mapping of a hundred tables is shorter. */
const TEXT_MAX = 256 * 1024;

/** Anchors that repeat each other a thousandfold, and text that is too deep, are refused as any other that is not YAML. */
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
