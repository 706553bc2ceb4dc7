/** Remedies for rejections, as clauses for the operator, by error code or by `Advice`. */
import type { SectionNames } from '../../wire/sectionNames.ts';
import { isTransient, meaningOf } from './errorCodes.ts';

const bitsoRemedies = ({ section, apiKey, apiSecret }: SectionNames): Readonly<Record<string, string>> => ({
  '0201': `check that ${apiKey} is an active key of this exchange that no other program uses; a new key of the same account works after a restart of Puntas (for the embedded exchange, use the key that the command puntas exchange prints)`,
  '0202': 'give the key the permissions to read and to trade (never to withdraw)',
  '0206':
    section === 'exchange'
      ? 'set exchange.authentication to the signing method of this exchange'
      : 'set elsewhere.restUrl to an address that accepts signatures in the Authorization header',
  '0207': 'set the clock of this machine to the correct time, and use this key in no other program',
  '0213': 'allow the IP address of this machine for the key',
  '0215': `check that ${apiSecret} is the secret of ${apiKey}`,
  '0301': 'check the name of the book',
  '0326': 'activate the key, or create a new key',
  '0801':
    "wait a minute: this machine's IP address or the account sent too many requests; requests of other programs also count towards the limit",
});

/** Returns the remedy of a code as a clause; `null` if none is known. */
export function remedyOf(code: string, names: SectionNames): string | null {
  const own = bitsoRemedies(names)[code];
  if (own !== undefined) return own;
  const known = meaningOf(code);
  if (known?.advice === 'halt') return `${known.meaning}: only the account owner can fix this at the exchange`;
  return isTransient(code) ? 'try again later' : null;
}
