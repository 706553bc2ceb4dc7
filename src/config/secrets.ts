/** The key and the secret of the exchange: from the environment or a file that it names, never from the YAML, never printed. */

/** `S` is whatever keeps the secret from being printed; the caller says. */
export type Secrets<S> = { readonly apiKey: string; readonly apiSecret: S };

/**
 * Reads PUNTAS_API_KEY and PUNTAS_API_SECRET, or the files that PUNTAS_API_KEY_FILE and PUNTAS_API_SECRET_FILE name
 * (as Docker and Kubernetes mount secrets). Giving both forms of one is an error, because one of them would be ignored.
 * White space around the text is trimmed. `readFile` throws when the file cannot be read; `conceal` wraps the secret.
 */
export function readSecrets<S>(
  env: Readonly<Record<string, string | undefined>>,
  readFile: (path: string) => string,
  conceal: (text: string) => S,
): { readonly ok: true; readonly secrets: Secrets<S> } | { readonly ok: false; readonly errors: readonly string[] } {
  const errors: string[] = [];
  const apiKey = readOne('PUNTAS_API_KEY', env, readFile, errors);
  const apiSecret = readOne('PUNTAS_API_SECRET', env, readFile, errors);
  return apiKey !== null && apiSecret !== null
    ? { ok: true, secrets: { apiKey, apiSecret: conceal(apiSecret) } }
    : { ok: false, errors };
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
    errors.push(`${name} and ${name}_FILE are both set: set one of them`);
    return null;
  }
  const from = direct !== undefined ? name : `${name}_FILE (${file})`;
  let text = direct;
  if (file !== undefined) {
    try {
      text = readFile(file);
    } catch (error) {
      errors.push(`${name}_FILE: cannot read ${JSON.stringify(file)}: ${reasonOf(error)}`);
      return null;
    }
  }
  if (text === undefined) {
    errors.push(`${name} is not set: put the value there, or the path of a file that holds it into ${name}_FILE`);
    return null;
  }
  const trimmed = text.trim();
  if (!/^[\x21-\x7e]{1,512}$/.test(trimmed)) {
    const flaw = trimmed === '' ? 'is empty' : 'holds spaces, line breaks or other characters that no key has';
    errors.push(`${from} ${flaw}`);
    return null;
  }
  return trimmed;
}

const reasonOf = (error: unknown): string =>
  error instanceof Error ? ('code' in error ? String(error.code) : error.message) : String(error);
