/** Access to the other exchange. */
import type { SecretText, Transport } from '../../core/index.ts';

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
};
