/** Parquet files of one column and two pages, in which every number may be another than it should. */
import fc from 'fast-check';

type Field = readonly [id: number, type: 'i32' | 'i64' | 'binary' | 'struct' | 'list', bytes: Buffer];
const CODES = { i32: 5, i64: 6, binary: 8, list: 9, struct: 12 };

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let left = value;
  for (; left > 127; left = Math.floor(left / 128)) bytes.push((left % 128) | 128);
  return Buffer.from([...bytes, left]);
}
const number = (value: number): Buffer => varint(value >= 0 ? value * 2 : -value * 2 - 1);
const text = (value: string): Buffer => Buffer.concat([varint(value.length), Buffer.from(value)]);
function struct(...fields: readonly Field[]): Buffer {
  let before = 0;
  const parts = fields.map(([id, type, bytes]) => {
    const head = Buffer.of(((id - before) << 4) | CODES[type]);
    before = id;
    return Buffer.concat([head, bytes]);
  });
  return Buffer.concat([...parts, Buffer.of(0)]);
}
const list = (type: Field[1], ...items: readonly Buffer[]): Buffer =>
  Buffer.concat([Buffer.of((items.length << 4) | CODES[type]), ...items]);
const i32 = (id: number, value: number): Field => [id, 'i32', number(value)];
const i64 = (id: number, value: number): Field => [id, 'i64', number(value)];

/** A number as it should be, or another; mostly as it should. */
const or = (right: number) =>
  fc.oneof(
    { weight: 6, arbitrary: fc.constant(right) },
    { weight: 1, arbitrary: fc.constantFrom(0, 1, right + 1, 1e6, 2 ** 27, 2 ** 30, 2 ** 31 - 1, 2 ** 40, -1) },
  );
const ROWS = 300;

/** The bytes of a file whose column is called `c`. */
export const hostileParquet: fc.Arbitrary<Buffer> = fc
  .record({
    type: fc.constantFrom(0, 1, 2, 3, 4, 5, 6, 7),
    typeLength: or(8),
    isOptional: fc.boolean(),
    rows: or(ROWS),
    groupRows: or(ROWS),
    values: or(ROWS),
    packed: or(0),
    pageValues: or(ROWS),
    unpacked: or(0),
    entries: or(1),
    encoding: fc.constantFrom(0, 2, 3, 5, 6, 7, 8, 9),
    width: fc.constantFrom(0, 1, 8, 32, 255),
    run: or(ROWS),
    levels: or(ROWS),
    isV2: fc.boolean(),
    codec: fc.constantFrom(0, 0, 0, 0, 1, 2, 4, 5, 6, 7),
    blocks: fc.tuple(or(128), or(4)),
  })
  .map(of => {
    const runs = (count: number, width: number) =>
      Buffer.concat([varint(count < 0 ? 0 : count * 2), Buffer.alloc(Math.ceil(width / 8), 1)]);
    const levels = of.isOptional ? runs(of.levels, 1) : Buffer.alloc(0);
    const length = Buffer.alloc(4);
    length.writeUInt32LE(levels.length);
    const places = Buffer.concat([Buffer.of(of.width), runs(of.run, of.width)]);
    const differences = Buffer.concat([
      ...of.blocks.map(n => varint(Math.max(0, n))),
      varint(ROWS),
      number(1),
      number(0),
      Buffer.alloc(8),
    ]);
    const data =
      of.encoding === 5 || of.encoding === 6 || of.encoding === 7
        ? differences
        : of.encoding === 3
          ? Buffer.concat([length, runs(of.run, 1)])
          : of.encoding === 0 || of.encoding === 9
            ? Buffer.alloc(64)
            : places;
    const body = Buffer.concat([of.isV2 ? levels : of.isOptional ? Buffer.concat([length, levels]) : levels, data]);
    const sizes = (bytes: Buffer) =>
      [i32(2, of.unpacked === 0 ? bytes.length : of.unpacked), i32(3, bytes.length)] as const;
    const entry = Buffer.from([1, 0, 0, 0, 0x78, 0, 0, 0]);
    const dictionary = Buffer.concat([
      struct(i32(1, 2), ...sizes(entry), [7, 'struct', struct(i32(1, of.entries), i32(2, 0))]),
      entry,
    ]);
    const page = of.isV2
      ? struct(i32(1, 3), ...sizes(body), [
          8,
          'struct',
          struct(
            i32(1, of.pageValues),
            i32(2, 0),
            i32(3, of.pageValues),
            i32(4, of.encoding),
            i32(5, levels.length),
            i32(6, 0),
          ),
        ])
      : struct(i32(1, 0), ...sizes(body), [
          5,
          'struct',
          struct(i32(1, of.pageValues), i32(2, of.encoding), i32(3, 3), i32(4, 3)),
        ]);
    const pages = Buffer.concat([Buffer.from('PAR1'), dictionary, page, body]);
    const all = pages.length - 4;
    const column = struct(
      i32(1, of.type),
      [2, 'list', list('i32', number(of.encoding))],
      [3, 'list', list('binary', text('c'))],
      i32(4, of.codec),
      i64(5, of.values),
      i64(6, all),
      i64(7, of.packed === 0 ? all : of.packed),
      i64(9, 4 + dictionary.length),
      i64(11, 4),
    );
    const footer = struct(
      i32(1, 1),
      [
        2,
        'list',
        list(
          'struct',
          struct([4, 'binary', text('root')], i32(5, 1)),
          struct(i32(1, of.type), i32(2, of.typeLength), i32(3, of.isOptional ? 1 : 0), [4, 'binary', text('c')]),
        ),
      ],
      i64(3, of.rows),
      [
        4,
        'list',
        list(
          'struct',
          struct(
            [1, 'list', list('struct', struct(i64(2, 4), [3, 'struct', column]))],
            i64(2, all),
            i64(3, of.groupRows),
          ),
        ),
      ],
    );
    const end = Buffer.alloc(4);
    end.writeUInt32LE(footer.length);
    return Buffer.concat([pages, footer, end, Buffer.from('PAR1')]);
  });
