/**
 * Connection to BullMQ on Redis or PostgreSQL: loaded, connected and checked before use. Without a queue, BullMQ is not
 * loaded.
 */
import type { Processor, Queue, Worker, WorkerOptions } from 'bullmq';
import { loadOptional, UsageError } from '../../../src/wiring/usageError.ts';
import { HELLO_QUEUE } from './presence.ts';
import type { QueueAddress } from './queueAddress.ts';

export type BullQueues = {
  /** Returns the queue `name`; opens it at the first call. */
  queue(name: string): Queue;
  worker(name: string, processor: Processor, options: Omit<WorkerOptions, 'connection'>): Worker;
  /**
   * Returns the error that a processor throws after it returned its job to the queue. `hopeless` returns the error for
   * a failure that no retry would change.
   */
  givenBack(): Error;
  hopeless(sentence: string): Error;
  /** Closes the queues, but not the workers. */
  end(): Promise<void>;
};

const CONNECT_MS = 10_000;
const SCHEMA = 'puntas_queue';

/**
 * Connects. `onError` receives every connection error, repeatedly during an outage. Rejects with `UsageError` if the
 * server is unavailable or could lose jobs.
 */
export async function connectQueues(address: QueueAddress, onError: (error: Error) => void): Promise<BullQueues> {
  const { shown, url, kind } = address;
  await (kind === 'redis' ? checkRedis(address) : checkPostgres(address));
  const bullmq = await loadOptional(shown, () => import('bullmq'));
  const { Queue, Worker, WaitingError, UnrecoverableError, createPostgresBackend } = bullmq;
  const connection =
    kind === 'redis'
      ? { url, connectTimeout: CONNECT_MS, retryStrategy: (tries: number) => Math.min(250 * 2 ** tries, 5_000) }
      : { connectionString: url, migrate: true, schema: SCHEMA, max: 4, connectionTimeoutMillis: CONNECT_MS };
  const backend = kind === 'redis' ? undefined : (createPostgresBackend as never);
  const own = { connection: connection as never, ...(kind === 'redis' && { prefix: 'puntas' }) };
  const open = new Map<string, Queue>();
  const queues: BullQueues = {
    queue: name => {
      const known = open.get(name);
      if (known !== undefined) return known;
      const queue = new Queue(name, own, backend);
      queue.on('error', onError);
      open.set(name, queue);
      return queue;
    },
    worker: (name, processor, options) => {
      const worker = new Worker(name, processor, { ...own, ...options }, backend);
      worker.on('error', onError);
      return worker;
    },
    givenBack: () => new WaitingError(),
    hopeless: sentence => new UnrecoverableError(sentence),
    end: async () => {
      await Promise.allSettled([...open.values()].map(queue => queue.close()));
    },
  };
  try {
    // Creates missing tables. Processes that start at the same time wait for each other here.
    await queues.queue(HELLO_QUEUE).waitUntilReady();
  } catch (error) {
    await queues.end();
    throw new UsageError(`${shown}: ${messageOf(error)}`);
  }
  return queues;
}

/** Checks that Redis is available, grants access, and does not evict data. */
async function checkRedis({ url, shown }: QueueAddress): Promise<void> {
  const { Redis } = await loadOptional(shown, () => import('ioredis'));
  const client = new Redis(url, {
    ...{ lazyConnect: true, connectTimeout: CONNECT_MS, maxRetriesPerRequest: 0 },
    ...{ retryStrategy: () => null, reconnectOnError: () => false },
  });
  let last: Error | null = null;
  client.on('error', (error: Error) => (last ??= error));
  try {
    await client.connect();
    const info = await client.info();
    const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1];
    if (policy !== undefined && policy !== 'noeviction')
      throw new UsageError(
        `${shown}: Redis with maxmemory-policy ${policy} deletes jobs when its memory is full; set maxmemory-policy to noeviction (with CONFIG SET, and in redis.conf)`,
      );
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${shown}: ${whyNot(last ?? error, 'Redis')}`);
  } finally {
    client.disconnect();
  }
}

async function checkPostgres({ url, shown }: QueueAddress): Promise<void> {
  const { Client } = (await loadOptional(shown, () => import('pg'))).default;
  const client = new Client({ connectionString: url, connectionTimeoutMillis: CONNECT_MS });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select 1');
  } catch (error) {
    throw new UsageError(`${shown}: ${whyNot(error, 'PostgreSQL')}`);
  } finally {
    await client.end().catch(() => undefined);
  }
}

const REASONS: readonly (readonly [RegExp, string])[] = [
  [/ECONNREFUSED/, 'connection refused; check that SERVER is running at this address and port'],
  [/ENOTFOUND|EAI_AGAIN/, 'unknown host name'],
  [/ETIMEDOUT|timeout/i, 'no answer within 10 s; check for a firewall, or another program on this port'],
  [
    /NOAUTH|password must be a string/,
    'SERVER requires a password; set PUNTAS_QUEUE_PASSWORD or PUNTAS_QUEUE_PASSWORD_FILE',
  ],
  [
    /WRONGPASS|28P01|28000|invalid username-password/,
    'SERVER rejects this user and password; check --queue and PUNTAS_QUEUE_PASSWORD',
  ],
  [/NOPERM|42501/, 'the user in --queue lacks rights on SERVER; grant the missing rights to this user'],
  [/3D000/, 'the database in --queue does not exist; create the database with createdb'],
  [/LOADING|57P03/, 'SERVER is still starting; try again in a moment'],
  [
    /ECONNRESET|EPROTO|Connection is closed|Connection terminated|wrong version number|Protocol error/,
    'the connection was closed; check that SERVER runs at this address, with TLS if the address requires TLS',
  ],
];

function whyNot(error: unknown, server: string): string {
  const text = messageOf(error);
  const [, reason] = REASONS.find(([pattern]) => pattern.test(text)) ?? [];
  return reason === undefined ? text : `${reason.replace('SERVER', server)} (${text})`;
}

/**
 * Formats an error in one line, with its code. If a host failed at several addresses, formats only the first of these
 * errors.
 */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  const inner = error instanceof AggregateError && error.message === '' ? messageOf(error.errors[0]) : error.message;
  const text = inner.replace(/\s+/g, ' ').trim();
  return code === undefined || text.includes(code) ? text : `${text} (${code})`;
}

const LOST =
  /ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|57P0[123]|LOADING|READONLY|Connection is closed|Connection terminated|max retries per request|Client has encountered a connection error|timeout exceeded when trying to connect/;

/** Whether the error means that the connection failed, and not that the server rejected the request. */
export const isLostConnection = (error: unknown): boolean => LOST.test(messageOf(error));
