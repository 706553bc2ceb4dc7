/** What was thrown, as text: also what has lost its class on the way between two threads. */

/** The message of an Error, or of anything that has one; else the thing itself as JSON. Never `[object Object]`, never throws. */
export function textOfError(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown;
  if (typeof thrown !== 'object' || thrown === null) return String(thrown);
  const { message, code } = thrown as { readonly message?: unknown; readonly code?: unknown };
  if (typeof message === 'string' && message !== '') return message;
  if (typeof code === 'string') return code;
  try {
    // Nothing at all for what has a toJSON that gives nothing.
    const json: string | undefined = JSON.stringify(thrown);
    return json ?? UNSAID;
  } catch {
    return UNSAID;
  }
}

const UNSAID = 'something without a message was thrown';
