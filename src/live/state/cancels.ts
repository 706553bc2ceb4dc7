/** What a person asks of a running bot, to take out every order and begin anew, and what it answered: one file each in the state directory. */
import { readRegularFile, SMALL_FILE } from '../../guard/index.ts';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Millis } from '../../core/index.ts';
import { writeDurably } from '../files/durableFiles.ts';
import { heedStateDir, isTrusted } from '../files/stateDir.ts';

export type CancelRequest = {
  readonly id: string;
  readonly at: Millis;
  /** Who asks, and why. */
  readonly by: string;
  readonly reason: string;
};

export type CancelAnswer = {
  readonly id: string;
  /** `left`: all was canceled, and not all of it is verified to be gone. `kept`: nothing was done. */
  readonly end: 'gone' | 'left' | 'kept';
  readonly lines: readonly string[];
};

export interface CancelBox {
  /** The request that waits, or null. A file that is none is taken away. */
  waiting(): CancelRequest | null;
  put(request: CancelRequest): void;
  /** It is being looked at, or nobody wants it any more. */
  take(): void;
  answer(answer: CancelAnswer): void;
  /** The last answer, or null. */
  answered(): CancelAnswer | null;
}

/** Of a state directory. */
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

/** Null when nothing can be read there; empty where what is there may not be trusted. */
function textIn(file: string): string | null {
  try {
    return existsSync(file) && !isTrusted(file) ? '' : readRegularFile(file, SMALL_FILE);
  } catch {
    return null;
  }
}

/** Empty where the text is no object. */
function fieldsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const found: unknown = JSON.parse(text);
    return typeof found === 'object' && found !== null ? (found as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
