/** Thrown values as text, including errors that lost their class when sent between threads. */

/**
 * Returns the message of an Error, or of any object with a message; otherwise its code or JSON. Never returns `[object
 * Object]`, never throws.
 */
export function textOfError(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown;
  if (typeof thrown !== 'object' || thrown === null) return String(thrown);
  const { message, code } = thrown as { readonly message?: unknown; readonly code?: unknown };
  if (typeof message === 'string' && message !== '') return withoutCode(message, thrown);
  if (typeof code === 'string') return code;
  try {
    // JSON.stringify returns undefined if a `toJSON` method does.
    const json: string | undefined = JSON.stringify(thrown);
    return json ?? NO_MESSAGE;
  } catch {
    return NO_MESSAGE;
  }
}

/**
 * Returns the message of an error. An error of the file system, such as `ENOENT: no such file or directory, open '/a'`,
 * loses the names of its code and of the system call: `no such file or directory (/a)`.
 */
function withoutCode(message: string, error: object): string {
  const { code, syscall, path } = error as { readonly [key in 'code' | 'syscall' | 'path']?: unknown };
  if (typeof code !== 'string' || typeof syscall !== 'string' || !message.startsWith(`${code}: `)) return message;
  const end = message.indexOf(`, ${syscall}`);
  if (end < 0) return message;
  return `${message.slice(code.length + 2, end)}${typeof path === 'string' ? ` (${path})` : ''}`;
}

const NO_MESSAGE = 'an error without a message was thrown';
