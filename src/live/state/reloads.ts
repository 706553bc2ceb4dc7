/**
 * Operator's reload requests to a running bot and its answers: one file each in the state directory, plus a log line
 * for every reload, applied or not.
 */
import { readRegularFile, TEXT_FILE } from '../../guard/index.ts';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Millis } from '../../core/index.ts';
import { appendLine, writeDurably } from '../files/durableFiles.ts';
import { heedStateDir, isTrusted } from '../files/stateDir.ts';

export type ReloadRequest = {
  readonly id: string;
  readonly at: Millis;
  /** Name of the operator. */
  readonly by: string;
  readonly reason: string;
  /** SHA-256 (hex) of the file's text that the operator read; `null` accepts whatever the bot finds. */
  readonly digest: string | null;
  /** Whether to show the effect without applying it. */
  readonly isPreview: boolean;
};

export type ReloadAnswer = {
  readonly id: string;
  /** `kept`: the previous configuration stays in use. */
  readonly end: 'taken' | 'nothing to do' | 'shown' | 'kept';
  readonly lines: readonly string[];
};

/** Last preview that an operator saw; a following reload applies exactly that or nothing. */
export type ReloadPreview = { readonly by: string; readonly at: Millis; readonly digest: string };

export interface ReloadBox {
  /** Returns the waiting request, or `null`. Deletes an invalid file. */
  waiting(): ReloadRequest | null;
  put(request: ReloadRequest): void;
  /** Removes a request that is being handled or was given up. */
  take(): void;
  answer(answer: ReloadAnswer): void;
  /** Returns the last answer, or `null`. */
  answered(): ReloadAnswer | null;
  /** Stores the last preview; `null` if it was applied or is no longer valid. */
  remember(preview: ReloadPreview | null): void;
  /** Returns the last preview, or `null`. */
  previewed(): ReloadPreview | null;
  /** Logs the outcome of a request permanently, except for previews. */
  note(entry: object): void;
}

/** Returns the requests and answers of a state directory. */
export function reloadsIn(dir: string): ReloadBox {
  const [request, answer, notes] = ['reload.json', 'reload-answer.json', 'reloads.jsonl'].map(name => join(dir, name));
  const seen = join(dir, 'reload-previewed.json');
  const take = (): void => rmSync(request!, { force: true });
  return {
    waiting: () => {
      if (!existsSync(request!)) return null;
      const found = jsonIn(request!);
      const { id, at, by, reason, digest, isPreview } = found ?? {};
      if (typeof id === 'string' && /^[\w-]{1,60}$/.test(id)) {
        const known = typeof digest === 'string' ? digest : null;
        return {
          id,
          at: Number(at),
          by: String(by),
          reason: String(reason),
          digest: known,
          isPreview: isPreview !== false,
        };
      }
      take();
      return null;
    },
    put: asked => {
      heedStateDir(dir);
      writeDurably(request!, JSON.stringify(asked));
    },
    take,
    answer: told => writeDurably(answer!, JSON.stringify(told)),
    answered: () => {
      const { id, end, lines } = jsonIn(answer!) ?? {};
      const known = ENDS.find(each => each === end);
      return typeof id === 'string' && known !== undefined && Array.isArray(lines)
        ? { id, end: known, lines: lines.map(String) }
        : null;
    },
    remember: preview =>
      preview === null ? rmSync(seen, { force: true }) : writeDurably(seen, JSON.stringify(preview)),
    previewed: () => {
      const { by, at, digest } = jsonIn(seen) ?? {};
      return typeof by === 'string' && typeof at === 'number' && typeof digest === 'string' ? { by, at, digest } : null;
    },
    note: entry => appendLine(notes!, JSON.stringify(entry)),
  };
}

const ENDS = ['taken', 'nothing to do', 'shown', 'kept'] as const;

/** Returns the JSON object in a file; `null` if it is unreadable or not trusted. */
function jsonIn(file: string): Readonly<Record<string, unknown>> | null {
  if (!isTrusted(file)) return null;
  try {
    const found: unknown = JSON.parse(readRegularFile(file, TEXT_FILE));
    return typeof found === 'object' && found !== null ? (found as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
