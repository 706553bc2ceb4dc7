/** Loaded before a program that is measured (`node --import`): tells its parent, when asked, of this process's memory, handles and event loop. The program knows nothing of it. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

/** Of one process, since the sample before. Bytes and ms. */
export type Sample = {
  /** In use after a forced collection. */
  readonly heap: number;
  /** Buffers and other memory outside of the heap. */
  readonly external: number;
  readonly rss: number;
  /** What keeps the event loop going, by kind: sockets, timers, requests of files. */
  readonly handles: Readonly<Record<string, number>>;
  /** How late the event loop was. */
  readonly delay: { readonly median: number; readonly p99: number; readonly longest: number };
  /** Processor time of all threads. */
  readonly cpuMs: number;
};

/** How often the event loop is looked at; what is measured has this in it. */
const EVERY_MS = 10;

if (isMainThread && process.send !== undefined) {
  const delays = monitorEventLoopDelay({ resolution: EVERY_MS });
  delays.enable();
  let cpu = process.cpuUsage();
  process.on('message', (asked: { readonly id: number; readonly what: string }) => {
    if (asked.what !== 'sample') return;
    const late = (percentile: number): number =>
      delays.count === 0 ? 0 : Math.max(0, delays.percentile(percentile) / 1e6 - EVERY_MS);
    const delay = { median: late(50), p99: late(99), longest: late(100) };
    const used = process.cpuUsage(cpu);
    const handles: Record<string, number> = {};
    for (const kind of process.getActiveResourcesInfo()) handles[kind] = (handles[kind] ?? 0) + 1;
    globalThis.gc?.();
    globalThis.gc?.();
    const { heapUsed: heap, external, rss } = process.memoryUsage();
    const answer: Sample = { heap, external, rss, handles, delay, cpuMs: (used.user + used.system) / 1_000 };
    process.send?.({ id: asked.id, answer });
    // The collection just now was the probe's doing.
    cpu = process.cpuUsage();
    delays.reset();
  });
  // Asking keeps no program from ending.
  process.channel?.unref();
}
