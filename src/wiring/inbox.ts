/**
 * Bot's side of the webhook inbox: starts the thread of the inbox, and reads the account after deliveries. The content
 * of a delivery changes no amount.
 */
import { Worker } from 'node:worker_threads';
import { readWebhookTokens, type Config, type WebhookSettings } from '../config.ts';
import { counted, textOfError, type Millis, type VenueClient } from '../core/index.ts';
import type { Log } from '../live/log.ts';
import { UsageError } from './usageError.ts';
import { readSecretFile } from './secretFiles.ts';
import type { FromThread, InboxState, ThreadData, ToThread } from './inboxThread.ts';

export type InboxSide = {
  readonly url: string;
  /** Returns the state of the inbox, at most one second old; `null` before the first report. */
  state(): InboxState | null;
  close(): Promise<void>;
};

export type InboxLooks = {
  /** Called when a delivery changes a transaction, which may have moved money. */
  readonly moved: () => void;
  /** Called with the quote id when a delivery changes a conversion. */
  readonly converted?: (quoteId: string) => void;
};

/**
 * Returns the tokens of the secret path from the environment or a file.
 * @throws UsageError that names the missing or invalid variable.
 */
export function webhookTokens(): readonly string[] {
  const read = readWebhookTokens(process.env, readSecretFile);
  if (!read.ok) throw new UsageError(read.errors);
  return read.tokens;
}

/** Returns the callback URL: the configured base URL with the secret path. */
export const callbackOf = (base: string, token: string): string => `${base}/hooks/${token}`;

/** Starts the inbox. Rejects with a one-line error if the port is unavailable. */
export async function startInbox(
  config: Config,
  settings: WebhookSettings,
  client: Pick<VenueClient, 'webhooks'>,
  log: Log,
  looks: InboxLooks,
): Promise<InboxSide> {
  const venue = config.exchange.kind === 'remote' ? config.exchange.venue : undefined;
  const workerData: ThreadData = { venue, dir: config.state.dir, settings, tokens: webhookTokens() };
  const thread = new Worker(new URL('./inboxThread.js', import.meta.url), { workerData });
  const say = (message: ToThread) => thread.postMessage(message);
  const hear = inboxHearing(log, looks, () => performance.now());
  let closing = false;
  let state: InboxState | null = null;
  const closed = new Promise<void>(resolve => thread.once('exit', () => resolve()));
  const url = await new Promise<string>((resolve, reject) => {
    thread.on('error', error => {
      const problem = `the webhook inbox failed (${textOfError(error)}). No deliveries are received until a restart of the bot; balances are still polled`;
      log.error({ error: error instanceof Error ? (error.stack ?? error.message) : textOfError(error) }, problem);
      state = { ...(state ?? NOTHING), problem };
      reject(error);
    });
    thread.on('message', (news: FromThread) => {
      if (news.kind === 'listening') resolve(news.url);
      else if (news.kind === 'cannot listen') reject(new UsageError(news.why));
      else if (news.kind === 'keys wanted') void fetchKeys(client, log, say);
      else if (news.kind === 'state') state = news.state;
      else if (!closing) hear(news);
    });
  });
  log.info({ url }, `webhooks are received at ${url}/hooks/… (the secret path is not shown)`);
  return {
    url,
    state: () => state,
    close: async () => {
      closing = true;
      say({ kind: 'close' });
      await closed;
    },
  };
}

const NOTHING: InboxState = {
  counts: { stored: 0, repeated: 0, turnedAway: 0, tooMany: 0, waiting: 0, noRoom: 0, failed: 0 },
  keptBytes: 0,
  problem: null,
};

/**
 * Maximum number of log lines about deliveries per second. More deliveries are counted but not logged, so that a flood
 * does not stop quoting.
 */
const LINES_PER_SECOND = 5;

/** Returns a handler that logs news of deliveries and calls `moved` and `converted`. `elapsed` returns ms. */
export function inboxHearing(
  log: Log,
  { moved, converted }: InboxLooks,
  elapsed: () => Millis,
): (news: FromThread) => void {
  let second = 0;
  let lines = 0;
  let unsaid = 0;
  const mayDescribe = () => {
    const now = Math.floor(elapsed() / 1_000);
    if (now !== second) {
      if (unsaid > 0)
        log.warn(
          { unsaid },
          `${counted(unsaid, 'more delivery was', 'more deliveries were')} received but not logged; all are stored in the inbox`,
        );
      [second, lines, unsaid] = [now, 0, 0];
    }
    const may = ++lines <= LINES_PER_SECOND;
    if (!may) unsaid++;
    return may;
  };
  return news => {
    if (news.kind === 'problem') log.error({}, news.sentence);
    if (news.kind === 'unreadable' && mayDescribe())
      log.warn({}, `a delivery cannot be read and was stored unchanged: ${news.why}`);
    if (news.kind !== 'transaction') return;
    if (mayDescribe()) logTransaction(news, log);
    contradicted(news, log);
    moved();
    if (news.quoteId !== null) converted?.(news.quoteId);
  };
}

type Told = Extract<FromThread, { kind: 'transaction' }>;

const logTransaction = ({ id, type, status, refund }: Told, log: Log): void =>
  log.info(
    { id, type, status, refund },
    `delivery: ${type.toLowerCase().replace('_', ' ')} ${id}: ${status}${refund === null ? '' : `, refund ${refund}`}; checking the account`,
  );

function contradicted({ id, contradictions }: Told, log: Log): void {
  if (contradictions.length > 0)
    log.error({ id }, `the deliveries of ${id} contradict each other: ${contradictions.join('; ')}; check the account`);
}

async function fetchKeys(
  client: Pick<VenueClient, 'webhooks'>,
  log: Log,
  say: (message: ToThread) => void,
): Promise<void> {
  const outcome = await client.webhooks?.keys();
  if (!outcome) return;
  if (outcome.kind === 'done') say({ kind: 'keys', keys: outcome.value });
  else
    log.warn(
      {},
      `the keys that verify webhook signatures could not be read (${outcome.kind === 'refused' ? outcome.message : outcome.reason}); senders are asked to retry`,
    );
}
