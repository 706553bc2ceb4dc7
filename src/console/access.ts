/** Access to the console: two tokens for reading and acting, a session for each login, and a limit on wrong tokens. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { Pool, senderOf } from '../guard/index.ts';

export type Role = 'viewer' | 'operator';

export type ConsoleAccess = {
  /** Token for reading; if `null`, everyone who reaches the page can read. */
  readonly viewerToken: string | null;
  /** Token for actions; if `null`, actions are off. */
  readonly operatorToken: string | null;
  /** Whether a TLS proxy is in front of the console, and only the proxy can reach the port. */
  readonly behindTls: boolean;
  /** Returns monotonic ms. */
  readonly now: () => number;
  /** Returns an unguessable random text. */
  readonly newSecret: () => string;
  readonly onEvent: (event: AccessEvent) => void;
};

/** Event of the access log; `from` is the address of the caller, as reported by the TLS proxy if there is one. */
export type AccessEvent =
  | { readonly kind: 'wrong token'; readonly from: string }
  | { readonly kind: 'too many'; readonly from: string }
  | { readonly kind: 'in' | 'out'; readonly role: Role; readonly name: string };

export type Login = {
  readonly role: Role;
  /** Name that the user gave; empty for a viewer without a name. */
  readonly name: string;
  /** Key that each request for an action must send. Only the page that logged in has the key; no cookie contains it. */
  readonly key: string;
  readonly endsAt: number;
};

/** Result of the check of a token. `wait`: no token of the sender is checked for these seconds. */
export type TokenCheck =
  | { readonly kind: 'right'; readonly role: Role }
  | { readonly kind: 'wrong' }
  | { readonly kind: 'wait'; readonly seconds: number };

export type LoginEnd =
  | { readonly kind: 'in'; readonly cookie: string; readonly session: Login }
  | { readonly kind: 'nameless' }
  | Exclude<TokenCheck, { readonly kind: 'right' }>;

/** Time after which a login expires, in ms. */
export const SESSION_MS = 8 * 3_600_000;
/**
 * Maximum number of different wrong tokens per minute and sender. At this number, the sender is rejected even with the
 * right token. A repeated wrong token counts once, so that a program with an old token does not lock out its address.
 */
export const WRONG_MAX = 5;
const MINUTE_MS = 60_000;
/**
 * Maximum number of logins of each role. A further login ends the oldest login of the sender with the most logins of
 * this role, so a viewer never ends an operator's login.
 */
const SESSIONS_MAX = { viewer: 64, operator: 64 };
/** Maximum number of senders with recorded wrong tokens; the least recently used sender is dropped first. */
const SENDERS_MAX = 4_096;

/** Wrong tokens of a sender: time of the first use by the hash of the token, oldest first. */
type WrongTokens = { readonly atByDigest: Map<string, number>; isTold: boolean };

export class Sessions {
  readonly #access: ConsoleAccess;
  /** Logins by the hash of their cookie, so that the timing of a lookup does not reveal a partial match. */
  readonly #all = new Map<string, Login>();
  readonly #pools = {
    viewer: new Pool<string>({ all: SESSIONS_MAX.viewer }),
    operator: new Pool<string>({ all: SESSIONS_MAX.operator }),
  };
  readonly #wrong = new Map<string, WrongTokens>();

  constructor(access: ConsoleAccess) {
    this.#access = access;
  }

  /** Logs a sender in. `name` must be a result of `cleaned`. */
  login(token: string, name: string, from: string): LoginEnd {
    const { now, newSecret, onEvent } = this.#access;
    const checked = this.check(token, from);
    if (checked.kind !== 'right') return checked;
    const { role } = checked;
    if (role === 'operator' && name === '') return { kind: 'nameless' };
    const cookie = newSecret();
    const session = { role, name, key: newSecret(), endsAt: now() + SESSION_MS } as const;
    const digest = secretDigest(cookie);
    this.#all.set(digest, session);
    this.#pools[role].add(digest, senderOf(from), () => void this.#all.delete(digest));
    onEvent({ kind: 'in', role, name });
    return { kind: 'in', cookie, session };
  }

  /** Returns the role of a token. Different wrong tokens of one sender count together, over all kinds of requests. */
  check(token: string, from: string): TokenCheck {
    const { now, onEvent, operatorToken, viewerToken } = this.#access;
    const at = now();
    const sender = senderOf(from);
    const wrong = this.#wrongOf(sender, at);
    const [oldest] = wrong.atByDigest.values();
    if (oldest !== undefined && wrong.atByDigest.size >= WRONG_MAX) {
      if (!wrong.isTold) onEvent({ kind: 'too many', from });
      wrong.isTold = true;
      return { kind: 'wait', seconds: Math.ceil((MINUTE_MS - (at - oldest)) / 1000) };
    }
    wrong.isTold = false;
    // The operator's and the viewer's token are always compared, so that the time does not depend on the first result.
    const [isOperator, isViewer] = [isSame(token, operatorToken), isSame(token, viewerToken)];
    if (!isOperator && !isViewer) {
      const digest = secretDigest(token);
      if (!wrong.atByDigest.has(digest)) {
        wrong.atByDigest.set(digest, at);
        onEvent({ kind: 'wrong token', from });
      }
      return { kind: 'wrong' };
    }
    return { kind: 'right', role: isOperator ? 'operator' : 'viewer' };
  }

  /** Returns the login of a cookie, or `null` if the cookie is unknown or expired. */
  of(cookie: string | null): Login | null {
    const session = cookie === null ? undefined : this.#all.get(secretDigest(cookie));
    if (session === undefined || cookie === null) return null;
    if (session.endsAt > this.#access.now()) return session;
    this.#forget(secretDigest(cookie), session);
    return null;
  }

  /** Whether the login is still valid: neither expired nor ended. */
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

  /** Returns the record of a sender's wrong tokens, with only those of the last minute. */
  #wrongOf(sender: string, now: number): WrongTokens {
    const wrong = this.#wrong.get(sender) ?? { atByDigest: new Map<string, number>(), isTold: false };
    for (const [digest, at] of wrong.atByDigest) if (now - at >= MINUTE_MS) wrong.atByDigest.delete(digest);
    this.#wrong.delete(sender);
    this.#wrong.set(sender, wrong);
    const [oldest] = this.#wrong.keys();
    if (this.#wrong.size > SENDERS_MAX && oldest !== undefined) this.#wrong.delete(oldest);
    return wrong;
  }
}

/** Whether the texts are equal, compared in constant time. False if `secret` is null. */
export function isSame(given: string, secret: string | null): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  const equal = timingSafeEqual(digest(given), digest(secret ?? ''));
  return secret !== null && equal;
}

const secretDigest = (secret: string): string => createHash('sha256').update(secret).digest('hex');

/** Returns the text on one line, without invisible and bidirectional control characters, cut to `most` characters. */
export const cleaned = (text: string, most: number): string =>
  [...text.replace(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()].slice(0, most).join('');
