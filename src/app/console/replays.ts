/**
 * Console replays, seen from the main thread: one thread for each kind of replay, started on first use. If the program
 * runs from its sources, replays run in the main thread.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { textOfError, type Clock } from '../../core/index.ts';
import type { ActionAsk } from '../actions/actions.ts';
import type { BotRead } from '../actions/botReads.ts';
import { ConsoleReplayer, type PastAsk, type ReplayedBot } from './consoleReplayer.ts';

export type ToReplays =
  | { readonly id: number; readonly kind: 'past'; readonly ask: PastAsk }
  | { readonly id: number; readonly kind: 'preview'; readonly ask: ActionAsk }
  | { readonly id: number; readonly kind: 'read'; readonly ask: BotRead }
  /** The request with this id was aborted. */
  | { readonly id: number; readonly kind: 'leave' };

export type FromReplays =
  | { readonly id: number; readonly kind: 'share'; readonly share: number }
  | { readonly id: number; readonly kind: 'done'; readonly told: string | readonly string[] }
  | { readonly id: number; readonly kind: 'failed'; readonly why: string };

type ConsoleReplays = Pick<ConsoleReplayer, 'past' | 'preview' | 'read' | 'close'> & {
  /** Preview of a proposal of an agent, in a thread of its own, so that operators do not wait for it. */
  readonly proposalPreview: (ask: ActionAsk) => Promise<readonly string[]>;
};

/** Returns the replayer of a bot's recordings. `file` is the compiled script of the threads. */
export function replaysOf(
  of: ReplayedBot,
  clock: Clock,
  file = fileURLToPath(new URL('./replayThread.js', import.meta.url)),
): ConsoleReplays {
  if (!existsSync(file)) {
    const replayer = new ConsoleReplayer(of, clock);
    return Object.assign(replayer, { proposalPreview: (ask: ActionAsk) => replayer.preview(ask, () => undefined) });
  }
  // Past views, previews for operators, previews for agents, and reads have separate threads, so that they do not wait
  // for each other.
  const thread = () => new ReplayThread(file, of);
  const [moments, previews, proposals, reads] = [thread(), thread(), thread(), thread()];
  return {
    past: async (ask, signal, onProgress) => String(await moments.ask({ kind: 'past', ask }, onProgress, signal)),
    preview: async (ask, onProgress) => [await previews.ask({ kind: 'preview', ask }, onProgress)].flat(),
    proposalPreview: async ask => [await proposals.ask({ kind: 'preview', ask }, () => undefined)].flat(),
    read: async ask => String(await reads.ask({ kind: 'read', ask }, () => undefined)),
    close: () => {
      for (const each of [moments, previews, proposals, reads]) each.close();
    },
  };
}

type Asker = {
  readonly onProgress: (share: number) => void;
  readonly resolve: (told: string | readonly string[]) => void;
  readonly reject: (error: Error) => void;
};
type Ask =
  | { readonly kind: 'past'; readonly ask: PastAsk }
  | { readonly kind: 'preview'; readonly ask: ActionAsk }
  | { readonly kind: 'read'; readonly ask: BotRead };

class ReplayThread {
  readonly #file: string;
  readonly #of: ReplayedBot;
  readonly #askers = new Map<number, Asker>();
  #thread: Worker | null = null;
  #lastId = 0;

  constructor(file: string, of: ReplayedBot) {
    this.#file = file;
    this.#of = of;
  }

  /**
   * Sends a request. Rejects with the error of the replay. If the thread failed, the next request starts a new thread.
   */
  ask(ask: Ask, onProgress: (share: number) => void, signal?: AbortSignal): Promise<string | readonly string[]> {
    const id = ++this.#lastId;
    const thread = (this.#thread ??= this.#begin());
    signal?.addEventListener('abort', () => thread.postMessage({ id, kind: 'leave' } satisfies ToReplays));
    return new Promise((resolve, reject) => {
      this.#askers.set(id, { onProgress, resolve, reject });
      thread.postMessage({ ...ask, id } satisfies ToReplays);
    });
  }

  close(): void {
    void this.#thread?.terminate();
  }

  #begin(): Worker {
    const thread = new Worker(this.#file, { workerData: this.#of });
    thread.on('message', (news: FromReplays) => this.#hear(news));
    let why = 'its thread ended';
    thread.on('error', error => void (why = textOfError(error)));
    thread.on('exit', () => {
      this.#thread = null;
      for (const { reject } of this.#askers.values()) reject(new Error(`the replay failed (${why}); try again`));
      this.#askers.clear();
    });
    return thread;
  }

  #hear(news: FromReplays): void {
    const asker = this.#askers.get(news.id);
    if (news.kind === 'share') {
      asker?.onProgress(news.share);
      return;
    }
    this.#askers.delete(news.id);
    if (news.kind === 'done') asker?.resolve(news.told);
    else asker?.reject(new Error(news.why));
  }
}
