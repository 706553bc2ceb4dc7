/** Thrown values as text, including errors that lost their class when sent between threads. */

/**
 * Returns the message of an Error, or of any object with a message; otherwise its code or JSON. Never returns `[object
 * Object]`, never throws.
 */
export function textOfError(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown;
  if (typeof thrown !== 'object' || thrown === null) return String(thrown);
  const { message, code } = thrown as { readonly message?: unknown; readonly code?: unknown };
  if (typeof message === 'string' && message !== '') return message;
  if (typeof code === 'string') return code;
  try {
    // JSON.stringify returns undefined if a `toJSON` method does.
    const json: string | undefined = JSON.stringify(thrown);
    return json ?? NO_MESSAGE;
  } catch {
    return NO_MESSAGE;
  }
}

const NO_MESSAGE = 'an error without a message was thrown';
