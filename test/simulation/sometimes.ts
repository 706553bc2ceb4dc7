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
  'a hedge was carried out',
  'several hedges in one seed',
  'an unknown hedge was found in the list',
  'an unknown hedge was found in the balances',
  'a hedge with an unknown outcome was not carried out',
  'a conversion failed',
  'a conversion that failed gave its funds back',
  'an offer could not be confirmed',
  'an acceptance came after the end of its offer',
  'an offer was withdrawn before it was accepted',
  'the list of conversions had a further page',
  'a crash with a hedge under way',
  'a crash with an acceptance on its way',
] as const;

export type Sometime = (typeof SOMETIMES)[number];

export class Marks {
  readonly counts = new Map<Sometime, number>();

  see(what: Sometime): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }
}
