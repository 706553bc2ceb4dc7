/** Fields of the messages in a state directory: validation when read, and text when written. */
import { moneyOf, textOfMoney, type Millis, type Money } from '../../core/index.ts';

export type Field<T> = {
  /** Description of a valid value, for the error about an invalid one. */
  readonly expected: string;
  /** Returns the value; `undefined` if it is invalid. */
  readonly read: (value: unknown) => T | undefined;
  /** Returns the value as JSON that `read` accepts. */
  readonly write: (value: T) => unknown;
};
type OptionalField<T> = Field<T> & { readonly isOptional: true };

/** Fields of any types, by key. */
export type MessageFields = Readonly<
  Record<string, Omit<Field<unknown>, 'write'> & { readonly write: (value: never) => unknown }>
>;

/** Keys of the fields that a message may lack. */
type OptionalKeys<F> = { [K in keyof F]: F[K] extends { readonly isOptional: true } ? K : never }[keyof F];
type ValueOf<X> = X extends { readonly read: (value: unknown) => infer T } ? Exclude<T, undefined> : never;

/** Type of a message with the fields `F`. */
export type MessageOf<F> = {
  readonly [K in Exclude<keyof F, OptionalKeys<F>>]: ValueOf<F[K]>;
} & { readonly [K in OptionalKeys<F>]?: ValueOf<F[K]> };

/** Characters that would break a line, change the direction of text, or are invisible. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]+/gu;
/** Maximum number of characters of a text. A longer text is cut when written. */
export const TEXT_MAX = 8_192;
/** Maximum number of characters in all lines of an answer. Further lines are omitted when written. */
const LINES_MAX = 262_144;

const printable = (value: string): string => value.slice(0, TEXT_MAX).replaceAll(UNPRINTABLE, ' ');
const isText = (value: unknown): value is string => typeof value === 'string' && value.search(UNPRINTABLE) < 0;

/** One line of text. Writing removes unprintable characters. */
export const textField: Field<string> = {
  expected: 'text without control characters',
  read: value => (isText(value) ? value : undefined),
  write: printable,
};

/** Lines of text. */
export const linesField: Field<readonly string[]> = {
  expected: 'a list of texts without control characters',
  read: value => (Array.isArray(value) && value.every(isText) ? value : undefined),
  write: value => {
    let room = LINES_MAX;
    return value.map(printable).filter(line => (room -= line.length) >= 0);
  },
};

/** Text that matches a pattern, such as an id. */
export const matchingField = (pattern: RegExp): Field<string> => ({
  expected: `text that matches ${pattern.source}`,
  read: value => (typeof value === 'string' && pattern.test(value) ? value : undefined),
  write: value => value,
});

/** Id of a request. */
export const idField = matchingField(/^[\w-]{1,60}$/);

/** Finite number, such as epoch milliseconds. */
export const numberField: Field<Millis> = {
  expected: 'a number',
  read: value => (typeof value === 'number' && Number.isFinite(value) ? value : undefined),
  write: value => value,
};

/** Whole number from 0. */
export const countField: Field<number> = {
  expected: 'a whole number of at least 0',
  read: value => (Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined),
  write: value => value,
};

/** `true` or `false`. */
export const flagField: Field<boolean> = {
  expected: 'true or false',
  read: value => (typeof value === 'boolean' ? value : undefined),
  write: value => value,
};

/** Field whose value is one of the given words. */
export const oneOfField = <const T extends string>(...words: readonly T[]): Field<T> => ({
  expected: `one of ${words.join(', ')}`,
  read: value => words.find(word => word === value),
  write: value => value,
});

/** Decimal text of an amount of money for which `isValid` returns true. */
export const moneyField = (expected: string, isValid: (amount: Money) => boolean): Field<Money> => ({
  expected,
  read: value => {
    if (typeof value !== 'string') return undefined;
    try {
      const amount = moneyOf(value);
      return isValid(amount) ? amount : undefined;
    } catch {
      return undefined;
    }
  },
  write: textOfMoney,
});

/** Field that accepts `null` in addition to the values of the given field. */
export const nullableField = <T>({ expected, read, write }: Field<T>): Field<T | null> => ({
  expected: `${expected}, or null`,
  read: value => (value === null ? null : read(value)),
  write: value => (value === null ? null : write(value)),
});

/** Field that a message may lack. */
export const optionalField = <T>(field: Field<T>): OptionalField<T> => ({ ...field, isOptional: true });

/** Parses `value` as a message. If it is invalid, returns a clause that names the missing, unknown or invalid field. */
export function messageIn<F extends MessageFields>(fields: F, value: unknown): MessageOf<F> | string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'expected an object';
  const given = value as Readonly<Record<string, unknown>>;
  const unknown = Object.keys(given).find(key => !Object.hasOwn(fields, key));
  if (unknown !== undefined) return `unknown key ${JSON.stringify(unknown.slice(0, 40))}`;
  const message: Record<string, unknown> = {};
  for (const [key, field] of Object.entries(fields)) {
    if (given[key] === undefined && 'isOptional' in field) continue;
    const read: unknown = field.read(given[key]);
    if (read === undefined) return `${key}: expected ${field.expected}`;
    message[key] = read;
  }
  return message as MessageOf<F>;
}

/** Returns the JSON of a message, with the known fields only. */
export function textOfMessage<F extends MessageFields>(fields: F, message: MessageOf<F>): string {
  const given = message as Readonly<Record<string, unknown>>;
  const written = Object.entries(fields)
    .filter(([key]) => given[key] !== undefined)
    .map(([key, field]) => [key, field.write(given[key] as never)]);
  return JSON.stringify(Object.fromEntries(written));
}
