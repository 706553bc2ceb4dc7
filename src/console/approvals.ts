/**
 * Approval of operator actions. Each preview has an id that only its owner can confirm, once, within a minute. The
 * owner is a login of the console, or a user in a chat of the remote control.
 */
import type { ShownParameters } from './page/view.ts';

export type ActionRequest = {
  readonly action: string;
  readonly reason: string;
  readonly by: string;
  /** Symbol of the book to which the action applies. If absent, the action applies to the whole bot. */
  readonly book?: string;
  /** Duration of a temporary pause, in minutes; `null` for a pause until resume. */
  readonly minutes: number | null;
  /** Maximum total cost of a flatten, as decimal text in the quote currency. */
  readonly costMax: string | null;
  /** Change of a parameter, only for the action `set`. */
  readonly change?: ParameterChange;
};

export type ParameterChange = {
  readonly key: string;
  /** New value as text; `null` removes the key. */
  readonly value: string | null;
  /** SHA-256 (hex) of the file that was shown. */
  readonly digest: string;
};

export type ActionOver = {
  readonly end: 'done' | 'refused';
  readonly lines: readonly string[];
  /** Change that restores the earlier value of a parameter, after the action `set`. */
  readonly undo?: { readonly key: string; readonly value: string | null; readonly book?: string };
};

export type Prepared = {
  /** Predicted effects of the action, one text each. */
  readonly lines: readonly string[];
  execute(): Promise<ActionOver>;
};

/** Receives the replayed share of the recording, from 0 to 1. */
export type OnReplayed = (share: number) => void;

export type ConsoleActions = {
  /** Names of the actions available now. */
  readonly names: readonly string[];
  /** Previews an action without executing it. Rejects with a message for the operator. */
  readonly prepare: (request: ActionRequest, onShare: OnReplayed) => Promise<Prepared>;
  /**
   * Returns the current cost of a flatten, before the operator sets a maximum. Rejects with a message for the operator.
   */
  readonly cost: (by: string, onShare: OnReplayed) => Promise<readonly string[]>;
  /** Decisions on the proposals of agents; absent if operators cannot decide here. */
  readonly proposals?: ConsoleProposals;
  /**
   * Returns the parameters of a book in the configuration file; without `book`, those of the only book, or those that
   * all books share. Throws an error with a message for the operator.
   */
  readonly parameters: (book?: string) => ShownParameters;
};

/** Proposal that a person has read: its id, and the digest of its content. */
export type ReadProposal = { readonly id: string; readonly digest: string };

export type ConsoleProposals = {
  /** Previews the action of a proposal again. Rejects with a message for the operator. */
  readonly prepare: (read: ReadProposal, by: string, onShare: OnReplayed) => Promise<PreparedProposal>;
  /** Rejects a proposal. Throws an error with a message for the operator. */
  readonly reject: (read: ReadProposal, by: string) => void;
};

export type PreparedProposal = Prepared & Pick<ActionRequest, 'action' | 'reason' | 'minutes' | 'book'>;

type Outcome = Omit<ActionOver, 'end'> & { readonly end: 'under way' | ActionOver['end'] };

type Approval<Owner> = {
  readonly owner: Owner;
  readonly prepared: Prepared;
  readonly endsAt: number;
  /** Result of the action; `null` until confirmed. */
  outcome: Outcome | null;
};

/** Time in which a preview can be confirmed, in ms. */
export const APPROVAL_MS = 60_000;
/** Maximum number of stored previews; the oldest are dropped first. */
const PREVIEWS_MAX = 64;

/** `Owner`: value that identifies the owner of a preview by `===`. */
export class Approvals<Owner> {
  readonly #actions: Pick<ConsoleActions, 'prepare'>;
  readonly #now: () => number;
  readonly #newId: () => string;
  readonly #all = new Map<string, Approval<Owner>>();

  constructor(actions: Pick<ConsoleActions, 'prepare'>, now: () => number, newId: () => string) {
    this.#actions = actions;
    this.#now = now;
    this.#newId = newId;
  }

  /**
   * Prepares a preview, which can be confirmed for a minute once it is ready. Rejects with a message for the operator.
   */
  async open(
    owner: Owner,
    request: ActionRequest,
    onShare: OnReplayed,
  ): Promise<{ readonly id: string; readonly lines: readonly string[] }> {
    return this.store(owner, await this.#actions.prepare(request, onShare));
  }

  /** Stores a preview, which can be confirmed for a minute. */
  store(owner: Owner, prepared: Prepared): { readonly id: string; readonly lines: readonly string[] } {
    const id = this.#newId();
    this.#all.set(id, { owner, prepared, endsAt: this.#now() + APPROVAL_MS, outcome: null });
    this.#forgetOldest();
    return { id, lines: prepared.lines };
  }

  /**
   * Starts the previewed action. Returns false if the id is unknown, used, expired, or belongs to another owner.
   * `onEnd` receives the result of the action.
   */
  confirm(owner: Owner, id: string, onEnd: (over: ActionOver) => void = () => undefined): boolean {
    const found = this.#all.get(id);
    if (found === undefined || found.owner !== owner || found.outcome !== null || !(found.endsAt > this.#now()))
      return false;
    found.outcome = { end: 'under way', lines: [] };
    void found.prepared
      .execute()
      .catch((error: unknown) => ({
        end: 'refused' as const,
        lines: [error instanceof Error ? error.message : String(error)],
      }))
      .then(end => {
        found.outcome = end;
        onEnd(end);
      });
    return true;
  }

  /** Returns the result of an action, or `null` if the action is not confirmed or belongs to another owner. */
  outcome(owner: Owner, id: string): Outcome | null {
    const found = this.#all.get(id);
    return found?.owner === owner ? found.outcome : null;
  }

  #forgetOldest(): void {
    for (const id of this.#all.keys()) {
      if (this.#all.size <= PREVIEWS_MAX) return;
      this.#all.delete(id);
    }
  }
}
