/** Disk metrics: whether the bot can write its journal, and the size of the webhook inbox. */
import { gauge, total } from './entry.ts';
import type { InboxOutcome } from './monitored.ts';

const OUTCOMES: Readonly<Record<InboxOutcome, string>> = {
  stored: 'stored',
  repeated: 'repeated',
  turnedAway: 'turned away',
  tooMany: 'too many',
  waiting: 'waiting',
  noRoom: 'no room',
  failed: 'failed',
};

export const DISK = [
  gauge({
    name: 'puntas_journal_writable',
    help: '1 if the journal can be written; at 0, no order is placed.',
    labels: ['book'],
    read: ({ disk }) => Number(disk.journalWritable),
  }),
  gauge({
    name: 'puntas_inbox_storing',
    help: '1 if webhook deliveries can be stored, else 0; absent without webhooks.',
    labels: ['book'],
    read: ({ disk: { inbox } }) => (inbox ? Number(inbox.problem === null) : []),
  }),
  gauge({
    name: 'puntas_inbox_kept_bytes',
    help: 'Size of stored webhook deliveries; absent without webhooks.',
    labels: ['book'],
    read: ({ disk: { inbox } }) => inbox?.keptBytes ?? [],
  }),
  total({
    name: 'puntas_inbox_deliveries_total',
    help: 'Webhook deliveries by outcome: stored, repeated (already stored), turned away (wrong path, source or signature). To be retried by the sender: too many (rate limit), waiting (slow disk), no room (too little disk space), failed (write error).',
    labels: ['book', 'outcome'],
    read: ({ disk: { inbox } }) =>
      inbox === null
        ? []
        : Object.entries(OUTCOMES).map(([outcome, name]) => [{ outcome: name }, inbox.counts[outcome as InboxOutcome]]),
  }),
];
