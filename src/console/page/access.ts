/** Session of the page's user at the console, and the requests that need it. */
import { answerLines } from './lines.ts';
import type { ShownParameters, ShownProposal, ShownSession } from './view.ts';

export type ShownPreview = {
  readonly id: string;
  readonly lines: readonly string[];
  readonly endsInMs: number;
  readonly action: string;
  readonly reason: string;
  readonly minutes: number | null;
  readonly costMax: string | null;
  /** Book of the action; absent if it applies to the whole bot. */
  readonly book?: string;
  readonly change?: { readonly key: string; readonly value: string | null };
};
/** Values that the user typed in the dialog, except the reason. */
type Typed = {
  readonly minutes: number | null;
  readonly costMax: string | null;
  readonly book?: string;
  readonly key?: string;
  readonly value?: string | null;
  readonly digest?: string;
};
type OnShare = (share: number) => void;
export type ShownOutcome = {
  readonly end: 'under way' | 'done' | 'refused';
  readonly lines: readonly string[];
  readonly undo?: { readonly key: string; readonly value: string | null; readonly book?: string };
};
/** Time limit of a request for the session, in ms. A stalled connection must not stop the page's attempts. */
const SESSION_WITHIN_MS = 5_000;
/**
 * Name of the item in the page's session storage that has the key of the login. Unlike a cookie, the item is not sent
 * to every port of the host.
 */
const KEPT = 'puntas-key';
const ASK_AGAIN_MS = 400;

export class Access {
  session: ShownSession | null = null;
  readonly #changed: () => void;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** Requests the session. If the request fails, the session stays unchanged. */
  async look(): Promise<ShownSession | null> {
    try {
      const answer = await window.fetch('/session', {
        headers: keyed(),
        signal: AbortSignal.timeout(SESSION_WITHIN_MS),
      });
      if (answer.ok) this.session = (await answer.json()) as ShownSession;
    } catch {
      // The console is not reachable.
    }
    this.#changed();
    return this.session;
  }

  /** Logs in with a token. Rejects with a message for the user. */
  async logIn(token: string, name: string): Promise<void> {
    const { key } = await posted<{ key: string }>('/login', { token, name });
    window.sessionStorage.setItem(KEPT, key);
    await this.look();
  }

  /** Logs out. Even if the request fails, this page can no longer act. */
  async logOut(): Promise<void> {
    await posted('/logout', {}).catch(() => undefined);
    window.sessionStorage.removeItem(KEPT);
    await this.look();
  }

  /**
   * Requests a preview of an action. While a long recording is replayed, `onShare` receives the share that is done.
   * Rejects with a message for the user.
   */
  preview(action: string, reason: string, typed: Typed, onShare: OnShare): Promise<ShownPreview> {
    return posted<ShownPreview>('/actions/preview', { action, reason, ...typed }, onShare);
  }

  /** Requests a new preview of a proposal, as `preview` does. */
  previewProposal({ id, digest }: ShownProposal, onShare: OnShare): Promise<ShownPreview> {
    return posted<ShownPreview>('/proposals/preview', { id, digest }, onShare);
  }

  /** Rejects a proposal. Rejects with a message for the user. */
  async rejectProposal({ id, digest }: ShownProposal): Promise<void> {
    await posted('/proposals/reject', { id, digest });
  }

  /**
   * Requests the current cost of a flatten. While a long recording is replayed, `onShare` receives the share that is
   * done. Rejects with a message for the user.
   */
  async cost(onShare: OnShare): Promise<readonly string[]> {
    return (await lastOf<{ lines: string[] }>(await window.fetch('/actions/cost', { headers: keyed() }), onShare))
      .lines;
  }

  /** Requests the parameters of a book, or those that all books share. Rejects with a message for the user. */
  async parameters(book: string | undefined): Promise<ShownParameters> {
    const query = book === undefined ? '' : `?book=${encodeURIComponent(book)}`;
    return lastOf<ShownParameters>(await window.fetch(`/actions/parameters${query}`, { headers: keyed() }));
  }

  /** Confirms a preview. Resolves when the action has ended; rejects with a message for the user. */
  async confirm(id: string): Promise<ShownOutcome> {
    await posted('/actions/confirm', { id });
    for (;;) {
      const answer = await window.fetch(`/actions/outcome?id=${encodeURIComponent(id)}`, { headers: keyed() });
      const told = (await answer.json()) as ShownOutcome & { readonly problem?: string };
      if (!answer.ok)
        throw new Error(
          `the action started, but its result could not be read (${told.problem ?? answer.status}); see Events`,
        );
      if (told.end !== 'under way') return told;
      await new Promise(resolve => window.setTimeout(resolve, ASK_AGAIN_MS));
    }
  }
}

const keyed = (): Record<string, string> => {
  const key = window.sessionStorage.getItem(KEPT);
  return key === null ? {} : { 'x-puntas-key': key };
};

async function posted<T>(path: string, body: object, onShare?: OnShare): Promise<T> {
  const answer = await window.fetch(path, {
    method: 'POST',
    headers: { ...keyed(), 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return lastOf<T>(answer, onShare);
}

/** Returns the last line of an answer; earlier lines report progress. Throws if the answer contains a problem. */
async function lastOf<T>(answer: Response, onShare?: OnShare): Promise<T> {
  type Told = T & { readonly problem?: string; readonly share?: number };
  let told = null as Told | null;
  let text = '';
  for await (const line of answer.body === null ? [] : answerLines(answer.body)) {
    text += line;
    try {
      told = JSON.parse(line) as Told;
      if (told.share !== undefined) onShare?.(told.share);
    } catch {
      // A rejection may be a line of plain text.
      told = null;
    }
  }
  if (!answer.ok || told === null || told.problem !== undefined || told.share !== undefined)
    throw new Error(
      told?.problem ?? (told === null && text.trim() !== '' ? text : `the console answered ${answer.status}`),
    );
  return told;
}
