/** The thread of the webhook inbox: listens, stores, answers, and tells the bot's thread what came. Quoting goes on beside it. */
import { parentPort, workerData } from 'node:worker_threads';
import { contradictionsOf, joinTransactions, transactionOf } from '../core/index.ts';
import type { TransactionEvent, TransactionState } from '../core/index.ts';
import type { WebhookSettings } from '../config.ts';
import { delivery } from '../exchange/index.ts';
import { openInbox } from '../live/inbox/listener.ts';
import { signatureCheck } from '../live/inbox/signature.ts';
import type { PublicKey } from '../live/inbox/signature.ts';
import { openInboxStore } from '../live/inbox/store.ts';

export type ThreadData = {
  readonly dir: string;
  readonly settings: WebhookSettings;
  readonly tokens: readonly string[];
};

/** What the thread says. */
export type FromThread =
  | { readonly kind: 'listening'; readonly url: string; readonly kept: number }
  | { readonly kind: 'cannot listen'; readonly why: string }
  | {
      readonly kind: 'transaction';
      readonly id: string;
      readonly type: TransactionEvent['kind'];
      readonly status: string;
      readonly refund: string | null;
      /** Of a conversion. */
      readonly quoteId: string | null;
      readonly contradictions: readonly string[];
    }
  | { readonly kind: 'unreadable'; readonly why: string }
  | { readonly kind: 'keys wanted' }
  | { readonly kind: 'problem'; readonly sentence: string }
  | { readonly kind: 'closed' };

export type ToThread = { readonly kind: 'keys'; readonly keys: readonly PublicKey[] } | { readonly kind: 'close' };

/** Transactions whose state is remembered, so that a contradiction is seen. */
const STATES_MAX = 10_000;

/** Transactions as their events, joined, say. The one heard of least lately is forgotten first. */
function transactions(): (event: TransactionEvent) => TransactionState {
  const states = new Map<string, TransactionState>();
  return event => {
    const told = transactionOf(event);
    const known = states.get(event.id);
    const state = known === undefined ? told : joinTransactions(known, told);
    states.delete(event.id);
    states.set(event.id, state);
    const [oldest] = states.keys();
    if (states.size > STATES_MAX && oldest !== undefined) states.delete(oldest);
    return state;
  };
}

async function listen({ dir, settings, tokens }: ThreadData, tell: (news: FromThread) => void): Promise<void> {
  const elapsed = () => performance.now();
  const store = openInboxStore(dir, settings.keep);
  const join = transactions();
  for (const { body } of store.all()) {
    const known = delivery(body.toString('utf8'));
    if (known.kind === 'transaction') join(known.event);
  }
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
      const read = delivery(body.toString('utf8'));
      if (read.kind === 'unreadable') tell({ kind: 'unreadable', why: read.reason });
      if (read.kind !== 'transaction') return;
      const state = join(read.event);
      tell({
        kind: 'transaction',
        id: read.event.id,
        type: read.event.kind,
        status: state.status.value,
        refund: state.refund?.status.value ?? null,
        quoteId: read.event.kind === 'CONVERSION' ? read.event.quoteId : null,
        contradictions: contradictionsOf(state),
      });
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
