/** The mapping file: which columns of which CSV or Parquet files mean what, in which units and words. */
import { LineCounter, parseDocument } from 'yaml';
import { z } from 'zod';
import { plainText } from '../digits.ts';
import { WrongFile } from '../findings.ts';

const column = z.string().min(1);
const decimal = z
  .union([z.string(), z.number()])
  // YAML reads 0.00000001 as a number, whose text is 1e-8.
  .transform(value => (typeof value === 'number' ? plainText(String(value), () => undefined) : value))
  .pipe(z.string().regex(/^(?!0*\.?0*$)\d+(\.\d+)?$/, 'expected a decimal above 0'));
const word = z.union([z.string(), z.number(), z.boolean()]).transform(String);
const words = z.array(word).min(1);
const side = z.strictObject({ column, buy: words, sell: words });

const time = z.union([
  column.transform(name => ({ column: [name], unit: 'text' as const, hour: undefined, zone: undefined, day: false })),
  z.strictObject({
    /** Of several the first that is not empty. */
    column: z.union([column.transform(name => [name]), z.array(column).min(1)]),
    /** Of a date alone: the column with its hour. */
    hour: column.optional(),
    unit: z.enum(['s', 'ms', 'us', 'ns', 'text']).default('text'),
    zone: z
      .string()
      .regex(/^(Z|[+-]\d\d:\d\d)$/, 'expected Z or an offset like -04:00')
      .optional(),
    /** True: counted from midnight of the date in the file's name. */
    day: z.boolean().default(false),
  }),
]);

const COMMON = {
  files: z.string().min(1),
  delimiter: z.string().length(1).default(','),
  /** Names of the columns of a file without a header line. */
  header: z.array(column).min(1).optional(),
  where: z.record(z.string(), z.union([word.transform(one => [one]), words])).default({}),
  time,
  received: time.optional(),
  /** Seconds by which rows may stand out of order: they are sorted within that. */
  sort: z.number().positive().max(3_600).optional(),
  /** What one of the file's numbers is worth. */
  priceUnit: decimal.default('1'),
  amountUnit: decimal.default('1'),
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
  }),
  z.strictObject({
    ...COMMON,
    kind: z.literal('levels'),
    side,
    price: column,
    amount: column,
    /** Rows that are part of a whole book: one, as long as they were received at one time. */
    snapshot: z.strictObject({ column, words }).optional(),
  }),
  z.strictObject({
    ...COMMON,
    kind: z.literal('orders'),
    event: z.strictObject({ column, add: words, change: words.default([]), remove: words }),
    id: column,
    side,
    price: column,
    amount: column,
  }),
  z.strictObject({
    ...COMMON,
    kind: z.literal('trades'),
    price: column,
    amount: column,
    id: column.optional(),
    /** The taker's. */
    side: side.optional(),
  }),
]);

const mapping = z.strictObject({
  book: z.string().regex(/^[a-z0-9]+_[a-z0-9]+$/, 'expected a book like btc_usd'),
  tick: decimal.optional(),
  lot: decimal.optional(),
  tables: z.array(table).min(1),
});

export type Mapping = z.infer<typeof mapping>;
export type Table = Mapping['tables'][number];
export type TableOf<K extends Table['kind']> = Extract<Table, { kind: K }>;
export type Time = Table['time'];
export type SideWords = z.infer<typeof side>;

/** Reads the text of a mapping file. Throws a WrongFile of one line that names the file, its line and what was expected. */
export function mappingOf(text: string, path: string): Mapping {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const [broken] = document.errors;
  if (broken) throw new WrongFile(`${path}: ${broken.message.split('\n')[0]}`);
  const found = mapping.safeParse(document.toJS());
  if (found.success) return found.data;
  const [issue] = found.error.issues;
  const at = issue!.path.join('.');
  // A key that is missing stands nowhere: what holds it does.
  const places = issue!.path.map((_, i) => document.getIn(issue!.path.slice(0, issue!.path.length - i), true));
  const place = places.find((node): node is { range: [number, number, number] } => isNode(node));
  const line = place === undefined ? '' : `:${lines.linePos(place.range[0]).line}`;
  throw new WrongFile(`${path}${line}: ${at === '' ? 'the file' : at}: ${issue!.message}`);
}

const isNode = (node: unknown): boolean =>
  typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range);
