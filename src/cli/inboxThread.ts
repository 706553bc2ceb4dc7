/** The thread of the webhook inbox: listens, stores, answers, and tells the bot's thread what came. Quoting goes on beside it. */
import { parentPort, workerData } from 'node:worker_threads';
import type { WebhookSettings } from '../config.ts';
import { openInbox } from '../live/inbox/listener.ts';
import { signatureCheck } from '../live/inbox/signature.ts';
import type { PublicKey } from '../live/inbox/signature.ts';
import { openInboxStore } from '../live/inbox/store.ts';
import { inboxReader } from './inboxReader.ts';
import type { InboxNews } from './inboxReader.ts';

export type ThreadData = {
  readonly dir: string;
  readonly settings: WebhookSettings;
  readonly tokens: readonly string[];
};

/** What the thread says. */
export type FromThread =
  | { readonly kind: 'listening'; readonly url: string; readonly kept: number }
  | { readonly kind: 'cannot listen'; readonly why: string }
  | InboxNews
  | { readonly kind: 'keys wanted' }
  | { readonly kind: 'problem'; readonly sentence: string }
  | { readonly kind: 'closed' };

export type ToThread = { readonly kind: 'keys'; readonly keys: readonly PublicKey[] } | { readonly kind: 'close' };

async function listen({ dir, settings, tokens }: ThreadData, tell: (news: FromThread) => void): Promise<void> {
  const elapsed = () => performance.now();
  const store = openInboxStore(dir, settings.keep);
  const read = inboxReader();
  for (const { body } of store.all()) read(body);
  const signatures = signatureCheck(elapsed, () => tell({ kind: 'keys wanted' }));
  const inbox = await openInbox({
    ...settings,
    tokens,
    store,
    now: () => Date.now(),
    elapsed,
    soon: call => void setImmediate(call),
    ...(settings.signature === 'required' ? { signed: signatures.check } : {}),
    onProblem: sentence => tell({ kind: 'problem', sentence }),
    onStored: ({ body }) => {
      const news = read(body);
      if (news !== null) tell(news);
    },
  });
  parentPort?.on('message', (message: ToThread) => {
    if (message.kind === 'keys') signatures.learn(message.keys);
    else
      void inbox.close().then(() => {
        store.close();
        tell({ kind: 'closed' });
        parentPort?.close();
      });
  });
  tell({ kind: 'listening', url: inbox.url, kept: store.count() });
}

const tell = (news: FromThread): void => parentPort?.postMessage(news);
listen(workerData as ThreadData, tell).catch((error: unknown) => {
  tell({ kind: 'cannot listen', why: error instanceof Error ? error.message : String(error) });
  parentPort?.close();
});
