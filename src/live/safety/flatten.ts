/** Operator's request that the hedger close all inventory, as a file in the state directory. */
import { appendLine } from '../../guard/index.ts';
import { Mailbox } from '../mailbox/mailbox.ts';
import type { MailMessage } from '../mailbox/kinds.ts';
import type { Millis } from '../../core/index.ts';
import { join } from 'node:path';
import { LIFTED_FILE } from './latch.ts';

export type Flatten = MailMessage<'flatten'>;

export interface FlattenFile {
  /** Returns the request; `null` if there is no request or its file is rejected. */
  read(): Flatten | null;
  /** Stores the request, durable on return. */
  set(flatten: Flatten): void;
  /**
   * Ends the request, and logs the reason in the log of ended halts. Returns `false` if the disk accepts no write; the
   * caller must retry.
   */
  end(why: string, at: Millis): boolean;
}

/** Returns access to the flatten request in a state directory. */
export function flattenIn(dir: string): FlattenFile {
  const box = new Mailbox(dir, 'flatten');
  return {
    read: () => box.message(),
    set: flatten => box.put(flatten),
    end: (why, at) => {
      try {
        const { reason, by, at: since } = box.message() ?? {};
        const lifted = { reason: `flatten: ${reason}`, by, at: since };
        appendLine(join(dir, LIFTED_FILE), JSON.stringify({ at, by: 'bot', lifted, reason: why }));
        box.remove();
        return true;
      } catch {
        return false;
      }
    },
  };
}
