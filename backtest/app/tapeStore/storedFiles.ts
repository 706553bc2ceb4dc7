/** Interface of a file store. */

export type StoredFiles = {
  /** Address as the operator gave it, without credentials. */
  readonly shown: string;
  has(sha256: string): Promise<boolean>;
  /** Stores a file or a text. The caller of `put` provides the right hash; the caller of `get` verifies it. */
  put(sha256: string, content: FileContent): Promise<void>;
  /**
   * Fetches into a new file; `false` if the store has no such content. Verifies only that it has at most `bytesMax`
   * bytes.
   */
  get(sha256: string, to: string, bytesMax: number): Promise<boolean>;
};

/** File with its size in bytes, or text. */
export type FileContent = { readonly file: string; readonly size: number } | { readonly text: string };

/** Possibly temporary failure of a store, in one line. */
export class StoreProblem extends Error {
  constructor(sentence: string) {
    super(sentence);
    this.name = 'StoreProblem';
  }
}
