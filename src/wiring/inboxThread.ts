/**
 * Thread of the webhook inbox: listens, stores, answers, and reports to the bot's thread, so that quoting is not
 * delayed.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { WebhookSettings } from '../config.ts';
import { textOfError, type WebhookKey } from '../core/index.ts';
import { diskRoom } from '../live/files/diskRoom.ts';
import { openInbox, type InboxCounts } from '../live/inbox/listener.ts';
import { openInboxStore } from '../live/inbox/store.ts';
import { inboxReader, type InboxNews } from './inboxReader.ts';
import { venueNamed } from './venueRegistry.ts';

export type ThreadData = {
  /** Value of `exchange.venue`. */
  readonly venue: string | undefined;
  readonly dir: string;
  readonly settings: WebhookSettings;
  readonly tokens: readonly string[];
};

/** State of the inbox: deliveries by outcome since its start, stored bytes, and why deliveries are not stored. */
export type InboxState = {
  readonly counts: Readonly<InboxCounts>;
  readonly keptBytes: number;
  readonly problem: string | null;
};

/** Message from the thread of the inbox to the thread of the bot. */
export type FromThread =
  | { readonly kind: 'listening'; readonly url: string; readonly kept: number }
  | { readonly kind: 'cannot listen'; readonly why: string }
  | InboxNews
  | { readonly kind: 'keys wanted' }
  | { readonly kind: 'problem'; readonly sentence: string }
  /** Report of the state, once per second. */
  | { readonly kind: 'state'; readonly state: InboxState }
  | { readonly kind: 'closed' };

export type ToThread = { readonly kind: 'keys'; readonly keys: readonly WebhookKey[] } | { readonly kind: 'close' };

/**
 * Maximum number (`rows`) and size (`bytes`) of the stored deliveries that the inbox reads at its start, to detect
 * repeats and contradictions.
 */
const REMEMBERED = { rows: 2_000, bytes: 4_000_000 };
const STATE_EVERY_MS = 1_000;

async function listen({ venue, dir, settings, tokens }: ThreadData, tell: (news: FromThread) => void): Promise<void> {
  const elapsed = () => performance.now();
  const now = () => Date.now();
  const store = openInboxStore(dir, { rows: settings.keep, bytes: settings.keepMb * 1_000_000 });
  const { webhooks } = venueNamed(venue);
  if (!webhooks) throw new Error('webhooks: this exchange has no webhooks; remove the section webhooks');
  const read = inboxReader(body => webhooks.read(body));
  for (const { body } of store.newest(REMEMBERED)) read(body);
  const signatures = webhooks.signatures({ now, elapsed }, () => tell({ kind: 'keys wanted' }));
  const inbox = await openInbox({
    ...settings,
    tokens,
    store,
    now,
    elapsed,
    room: diskRoom(dir, elapsed),
    soon: call => void setImmediate(call),
    ...(settings.signature === 'required' ? { signed: signatures.check } : {}),
    onProblem: sentence => tell({ kind: 'problem', sentence }),
    onStored: ({ body }) => {
      const news = read(body);
      if (news !== null) tell(news);
    },
  });
  const telling = setInterval(
    () => tell({ kind: 'state', state: { counts: inbox.counts, keptBytes: store.bytes(), problem: inbox.problem() } }),
    STATE_EVERY_MS,
  );
  parentPort?.on('message', (message: ToThread) => {
    if (message.kind === 'keys') signatures.learn(message.keys);
    else {
      clearInterval(telling);
      void inbox
        .close()
        .then(() => store.close())
        // The database cannot be closed on a full disk. Its log nevertheless has all acknowledged deliveries.
        .catch((error: unknown) =>
          tell({ kind: 'problem', sentence: `the webhook inbox could not be closed: ${textOfError(error)}` }),
        )
        .finally(() => {
          tell({ kind: 'closed' });
          parentPort?.close();
        });
    }
  });
  tell({ kind: 'listening', url: inbox.url, kept: store.count() });
}

const tell = (news: FromThread): void => parentPort?.postMessage(news);
listen(workerData as ThreadData, tell).catch((error: unknown) => {
  tell({ kind: 'cannot listen', why: textOfError(error) });
  parentPort?.close();
});
