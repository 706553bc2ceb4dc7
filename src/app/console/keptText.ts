/** Text that is kept while its sources stay the same. */
export class KeptText {
  #text: string | null = null;
  #sources: readonly unknown[] | null = null;

  /** Returns the kept text, or that of `make` if a source changed. After an error of `make`, the next call makes it. */
  of(sources: readonly unknown[], make: () => string | null): string | null {
    const isKept = this.#sources !== null && sources.every((each, i) => each === this.#sources?.[i]);
    if (isKept) return this.#text;
    this.#text = make();
    this.#sources = sources;
    return this.#text;
  }
}
