/** Who looks at the page, as the console says, and what it asks of the console in that person's name. */
import type { ShownSession } from './view.ts';

export type ShownPreview = {
  readonly id: string;
  readonly lines: readonly string[];
  readonly endsInMs: number;
  readonly action: string;
  readonly reason: string;
  readonly minutes: number | null;
};
export type ShownOutcome = { readonly end: 'under way' | 'done' | 'refused'; readonly lines: readonly string[] };

/** Of this page alone: a cookie would go to every port of the host. */
const KEPT = 'puntas-key';
const ASK_AGAIN_MS = 400;

export class Access {
  session: ShownSession | null = null;
  readonly #changed: () => void;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** Asks who one is here. What cannot be had stays as it was. */
  async look(): Promise<ShownSession | null> {
    try {
      const answer = await window.fetch('/session', { headers: keyed() });
      if (answer.ok) this.session = (await answer.json()) as ShownSession;
    } catch {
      // The line is down.
    }
    this.#changed();
    return this.session;
  }

  /** Rejects with what is wrong. */
  async logIn(token: string, name: string): Promise<void> {
    const { key } = await posted<{ key: string }>('/login', { token, name });
    window.sessionStorage.setItem(KEPT, key);
    await this.look();
  }

  /** Whatever becomes of it, this page can do nothing any more. */
  async logOut(): Promise<void> {
    await posted('/logout', {}).catch(() => undefined);
    window.sessionStorage.removeItem(KEPT);
    await this.look();
  }

  /** Rejects with what is wrong. */
  preview(action: string, reason: string, minutes: number | null): Promise<ShownPreview> {
    return posted<ShownPreview>('/actions/preview', { action, reason, minutes });
  }

  /** Resolves when it is over. Rejects with what is wrong. */
  async confirm(id: string): Promise<ShownOutcome> {
    await posted('/actions/confirm', { id });
    for (;;) {
      const answer = await window.fetch(`/actions/outcome?id=${encodeURIComponent(id)}`, { headers: keyed() });
      const told = (await answer.json()) as ShownOutcome & { readonly problem?: string };
      if (!answer.ok)
        throw new Error(`it was begun; what became of it is among the events: ${told.problem ?? answer.status}`);
      if (told.end !== 'under way') return told;
      await new Promise(resolve => window.setTimeout(resolve, ASK_AGAIN_MS));
    }
  }
}

const keyed = (): Record<string, string> => {
  const key = window.sessionStorage.getItem(KEPT);
  return key === null ? {} : { 'x-puntas-key': key };
};

async function posted<T>(path: string, body: object): Promise<T> {
  const answer = await window.fetch(path, {
    method: 'POST',
    headers: { ...keyed(), 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  let told: (T & { problem?: string }) | null = null;
  try {
    told = JSON.parse(text) as T & { problem?: string };
  } catch {
    // A line of text says what was refused.
  }
  if (!answer.ok || told === null)
    throw new Error(told?.problem ?? (text.trim() || `the console answered ${answer.status}`));
  return told;
}
