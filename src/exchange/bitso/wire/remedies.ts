/** Remedies for rejections, as clauses for the operator, by error code or by `Advice`. */
import { meaningOf } from './errorCodes.ts';

const CODE_REMEDIES: Readonly<Record<string, string>> = {
  '0201':
    'check that PUNTAS_API_KEY is an active key of this exchange that no other program uses; a new key of the same account works after a restart of Puntas (for the embedded exchange, use the key that puntas exchange prints)',
  '0202': 'give the key the permissions to read and to trade (never to withdraw)',
  '0206': 'set exchange.authentication to the signing method of this exchange',
  '0207': 'set the clock of this machine to the correct time, and use this key in no other program',
  '0213': 'allow the IP address of this machine for the key',
  '0215': 'check that PUNTAS_API_SECRET is the secret of PUNTAS_API_KEY',
  '0301': 'check the name of the book',
  '0326': 'activate the key, or create a new key',
  '0801':
    "wait a minute: this machine's IP address or the account sent too many requests; requests of other programs count too",
};

/** Returns the remedy of a code as a clause; `null` if none is known. */
export function remedyOf(code: string): string | null {
  const own = CODE_REMEDIES[code];
  if (own !== undefined) return own;
  const known = meaningOf(code);
  if (known?.advice === 'halt') return `${known.meaning}: only the account owner can fix this at the exchange`;
  if (known?.advice === 'back off' || known?.advice === 'look it up') return 'try again later';
  return null;
}
