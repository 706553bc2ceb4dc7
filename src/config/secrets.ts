/**
 * Key and secret of the exchange, from the environment or from files that the environment names. Key and secret are
 * never in the YAML and never printed.
 */
import { editDistance } from '../core/index.ts';

/** Beginning of the names of variables: PUNTAS for the exchange, PUNTAS_ELSEWHERE for the other exchange. */
export type KeyPrefix = 'PUNTAS' | 'PUNTAS_ELSEWHERE';

/** Key and secret. `S`: the caller's wrapper that prevents printing of the secret. */
export type Secrets<S> = { readonly apiKey: string; readonly apiSecret: S };

/**
 * Reads PUNTAS_API_KEY and PUNTAS_API_SECRET, or the files in PUNTAS_API_KEY_FILE and PUNTAS_API_SECRET_FILE (as Docker
 * and Kubernetes mount secrets). A value in both forms is an error, because one form would be ignored. Removes white
 * space around the text. `readFile` throws if the file cannot be read; `conceal` wraps the secret. `prefix` selects the
 * variables of the other exchange's key.
 */
export function readSecrets<S>(
  env: Readonly<Record<string, string | undefined>>,
  readFile: (path: string) => string,
  conceal: (text: string) => S,
  prefix: KeyPrefix = 'PUNTAS',
): { readonly ok: true; readonly secrets: Secrets<S> } | { readonly ok: false; readonly errors: readonly string[] } {
  const errors: string[] = [];
  const apiKey = readOne(`${prefix}_API_KEY`, env, readFile, errors);
  const apiSecret = readOne(`${prefix}_API_SECRET`, env, readFile, errors);
  return apiKey !== null && apiSecret !== null
    ? { ok: true, secrets: { apiKey, apiSecret: conceal(apiSecret) } }
    : { ok: false, errors };
}

/**
 * Reads the last part of the callback path: PUNTAS_WEBHOOK_TOKEN and, while the token is being changed, the previous
 * token in PUNTAS_WEBHOOK_TOKEN_OLD. Each token can also be in a file, as in `readSecrets`.
 */
export function readWebhookTokens(
  env: Readonly<Record<string, string | undefined>>,
  readFile: (path: string) => string,
):
  | { readonly ok: true; readonly tokens: readonly string[] }
  | { readonly ok: false; readonly errors: readonly string[] } {
  const errors: string[] = [];
  const [name, old] = ['PUNTAS_WEBHOOK_TOKEN', 'PUNTAS_WEBHOOK_TOKEN_OLD'];
  const hasOld = env[old] !== undefined || env[`${old}_FILE`] !== undefined;
  const tokens = [name, ...(hasOld ? [old] : [])].map(each => {
    const token = readOne(each, env, readFile, errors);
    // 22 random characters of an alphabet of 64 have 132 bits.
    if (token !== null && !/^[A-Za-z0-9_-]{22,128}$/.test(token))
      errors.push(
        `${each}: expected 22 to 128 random letters, digits, - or _; create a token with openssl rand -hex 24`,
      );
    return token;
  });
  return errors.length === 0 ? { ok: true, tokens: tokens.filter(token => token !== null) } : { ok: false, errors };
}

/**
 * Reads PUNTAS_QUEUE_PASSWORD of the trial queue; `null` if not set. The password can also be in a file, as in
 * `readSecrets`.
 */
export function readQueuePassword(
  env: Readonly<Record<string, string | undefined>>,
  readFile: (path: string) => string,
):
  { readonly ok: true; readonly password: string | null } | { readonly ok: false; readonly errors: readonly string[] } {
  const name = 'PUNTAS_QUEUE_PASSWORD';
  if (env[name] === undefined && env[`${name}_FILE`] === undefined) return { ok: true, password: null };
  const errors: string[] = [];
  const password = readOne(name, env, readFile, errors);
  return password === null ? { ok: false, errors } : { ok: true, password };
}

/** Secrets of alerts. A secret that the configuration does not need is `null`. `S` as in `Secrets`. */
export type AlertSecrets<S> = {
  readonly telegramToken: S | null;
  /** Key that signs alert webhooks; `null` if they are sent unsigned. */
  readonly webhookSecret: S | null;
  /** URL of the alert webhook; `null` if it is in the YAML. */
  readonly webhookUrl: S | null;
};

/**
 * Reads PUNTAS_TELEGRAM_TOKEN, the optional PUNTAS_ALERT_WEBHOOK_SECRET, and PUNTAS_ALERT_WEBHOOK_URL, if `settings`
 * needs them. Each value can also be in a file, as in `readSecrets`.
 */
export function readAlertSecrets<S>(
  settings: {
    readonly webhook?: { readonly url?: string | undefined } | undefined;
    readonly telegram?: object | undefined;
  },
  env: Readonly<Record<string, string | undefined>>,
  readFile: (path: string) => string,
  conceal: (text: string) => S,
):
  | { readonly ok: true; readonly secrets: AlertSecrets<S> }
  | { readonly ok: false; readonly errors: readonly string[] } {
  const errors: string[] = [];
  const read = (name: string, form: RegExp, expected: string): S | null => {
    const text = readOne(name, env, readFile, errors);
    if (text !== null && !form.test(text)) errors.push(`${name}: expected ${expected}`);
    return text === null ? null : conceal(text);
  };
  const { webhook, telegram } = settings;
  const signed = 'PUNTAS_ALERT_WEBHOOK_SECRET';
  const isSigned = env[signed] !== undefined || env[`${signed}_FILE`] !== undefined;
  const secrets = {
    telegramToken: telegram
      ? read(
          'PUNTAS_TELEGRAM_TOKEN',
          /^\d{1,20}:[A-Za-z0-9_-]{10,100}$/,
          'a token from @BotFather, like 123456:ABC-DEF…',
        )
      : null,
    webhookSecret:
      webhook && isSigned
        ? read(signed, /^.{16,}$/, '16 characters or more; create a secret with openssl rand -hex 24')
        : null,
    webhookUrl:
      webhook && webhook.url === undefined
        ? read(
            'PUNTAS_ALERT_WEBHOOK_URL',
            /^(https:\/\/|http:\/\/(localhost|127\.0\.0\.1|\[::1\])[:/])/,
            'an address with https://, or with http:// on this machine',
          )
        : null,
  };
  return errors.length === 0 ? { ok: true, secrets } : { ok: false, errors };
}

/** Parts of a configuration that decide which variables are read. */
type VariableUsers = {
  readonly alerts?:
    | {
        readonly webhook?: { readonly url?: string | undefined } | undefined;
        readonly telegram?: object | undefined;
      }
    | undefined;
  readonly webhooks?: object | undefined;
  readonly elsewhere?: { readonly kind: string } | undefined;
};

type VariableUse = {
  /** Whether the value can also be in a file that the variable with `_FILE` names. */
  readonly hasFile: boolean;
  /** Part of the configuration without which the variable is not read; absent if none is needed. */
  readonly needs?: string;
  readonly isRead: (config: VariableUsers) => boolean;
};

const ALWAYS: VariableUse = { hasFile: true, isRead: () => true };
const FOR_ALERT_WEBHOOK: VariableUse = {
  hasFile: true,
  needs: 'alerts.webhook',
  isRead: ({ alerts }) => alerts?.webhook !== undefined,
};
const FOR_WEBHOOKS: VariableUse = {
  hasFile: true,
  needs: 'the section webhooks',
  isRead: ({ webhooks }) => webhooks !== undefined,
};
const FOR_ELSEWHERE: VariableUse = {
  hasFile: true,
  needs: 'elsewhere.kind: remote',
  isRead: ({ elsewhere }) => elsewhere?.kind === 'remote',
};

/** Variables of the environment that Puntas reads. */
const VARIABLES: Readonly<Record<string, VariableUse>> = {
  PUNTAS_API_KEY: ALWAYS,
  PUNTAS_API_SECRET: ALWAYS,
  PUNTAS_QUEUE_PASSWORD: ALWAYS,
  PUNTAS_DEBUG: { ...ALWAYS, hasFile: false },
  PUNTAS_COMMAND: { ...ALWAYS, hasFile: false },
  PUNTAS_TELEGRAM_TOKEN: {
    hasFile: true,
    needs: 'alerts.telegram',
    isRead: ({ alerts }) => alerts?.telegram !== undefined,
  },
  PUNTAS_ALERT_WEBHOOK_SECRET: FOR_ALERT_WEBHOOK,
  PUNTAS_ALERT_WEBHOOK_URL: {
    hasFile: true,
    needs: 'alerts.webhook, or sets alerts.webhook.url',
    isRead: ({ alerts }) => alerts?.webhook !== undefined && alerts.webhook.url === undefined,
  },
  PUNTAS_WEBHOOK_TOKEN: FOR_WEBHOOKS,
  PUNTAS_WEBHOOK_TOKEN_OLD: FOR_WEBHOOKS,
  PUNTAS_ELSEWHERE_API_KEY: FOR_ELSEWHERE,
  PUNTAS_ELSEWHERE_API_SECRET: FOR_ELSEWHERE,
};

/** Variables that Kubernetes sets in each container for a service whose name starts with puntas. */
const OF_A_SERVICE = /_SERVICE_HOST$|_PORT(_|$)/;

/**
 * Returns one line for each variable whose name starts with PUNTAS and that is not read: with an unknown name, or without
 * the part of the configuration that needs it. Values are never printed.
 */
export function unreadVariables(config: VariableUsers, names: readonly string[]): readonly string[] {
  const known = Object.entries(VARIABLES).flatMap(([name, { hasFile }]) => [
    name,
    ...(hasFile ? [`${name}_FILE`] : []),
  ]);
  return names
    .filter(name => name.startsWith('PUNTAS') && !OF_A_SERVICE.test(name))
    .flatMap(name => {
      const use = VARIABLES[known.includes(name) ? name.replace(/_FILE$/, '') : ''];
      if (use?.isRead(config) === true) return [];
      if (use?.needs !== undefined) return [`${name} is not read, because the configuration lacks ${use.needs}`];
      const nearest = known.reduce((best, each) => (editDistance(each, name) < editDistance(best, name) ? each : best));
      return [`${name} is not read; the nearest known name is ${nearest}`];
    });
}

function readOne(
  name: string,
  env: Readonly<Record<string, string | undefined>>,
  readFile: (path: string) => string,
  errors: string[],
): string | null {
  const direct = env[name];
  const file = env[`${name}_FILE`];
  if (direct !== undefined && file !== undefined) {
    errors.push(`${name} and ${name}_FILE are both set; set only one of them`);
    return null;
  }
  const from = direct !== undefined ? name : `${name}_FILE (${file})`;
  let text = direct;
  if (file !== undefined) {
    try {
      text = readFile(file);
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      const isOfSystem = error instanceof Error && 'code' in error;
      errors.push(`${file}: ${problem}${isOfSystem ? `; correct ${name}_FILE` : ` (${name}_FILE)`}`);
      return null;
    }
  }
  if (text === undefined) {
    errors.push(`${name} is not set; set it to the value, or ${name}_FILE to the path of a file with the value`);
    return null;
  }
  const trimmed = text.trim();
  if (!/^[\x21-\x7e]{1,512}$/.test(trimmed)) {
    const flaw =
      trimmed === ''
        ? 'is empty'
        : 'contains spaces, line breaks or other characters that are not printable ASCII, or is longer than 512 characters';
    errors.push(`${from} ${flaw}`);
    return null;
  }
  return trimmed;
}
