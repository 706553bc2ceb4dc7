/** Open orders of the bot, as another process last saw them: evidence of the orders that a stopped bot left open. */
import type { MailMessage } from '../mailbox/kinds.ts';
import { Mailbox } from '../mailbox/mailbox.ts';

export type OrdersSeen = MailMessage<'ordersSeen'>;

/** Stores the last observation. Never throws: without an observation, open orders count as unknown. */
export function noteOrdersSeen(dir: string, seen: OrdersSeen): void {
  try {
    new Mailbox(dir, 'ordersSeen').put(seen);
  } catch {
    return;
  }
}

/** Returns the last observation; `null` if there is no observation, or if another user could have written the file. */
export const ordersSeenIn = (dir: string): OrdersSeen | null => new Mailbox(dir, 'ordersSeen').message();
