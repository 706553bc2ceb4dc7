/** Bounded parser of Thrift's compact encoding, as in Parquet footers and page headers. */
import { WrongFile } from './findings.ts';

const TYPE = {
  stop: 0,
  true: 1,
  false: 2,
  byte: 3,
  short: 4,
  int: 5,
  long: 6,
  double: 7,
  binary: 8,
  list: 9,
  set: 10,
  struct: 12,
};
const DEPTH_MAX = 16;
/** Maximum number of values in a page header. */
const HEADER_VALUES_MAX = 1_000;

/** Fields by number: numbers, booleans and structs; other types are skipped. */
export type ThriftStruct = readonly unknown[];

/** Throws a WrongFile unless a struct starts at `offset`, ends within the bytes and has at most `valuesMax` values. */
export const checkThrift = (view: DataView, offset: number, valuesMax: number): void =>
  void new Walk(view, offset, valuesMax).struct(0);

/** Reads a struct with few values. Throws as `checkThrift` does. */
export function thriftStruct(view: DataView, offset: number): { readonly value: ThriftStruct; readonly end: number } {
  const walk = new Walk(view, offset, HEADER_VALUES_MAX);
  const value = walk.struct(0);
  return { value, end: walk.offset };
}

/** Returns the value if it is a number; otherwise NaN. */
export const numberOfThrift = (value: unknown): number => (typeof value === 'number' ? value : Number.NaN);
/** Returns the value if it is a list or struct; otherwise an empty list. */
export const listOfThrift = (value: unknown): ThriftStruct => (Array.isArray(value) ? value : []);

const FIELD_MAX = 64;

class Walk {
  readonly #view: DataView;
  offset: number;
  #left: number;

  constructor(view: DataView, offset: number, valuesMax: number) {
    this.#view = view;
    this.offset = offset;
    this.#left = valuesMax;
  }

  struct(depth: number): ThriftStruct {
    const fields: unknown[] = [];
    let field = 0;
    for (;;) {
      const head = this.#byte();
      if ((head & 15) === TYPE.stop) return fields;
      field = head >>> 4 > 0 ? field + (head >>> 4) : this.#zigzag();
      if (!(field > 0 && field <= FIELD_MAX)) throw broken(`field ${field}`);
      fields[field] = this.#value(head & 15, depth);
    }
  }

  #value(type: number, depth: number): unknown {
    if (--this.#left < 0) throw broken('too many values');
    switch (type) {
      case TYPE.true:
      case TYPE.false:
        return type === TYPE.true;
      case TYPE.byte:
        return this.#skip(1);
      case TYPE.short:
      case TYPE.int:
      case TYPE.long:
        return this.#zigzag();
      case TYPE.double:
        return this.#skip(8);
      case TYPE.binary:
        return this.#skip(this.#varint());
      case TYPE.list:
      case TYPE.set:
        return this.#list(depth + 1);
      case TYPE.struct:
        if (depth >= DEPTH_MAX) throw broken('too deep');
        return this.struct(depth + 1);
      default:
        throw broken(`type ${type}`);
    }
  }

  #list(depth: number): undefined {
    if (depth > DEPTH_MAX) throw broken('too deep');
    const head = this.#byte();
    const count = head >>> 4 === 15 ? this.#varint() : head >>> 4;
    // An element has at least one byte, so a list longer than the remaining bytes is invalid.
    if (!(count <= this.#view.byteLength - this.offset && count <= this.#left)) throw broken(`a list of ${count}`);
    const isTruth = (head & 15) === TYPE.true || (head & 15) === TYPE.false;
    for (let i = 0; i < count; i++) this.#value(isTruth ? TYPE.byte : head & 15, depth);
  }

  #byte(): number {
    if (this.offset >= this.#view.byteLength) throw broken('ends early');
    return this.#view.getUint8(this.offset++);
  }

  #skip(count: number): undefined {
    if (!(count <= this.#view.byteLength - this.offset)) throw broken('ends early');
    this.offset += count;
  }

  /** Reads an integer of variable length; inexact above 2^53. */
  #varint(): number {
    let [value, factor] = [0, 1];
    for (let i = 0; i < 10; i++) {
      const byte = this.#byte();
      value += (byte & 127) * factor;
      if (byte < 128) return value;
      factor *= 128;
    }
    throw broken('a number is incomplete or too long');
  }

  #zigzag(): number {
    const value = this.#varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }
}

const broken = (how: string) => new WrongFile(`not a Parquet file, or damaged: ${how}`);
