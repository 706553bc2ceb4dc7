/** Open requests of one client: each has a deadline, and all end when the client closes. */

/** Signal of one request. `end` must be called when the request is over. */
export type OpenRequest = { readonly signal: AbortSignal; readonly end: () => void };

/**
 * Deadlines of a client's requests. Each request has its own controller. A signal of `AbortSignal.any` stays in the list
 * of its sources, so a source that lives as long as the client would grow with every request.
 */
export class OpenRequests {
  readonly #open = new Set<AbortController>();
  #isClosed = false;

  /** Whether `close` was called. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Starts a deadline. After it, and after `close`, the signal is aborted; the deadline's reason is a `TimeoutError`. */
  start(deadlineMs: number): OpenRequest {
    const controller = new AbortController();
    if (this.#isClosed) controller.abort();
    this.#open.add(controller);
    return {
      signal: AbortSignal.any([AbortSignal.timeout(deadlineMs), controller.signal]),
      end: () => void this.#open.delete(controller),
    };
  }

  /** Aborts all open requests, and each later one at its start. */
  close(): void {
    this.#isClosed = true;
    for (const controller of this.#open) controller.abort();
  }
}
