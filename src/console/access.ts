/** Who may read and who may act: two tokens, a session for each login, and few wrong tries. */
import { createHash, timingSafeEqual } from 'node:crypto';

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
/** Wrong tokens in any minute, of everybody together; after them the right one is not looked at either. */
export const WRONG_MAX = 5;
const MINUTE_MS = 60_000;
/** The oldest login ends for one more. */
const SESSIONS_MAX = 64;

export class Sessions {
  readonly #access: ConsoleAccess;
  /** By what the cookie hashes to: a look-up tells nothing of how much of it was right. */
  readonly #all = new Map<string, Login>();
  #wrongAt: number[] = [];
  #isTold = false;

  constructor(access: ConsoleAccess) {
    this.#access = access;
  }

  /** `name` is cleaned already. */
  login(token: string, name: string, from: string): LoginEnd {
    const { now, newSecret, onEvent, operatorToken, viewerToken } = this.#access;
    const at = now();
    this.#wrongAt = this.#wrongAt.filter(wrong => at - wrong < MINUTE_MS);
    if (this.#wrongAt.length >= WRONG_MAX) {
      if (!this.#isTold) onEvent({ kind: 'too many', from });
      this.#isTold = true;
      return { kind: 'wait', seconds: Math.ceil((MINUTE_MS - (at - this.#wrongAt[0]!)) / 1000) };
    }
    this.#isTold = false;
    // Both are compared, whatever the first says.
    const [isOperator, isViewer] = [isSame(token, operatorToken), isSame(token, viewerToken)];
    if (!isOperator && !isViewer) {
      this.#wrongAt.push(at);
      onEvent({ kind: 'wrong token', from });
      return { kind: 'wrong' };
    }
    const role = isOperator ? 'operator' : 'viewer';
    if (role === 'operator' && name === '') return { kind: 'nameless' };
    const cookie = newSecret();
    const session = { role, name, key: newSecret(), endsAt: at + SESSION_MS } as const;
    this.#all.set(digestOf(cookie), session);
    const [oldest] = this.#all.keys();
    if (this.#all.size > SESSIONS_MAX && oldest !== undefined) this.#all.delete(oldest);
    onEvent({ kind: 'in', role, name });
    return { kind: 'in', cookie, session };
  }

  /** Null for a cookie of none, and of one that is over. */
  of(cookie: string | null): Login | null {
    const session = cookie === null ? undefined : this.#all.get(digestOf(cookie));
    if (session === undefined || cookie === null) return null;
    if (session.endsAt > this.#access.now()) return session;
    this.#all.delete(digestOf(cookie));
    return null;
  }

  /** Whether it is neither over nor ended. */
  lives(session: Login): boolean {
    return session.endsAt > this.#access.now() && [...this.#all.values()].includes(session);
  }

  end(session: Login): void {
    for (const [digest, each] of this.#all) if (each === session) this.#all.delete(digest);
    this.#access.onEvent({ kind: 'out', role: session.role, name: session.name });
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
