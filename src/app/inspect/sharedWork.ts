/** Work under way by its key, so that a repeated request shares the result instead of a second replay. */
export class SharedWork<T> {
  readonly #running = new Map<string, Promise<T>>();

  /** Returns the result of the work under way with this key, or starts it. */
  of(key: string, start: () => Promise<T>): Promise<T> {
    const running = this.#running.get(key);
    if (running !== undefined) return running;
    const started = start().finally(() => this.#running.delete(key));
    this.#running.set(key, started);
    return started;
  }
}
