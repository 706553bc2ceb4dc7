/** Open orders of the bot as other processes have seen them: evidence of what a bot that is down has left. */
import type { MailMessage } from '../mailbox/kinds.ts';
import { Mailbox } from '../mailbox/mailbox.ts';

export type OrdersSeen = MailMessage<'ordersSeen'>;

/** Stores the last observation. Never throws: without it, the orders count as unknown. */
export function noteOrdersSeen(dir: string, seen: OrdersSeen): void {
  try {
    new Mailbox(dir, 'ordersSeen').put(seen);
  } catch {
    return;
  }
}

/** Returns what was seen last; `null` if nothing was, or if another user could have written it. */
export const ordersSeenIn = (dir: string): OrdersSeen | null => new Mailbox(dir, 'ordersSeen').message();
