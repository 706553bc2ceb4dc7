/** Who may read and who may act: two tokens, a session for each login, and few wrong tries. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { Pool, senderOf } from '../guard/index.ts';

export type Role = 'viewer' | 'operator';

export type ConsoleAccess = {
  /** Without it everybody who reaches the page reads. */
  readonly viewerToken: string | null;
  /** Without it nobody acts. */
  readonly operatorToken: string | null;
  /** A proxy with TLS is in front, and nothing else reaches the port. */
  readonly behindTls: boolean;
  /** ms that never go back. */
  readonly now: () => number;
  /** What nobody can guess. */
  readonly newSecret: () => string;
  readonly onEvent: (event: AccessEvent) => void;
};

/** `from` is the address of the connection. */
export type AccessEvent =
  | { readonly kind: 'wrong token'; readonly from: string }
  | { readonly kind: 'too many'; readonly from: string }
  | { readonly kind: 'in' | 'out'; readonly role: Role; readonly name: string };

export type Login = {
  readonly role: Role;
  /** Who says to be there; empty for a viewer who does not say. */
  readonly name: string;
  /** Goes with each request that acts; the page has it from the login alone, no cookie carries it. */
  readonly key: string;
  readonly endsAt: number;
};

export type LoginEnd =
  | { readonly kind: 'in'; readonly cookie: string; readonly session: Login }
  | { readonly kind: 'wrong' }
  | { readonly kind: 'nameless' }
  | { readonly kind: 'wait'; readonly seconds: number };

/** A login ends by itself after this. */
export const SESSION_MS = 8 * 3_600_000;
/** Wrong tokens of one sender in any minute; after them its right one is not looked at either. */
export const WRONG_MAX = 5;
const MINUTE_MS = 60_000;
/** Logins of each role at most. The oldest one of the sender that has most ends for one more, so that a viewer ends no operator's. */
const SESSIONS_MAX = { viewer: 64, operator: 64 };
/** Senders whose wrong tokens are remembered; the one unused for longest is forgotten first. */
const SENDERS_MAX = 4_096;

export class Sessions {
  readonly #access: ConsoleAccess;
  /** By what the cookie hashes to: a look-up tells nothing of how much of it was right. */
  readonly #all = new Map<string, Login>();
  readonly #pools = {
    viewer: new Pool<string>({ all: SESSIONS_MAX.viewer }),
    operator: new Pool<string>({ all: SESSIONS_MAX.operator }),
  };
  readonly #wrong = new Map<string, { at: number[]; isTold: boolean }>();

  constructor(access: ConsoleAccess) {
    this.#access = access;
  }

  /** `name` is cleaned already. */
  login(token: string, name: string, from: string): LoginEnd {
    const { now, newSecret, onEvent, operatorToken, viewerToken } = this.#access;
    const at = now();
    const sender = senderOf(from);
    const wrong = this.#wrongOf(sender, at);
    if (wrong.at.length >= WRONG_MAX) {
      if (!wrong.isTold) onEvent({ kind: 'too many', from });
      wrong.isTold = true;
      return { kind: 'wait', seconds: Math.ceil((MINUTE_MS - (at - wrong.at[0]!)) / 1000) };
    }
    wrong.isTold = false;
    // Both are compared, whatever the first says.
    const [isOperator, isViewer] = [isSame(token, operatorToken), isSame(token, viewerToken)];
    if (!isOperator && !isViewer) {
      wrong.at.push(at);
      onEvent({ kind: 'wrong token', from });
      return { kind: 'wrong' };
    }
    const role = isOperator ? 'operator' : 'viewer';
    if (role === 'operator' && name === '') return { kind: 'nameless' };
    const cookie = newSecret();
    const session = { role, name, key: newSecret(), endsAt: at + SESSION_MS } as const;
    const digest = digestOf(cookie);
    this.#all.set(digest, session);
    this.#pools[role].add(digest, sender, () => void this.#all.delete(digest));
    onEvent({ kind: 'in', role, name });
    return { kind: 'in', cookie, session };
  }

  /** Null for a cookie of none, and of one that is over. */
  of(cookie: string | null): Login | null {
    const session = cookie === null ? undefined : this.#all.get(digestOf(cookie));
    if (session === undefined || cookie === null) return null;
    if (session.endsAt > this.#access.now()) return session;
    this.#forget(digestOf(cookie), session);
    return null;
  }

  /** Whether it is neither over nor ended. */
  lives(session: Login): boolean {
    return session.endsAt > this.#access.now() && [...this.#all.values()].includes(session);
  }

  end(session: Login): void {
    for (const [digest, each] of this.#all) if (each === session) this.#forget(digest, each);
    this.#access.onEvent({ kind: 'out', role: session.role, name: session.name });
  }

  #forget(digest: string, { role }: Login): void {
    this.#all.delete(digest);
    this.#pools[role].delete(digest);
  }

  /** Wrong tokens of a sender within the last minute. */
  #wrongOf(sender: string, now: number): { at: number[]; isTold: boolean } {
    const wrong = this.#wrong.get(sender) ?? { at: [], isTold: false };
    wrong.at = wrong.at.filter(at => now - at < MINUTE_MS);
    this.#wrong.delete(sender);
    this.#wrong.set(sender, wrong);
    const [oldest] = this.#wrong.keys();
    if (this.#wrong.size > SENDERS_MAX && oldest !== undefined) this.#wrong.delete(oldest);
    return wrong;
  }
}

/** Takes as long whatever `given` is. False where there is nothing to compare with. */
export function isSame(given: string, secret: string | null): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  const equal = timingSafeEqual(digest(given), digest(secret ?? ''));
  return secret !== null && equal;
}

const digestOf = (cookie: string): string => createHash('sha256').update(cookie).digest('hex');

/** On one line, without anything that is not seen or turns text around; cut to `most` characters. */
export const cleaned = (text: string, most: number): string =>
  [...text.replace(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()].slice(0, most).join('');
