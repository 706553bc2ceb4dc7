/** Open orders of the bot as other processes saw them: evidence of what a bot that is down has left. */
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

/** Returns the last observation; `null` if there is none, or if another user could have written it. */
export const ordersSeenIn = (dir: string): OrdersSeen | null => new Mailbox(dir, 'ordersSeen').message();
