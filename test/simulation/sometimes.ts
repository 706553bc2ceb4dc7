/** What must happen at least once in a campaign: a simulation that never gets there proves nothing about it. */
export const SOMETIMES = [
  'unknown, then open',
  'unknown, then filled',
  'unknown, then canceled',
  'unknown, then gone after the fence',
  'a late request found its order forgotten by nobody',
  'a request arrived twice',
  'a nonce refusal answered an order that was accepted',
  'cancel proved that an unknown existed',
  'cancel answered with nothing, and the order lived',
  'a fill while its cancel was under way',
  'a fill after its order was closed',
  'trades were read before their records were written',
  'a crash with an intent that was never sent',
  'a crash with an order sent and accepted',
  'a crash with an order sent and lost',
  'a crash during recovery',
  'an orphan was adopted',
  'a full page of trades',
  'a lock-out while canceling',
  'quotes withdrawn from a stale book',
  'the tick changed under live orders',
  'the position limit refused an order',
  'a halt was latched by the bot',
  'a halt was lifted',
  'the disk was full while quoting',
  'the balances differed from the ledger',
  'the process was frozen with live orders',
  'the clock stepped back over an hour',
  'a stop was verified while faults went on',
  'a stop could not be verified, and said so',
  'an order was canceled by the venue',
  'the stream was lost and came back',
  'several unknown orders at once',
  'a run gave way to the next one in its process',
  'the bot was gone for long with live orders',
  'the sentinel fired',
  'the sentinel fired on a bot that lived on',
  'the sentinel had to have cleared the book',
  'a transfer was found in the lists and booked',
] as const;

export type Sometime = (typeof SOMETIMES)[number];

export class Marks {
  readonly counts = new Map<Sometime, number>();

  see(what: Sometime): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }
}
