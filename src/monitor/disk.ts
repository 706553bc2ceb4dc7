/** What Prometheus is told of the disk: whether it takes the journal, and what the webhook inbox stores there. */
import { Counter, Gauge } from 'prom-client';
import type { Registry } from 'prom-client';

export type MonitoredDisk = {
  /** The disk took the last write of the journal. */
  readonly journalWritable: boolean;
  /** Null without webhooks, and before its first second. `counts`: deliveries by what became of them, since the start. */
  readonly inbox: {
    readonly counts: Readonly<Record<InboxOutcome, number>>;
    readonly keptBytes: number;
    readonly problem: string | null;
  } | null;
};

export type InboxOutcome = 'stored' | 'repeated' | 'turnedAway' | 'tooMany' | 'waiting' | 'noRoom' | 'failed';

const OUTCOMES: Readonly<Record<InboxOutcome, string>> = {
  stored: 'stored',
  repeated: 'repeated',
  turnedAway: 'turned away',
  tooMany: 'too many',
  waiting: 'waiting',
  noRoom: 'no room',
  failed: 'failed',
};

/** The series of one book; call what is returned at each scrape. */
export function diskGauges(registers: Registry[], book: string): (now: MonitoredDisk) => void {
  const gauge = (name: string, help: string) => new Gauge({ name, help, labelNames: ['book'], registers });
  const journal = gauge(
    'puntas_journal_writable',
    '1 while the disk takes the journal, 0 while it does not: then nothing is placed.',
  );
  const storing = gauge(
    'puntas_inbox_storing',
    '1 while webhook deliveries are stored, 0 while the disk has no room for them or does not take them; absent without webhooks.',
  );
  const kept = gauge(
    'puntas_inbox_kept_bytes',
    'What the stored webhook deliveries take, at most webhooks.keepMb; absent without webhooks.',
  );
  const deliveries = new Counter({
    name: 'puntas_inbox_deliveries_total',
    help: 'Webhook deliveries by what became of them: stored, repeated (known already), turned away (wrong path, source or signature), too many (beyond the rate of a sender or of all), waiting (the disk was behind), no room (the reserve for the journal), failed (the disk did not take them). All but the first three are asked to come again.',
    labelNames: ['book', 'outcome'],
    registers,
  });
  return now => {
    journal.set({ book }, Number(now.journalWritable));
    deliveries.reset();
    if (now.inbox === null) return;
    storing.set({ book }, Number(now.inbox.problem === null));
    kept.set({ book }, now.inbox.keptBytes);
    for (const [outcome, name] of Object.entries(OUTCOMES))
      deliveries.inc({ book, outcome: name }, now.inbox.counts[outcome as InboxOutcome]);
  };
}
