/**
 * Operator's request that a running bot cancel every order and start again, and the bot's answer: one file each in the
 * state directory.
 */
import { readRegularFile, SMALL_FILE } from '../../guard/index.ts';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Millis } from '../../core/index.ts';
import { writeDurably } from '../files/durableFiles.ts';
import { heedStateDir, isTrusted } from '../files/stateDir.ts';

export type CancelRequest = {
  readonly id: string;
  readonly at: Millis;
  /** Name of the operator. */
  readonly by: string;
  readonly reason: string;
};

export type CancelAnswer = {
  readonly id: string;
  /** `left`: all orders were canceled, but not all are verified to be gone. `kept`: nothing was done. */
  readonly end: 'gone' | 'left' | 'kept';
  readonly lines: readonly string[];
};

export interface CancelBox {
  /** Returns the waiting request, or `null`. Deletes an invalid file. */
  waiting(): CancelRequest | null;
  put(request: CancelRequest): void;
  /** Removes a request that is being handled or was given up. */
  take(): void;
  answer(answer: CancelAnswer): void;
  /** Returns the last answer, or `null`. */
  answered(): CancelAnswer | null;
}

/** Returns the requests and answers of a state directory. */
export function cancelsIn(dir: string): CancelBox {
  const [request, answer] = [join(dir, 'cancel.json'), join(dir, 'cancel-answer.json')];
  const take = (): void => rmSync(request, { force: true });
  return {
    waiting: () => {
      const text = textIn(request);
      if (text === null) return null;
      const { id, at, by, reason } = fieldsOf(text);
      if (typeof id === 'string' && /^[\w-]{1,60}$/.test(id))
        return { id, at: Number(at), by: String(by), reason: String(reason) };
      take();
      return null;
    },
    put: asked => {
      heedStateDir(dir);
      writeDurably(request, JSON.stringify(asked));
    },
    take,
    answer: told => writeDurably(answer, JSON.stringify(told)),
    answered: () => {
      const { id, end, lines } = fieldsOf(textIn(answer) ?? '');
      const known = (['gone', 'left', 'kept'] as const).find(each => each === end);
      return typeof id === 'string' && known !== undefined && Array.isArray(lines)
        ? { id, end: known, lines: lines.map(String) }
        : null;
    },
  };
}

/** Returns the text of a file; `null` if it cannot be read, empty if it cannot be trusted. */
function textIn(file: string): string | null {
  try {
    return existsSync(file) && !isTrusted(file) ? '' : readRegularFile(file, SMALL_FILE);
  } catch {
    return null;
  }
}

/** Returns the fields of a JSON object; empty if the text is not an object. */
function fieldsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const found: unknown = JSON.parse(text);
    return typeof found === 'object' && found !== null ? (found as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
