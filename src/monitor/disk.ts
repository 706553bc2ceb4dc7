/** Disk metrics: whether the disk accepts the journal, and what the webhook inbox stores. */
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
    help: '1 while the disk takes the journal, 0 while it does not: then nothing is placed.',
    labels: ['book'],
    read: ({ disk }) => Number(disk.journalWritable),
  }),
  gauge({
    name: 'puntas_inbox_storing',
    help: '1 while webhook deliveries are stored, 0 while the disk has no room for them or does not take them; absent without webhooks.',
    labels: ['book'],
    read: ({ disk: { inbox } }) => (inbox ? Number(inbox.problem === null) : []),
  }),
  gauge({
    name: 'puntas_inbox_kept_bytes',
    help: 'What the stored webhook deliveries take, at most webhooks.keepMb; absent without webhooks.',
    labels: ['book'],
    read: ({ disk: { inbox } }) => inbox?.keptBytes ?? [],
  }),
  total({
    name: 'puntas_inbox_deliveries_total',
    help: 'Webhook deliveries by what became of them: stored, repeated (known already), turned away (wrong path, source or signature), too many (beyond the rate of a sender or of all), waiting (the disk was behind), no room (the reserve for the journal), failed (the disk did not take them). All but the first three are asked to come again.',
    labels: ['book', 'outcome'],
    read: ({ disk: { inbox } }) =>
      inbox === null
        ? []
        : Object.entries(OUTCOMES).map(([outcome, name]) => [{ outcome: name }, inbox.counts[outcome as InboxOutcome]]),
  }),
];
