/** Open requests of one client: each has a deadline, and all are aborted when the client closes. */

/** Signal of one request. `end` must be called when the request is over. */
export type OpenRequest = { readonly signal: AbortSignal; readonly end: () => void };

/**
 * Deadlines of a client's requests. Each request has its own controller and timer, because `AbortSignal.any` has two
 * flaws in Node 20: garbage collection can remove its timeout, and its source signals keep a reference to it.
 */
export class OpenRequests {
  readonly #open = new Set<AbortController>();
  #isClosed = false;

  /** Whether `close` was called. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /**
   * Starts the deadline of one request, `deadlineMs` from now. The signal is aborted at the deadline with a
   * `TimeoutError`, at `close`, or when `outer` is aborted, with the reason of `outer`.
   */
  start(deadlineMs: number, outer?: AbortSignal): OpenRequest {
    const controller = new AbortController();
    const abort = (): void => controller.abort(outer?.reason);
    if (this.#isClosed) controller.abort();
    if (outer?.aborted === true) abort();
    outer?.addEventListener('abort', abort, { once: true });
    this.#open.add(controller);
    const timer = setTimeout(() => controller.abort(new DOMException('deadline', 'TimeoutError')), deadlineMs).unref();
    return {
      signal: controller.signal,
      end: () => {
        clearTimeout(timer);
        outer?.removeEventListener('abort', abort);
        this.#open.delete(controller);
      },
    };
  }

  /** Aborts all open requests, and each later one at its start. */
  close(): void {
    this.#isClosed = true;
    for (const controller of this.#open) controller.abort();
  }
}
