/** Access to the other exchange, and names of accounts. */
import { createHash } from 'node:crypto';
import type { AddressPause, SecretText, Transport } from '../../core/index.ts';

/** Access to the other exchange: its venue, its book, its addresses and the API key of an account. */
export type ElsewhereAccess = {
  /** Name in the registry of venues. */
  readonly venue: string;
  readonly book: string;
  readonly restUrl: string;
  readonly streamUrl?: string;
  readonly key: string;
  readonly secret: SecretText;
  /** Transport to an exchange in the same process, instead of sockets to `restUrl`. */
  readonly transport?: Transport;
  /** Pause that all clients of this process at the address share; absent for separate pauses. */
  readonly pause?: AddressPause | undefined;
};

/** Returns a pause that has not begun, for the clients of one process at one address. */
export const newPause = (): AddressPause => ({ until: -Infinity });

/** Returns a fingerprint of a text, such as a key. The fingerprint does not reveal the text. */
export const fingerprintOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);

/** Returns a name for an account at its exchange. The name does not reveal the API key. */
export const accountName = ({
  restUrl,
  key,
  born = 0,
}: Pick<ElsewhereAccess, 'restUrl' | 'key'> & { readonly born?: number }): string =>
  fingerprintOf(`${restUrl}\n${key}\n${born}`);
