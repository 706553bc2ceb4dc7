/** What an operator is about to do: each preview is a record with an id that only that login can confirm, once, and within a minute. */
import type { Login } from './access.ts';

export type ActionRequest = {
  readonly action: string;
  readonly reason: string;
  readonly by: string;
  /** Of a pause that ends by itself. */
  readonly minutes: number | null;
  /** Of a flatten: the most that it may cost in all, decimal text of the minor currency. */
  readonly costMax: string | null;
};

export type ActionOver = { readonly end: 'done' | 'refused'; readonly lines: readonly string[] };

export type Prepared = {
  /** What would happen. */
  readonly lines: readonly string[];
  carryOut(): Promise<ActionOver>;
};

/** Told how much of the recording was replayed, from 0 to 1. */
export type OnReplayed = (share: number) => void;

export type ConsoleActions = {
  /** Those that can be asked for now. */
  readonly names: readonly string[];
  /** Does nothing yet. Rejects with a line for a person. */
  readonly prepare: (request: ActionRequest, onShare: OnReplayed) => Promise<Prepared>;
  /** What a flatten would cost now, for who has not said yet what it may cost. Rejects with a line for a person. */
  readonly cost: (by: string, onShare: OnReplayed) => Promise<readonly string[]>;
};

type Outcome = { readonly end: 'under way' | ActionOver['end']; readonly lines: readonly string[] };

type Approval = {
  readonly session: Login;
  readonly prepared: Prepared;
  readonly endsAt: number;
  /** Null until it is confirmed. */
  outcome: Outcome | null;
};

/** A preview can be confirmed this long. */
export const APPROVAL_MS = 60_000;
/** Records that are kept, the oldest go first. */
const KEPT_MAX = 64;

export class Approvals {
  readonly #actions: ConsoleActions;
  readonly #now: () => number;
  readonly #newId: () => string;
  readonly #all = new Map<string, Approval>();

  constructor(actions: ConsoleActions, now: () => number, newId: () => string) {
    this.#actions = actions;
    this.#now = now;
    this.#newId = newId;
  }

  /** Rejects with a line for a person. The minute begins when the preview is there to be read. */
  async open(
    session: Login,
    request: ActionRequest,
    onShare: OnReplayed,
  ): Promise<{ readonly id: string; readonly lines: readonly string[] }> {
    const prepared = await this.#actions.prepare(request, onShare);
    const id = this.#newId();
    this.#all.set(id, { session, prepared, endsAt: this.#now() + APPROVAL_MS, outcome: null });
    this.#forgetOldest();
    return { id, lines: prepared.lines };
  }

  /** Begins what was previewed. False for an id that is unknown, used, over, or of another login. */
  confirm(session: Login, id: string): boolean {
    const found = this.#all.get(id);
    if (found === undefined || found.session !== session || found.outcome !== null || found.endsAt <= this.#now())
      return false;
    found.outcome = { end: 'under way', lines: [] };
    void found.prepared
      .carryOut()
      .catch((error: unknown) => ({
        end: 'refused' as const,
        lines: [error instanceof Error ? error.message : String(error)],
      }))
      .then(end => (found.outcome = end));
    return true;
  }

  /** Null for one that is not confirmed, or of another login. */
  outcome(session: Login, id: string): Outcome | null {
    const found = this.#all.get(id);
    return found?.session === session ? found.outcome : null;
  }

  /** Nothing of a login that ended can be confirmed. */
  forget(session: Login): void {
    for (const [id, { session: of, outcome }] of this.#all)
      if (of === session && outcome === null) this.#all.delete(id);
  }

  #forgetOldest(): void {
    for (const id of this.#all.keys()) {
      if (this.#all.size <= KEPT_MAX) return;
      this.#all.delete(id);
    }
  }
}
