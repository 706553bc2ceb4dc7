/** Errors of strategy files as one line: their text, and their place in the file. */
import { types } from 'node:util';
import { textOfError } from '../../src/core/index.ts';

/** Error of a strategy file as one line: `path:line:column: what is wrong; what to do`. */
export class StrategyFileError extends Error {
  override readonly name = 'StrategyFileError';
}

/** Error of a function of a file that returned a promise. */
class PromiseFound extends Error {
  override readonly name = 'PromiseFound';
}

/** Maximum length of an error's text, in characters. */
const ERROR_MAX = 200;

/** Returns the text of an error in one line without control characters. */
export function oneLine(error: unknown): string {
  try {
    const text = textOfError(error).replace(/[\s\p{Cc}]+/gu, ' ');
    return text.trim().slice(0, ERROR_MAX);
  } catch {
    // A thrown object can have getters that throw too.
    return 'an error without a message';
  }
}

/** Returns `:line` of the place in the file at which an error was thrown, from the error's stack; empty if unknown. */
export function errorPlace(error: unknown, file: string): string {
  // An error of the realm of a file is no instance of this realm's class.
  const stack: unknown = types.isNativeError(error) ? error.stack : '';
  const text = typeof stack === 'string' ? stack : '';
  const at = text.indexOf(`${file}:`);
  const line = at < 0 ? undefined : /^\d+/.exec(text.slice(at + file.length + 1))?.[0];
  return line === undefined ? '' : `:${line}`;
}

/** Returns a value as short text for an error line. */
export function foundText(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (typeof value === 'function') return 'a function';
  if (Array.isArray(value)) return `a list of length ${value.length}`;
  if (typeof value === 'string') return JSON.stringify(value).slice(0, 60);
  // JSON has no NaN and no infinities, and no big integers and symbols.
  const isPrimitive = typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean';
  return isPrimitive ? String(value).slice(0, 60) : typeof value === 'symbol' ? 'a symbol' : 'another object';
}

/**
 * Returns the text of an error that code of a file threw, with its place in the file if the stack has it. `name`: the
 * called function; if omitted, the text does not name it.
 */
export function thrownText(error: unknown, file: string, name?: string): string {
  if (error instanceof PromiseFound) return oneLine(error);
  const place = errorPlace(error, file);
  const threw = name === undefined ? 'threw' : `${name} threw`;
  return place === '' ? `${threw} ${oneLine(error)}` : `${threw} at ${file}${place}: ${oneLine(error)}`;
}

/**
 * Returns the result of a function of a strategy file. A promise is refused, because the bot does not wait for it.
 * @throws Error if the result is a promise; an error of the promise is ignored.
 */
export function assertNoPromise<T>(name: string, result: T): T {
  const { then } = (result ?? {}) as { readonly then?: unknown };
  if (typeof then !== 'function') return result;
  // An error of the promise would otherwise end the process.
  Promise.resolve(result).catch(() => undefined);
  throw new PromiseFound(
    `${name} returned a promise, but must return its result at once, because the bot does not wait; remove async and await`,
  );
}
