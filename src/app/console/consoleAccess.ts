/** Console tokens from private files, and a record of logins and of wrong tokens. */
import { randomBytes } from 'node:crypto';
import type { ConsoleSettings } from '../../config.ts';
import type { AccessEvent, ConsoleAccess, ShownEvent } from '../../console/index.ts';
import { counted, textOfError, type Clock, type Millis } from '../../core/index.ts';
import { fileErrorCode } from '../../guard/index.ts';
import { readSecretFile } from '../../wiring/secretFiles.ts';
import { UsageError } from '../../wiring/usageError.ts';

/**
 * Returns the access rules, or `null` if no token is configured. Without tokens, everyone can read and actions are off.
 * @throws UsageError if a token is invalid, or if others can read its file.
 */
export function consoleAccess(
  settings: ConsoleSettings | undefined,
  clock: Clock,
  onEvent: (event: AccessEvent) => void,
): ConsoleAccess | null {
  const operatorToken = tokenIn(settings, 'operatorTokenFile');
  const viewerToken = tokenIn(settings, 'viewerTokenFile');
  if (operatorToken === null && viewerToken === null) return null;
  if (operatorToken === viewerToken)
    throw new UsageError(
      'console: operatorTokenFile and viewerTokenFile contain the same token, so a viewer could log in as an operator; create another token with openssl rand -hex 32',
    );
  return accessWith({ operatorToken, viewerToken, behindTls: settings?.behindTls === true, onEvent }, clock);
}

/** Returns access rules with the tokens, a monotonic clock, and random secrets. */
export const accessWith = (
  rules: Omit<ConsoleAccess, 'now' | 'newSecret'>,
  clock: Pick<Clock, 'elapsed'>,
): ConsoleAccess => ({
  ...rules,
  now: () => clock.elapsed(),
  newSecret: () => randomBytes(32).toString('base64url'),
});

function tokenIn(settings: ConsoleSettings | undefined, name: 'operatorTokenFile' | 'viewerTokenFile'): string | null {
  const file = settings?.[name];
  return file === undefined ? null : readTokenFile(['console', name].join('.'), file);
}

/**
 * Returns the token in a private file. `name`: key that names the file, for errors.
 * @throws UsageError if the file is missing, if others can read it, or if the token is invalid.
 */
export function readTokenFile(name: string, file: string): string {
  const key = `${name} (${file})`;
  let text: string;
  try {
    text = readSecretFile(file).trim();
  } catch (error) {
    const code = fileErrorCode(error);
    const make = `create a token for ${name} with: (umask 077; openssl rand -hex 32 > ${file})`;
    if (code === null) throw new UsageError(`${key}: ${textOfError(error)}`);
    throw new UsageError(`${file}: ${textOfError(error)}; ${code === 'ENOENT' ? make : `correct ${name}`}`);
  }
  return checkedToken(key, text);
}

/**
 * Returns a token if it is long enough and can be sent in a header.
 * @throws UsageError otherwise; `key` names its source.
 */
export function checkedToken(key: string, text: string): string {
  if (!/^[\x21-\x7e]{32,512}$/.test(text))
    throw new UsageError(
      `${key}: expected a random token of 32 to 512 printable ASCII characters without blanks, found ${counted(text.length, 'character')}${/[^\x21-\x7e]/.test(text) ? ', some of them outside printable ASCII' : ''}; create a token with openssl rand -hex 32`,
    );
  return text;
}

/** Time in which consecutive wrong tokens are joined to one event, in ms. */
const ONE_EVENT_MS = 600_000;
const EVENTS_MAX = 50;

/** Last logins and failed attempts since the console started. */
export class LoginEvents {
  readonly #clock: Clock;
  readonly #onLine: (line: string) => void;
  #all: readonly ShownEvent[] = [];
  #wrong: { readonly since: Millis; readonly last: Millis; readonly count: number } | null = null;

  /** Creates an empty record of logins. `onLine` receives a line for each login and wrong token. */
  constructor(clock: Clock, onLine: (line: string) => void) {
    this.#clock = clock;
    this.#onLine = onLine;
  }

  /** Returns the recorded logins and failed attempts, oldest first. */
  get shown(): readonly ShownEvent[] {
    return this.#all;
  }

  add(event: AccessEvent): void {
    const at = this.#clock.now();
    if ('role' in event) {
      const who = event.name === '' ? event.role : `${event.name}, ${event.role}`;
      this.#tell({ at, who, level: 'info', text: `logged ${event.kind}` });
      return;
    }
    const before = this.#wrong !== null && at - this.#wrong.last < ONE_EVENT_MS ? this.#wrong : null;
    const isOne = event.kind === 'wrong token';
    const wrong = { since: before?.since ?? at, last: at, count: (before?.count ?? 0) + (isOne ? 1 : 0) };
    this.#wrong = wrong;
    const held = isOne ? '' : '; logins are blocked for up to a minute';
    const text = `${counted(wrong.count, 'wrong token')} entered at the console, the last from ${event.from}${held}`;
    if (before !== null) this.#all = this.#all.filter(({ at: of, who }) => !(of === before.last && who === WHO));
    this.#tell({ at, who: WHO, level: 'warn', text });
  }

  #tell(event: ShownEvent): void {
    this.#all = [...this.#all, event].slice(-EVENTS_MAX);
    this.#onLine(`${event.who}: ${event.text}`);
  }
}

const WHO = 'somebody';
