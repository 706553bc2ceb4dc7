/** What a person asks of a running bot's configuration, and what it answered: one file each in the state directory, and a line for every reload that was taken or not. */
import { readRegularFile, TEXT_FILE } from '../../guard/index.ts';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Millis } from '../../core/index.ts';
import { appendLine, writeDurably } from '../files/durableFiles.ts';
import { heedStateDir, isTrusted } from '../files/stateDir.ts';

export type ReloadRequest = {
  readonly id: string;
  readonly at: Millis;
  /** Who asks, and why. */
  readonly by: string;
  readonly reason: string;
  /** Of the file's text as that person read it, SHA-256 in hex; null: whatever the bot finds there. */
  readonly digest: string | null;
  /** Shows what it would do, and does nothing. */
  readonly isPreview: boolean;
};

export type ReloadAnswer = {
  readonly id: string;
  /** `kept`: the configuration that was goes on. */
  readonly end: 'taken' | 'nothing to do' | 'shown' | 'kept';
  readonly lines: readonly string[];
};

/** What an operator saw in a preview: a reload that follows takes that, or nothing. */
export type ReloadPreview = { readonly by: string; readonly at: Millis; readonly digest: string };

export interface ReloadBox {
  /** The request that waits, or null. A file that is none is taken away. */
  waiting(): ReloadRequest | null;
  put(request: ReloadRequest): void;
  /** It is being looked at, or nobody wants it any more. */
  take(): void;
  answer(answer: ReloadAnswer): void;
  /** The last answer, or null. */
  answered(): ReloadAnswer | null;
  /** Remembers what was previewed last; `null`: that is taken, or shall not count any more. */
  remember(preview: ReloadPreview | null): void;
  /** What was previewed last, or null. */
  previewed(): ReloadPreview | null;
  /** Kept for ever: what became of a request that was no preview. */
  note(entry: object): void;
}

/** Of a state directory. */
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

/** Null when nothing can be read there that may be trusted. */
function jsonIn(file: string): Readonly<Record<string, unknown>> | null {
  if (!isTrusted(file)) return null;
  try {
    const found: unknown = JSON.parse(readRegularFile(file, TEXT_FILE));
    return typeof found === 'object' && found !== null ? (found as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
