/** Interface of a store that addresses files by their SHA-256 hash. */

export type StoredFiles = {
  /** Location of the store as the operator entered it, without credentials. */
  readonly shown: string;
  has(sha256: string): Promise<boolean>;
  /** Stores a file or text. The caller provides the hash of the content, which readers verify. */
  put(sha256: string, content: FileContent): Promise<void>;
  /**
   * Fetches the content with the hash `sha256` into the new file `to`; returns false if the store lacks the content.
   * Checks only that the content has at most `bytesMax` bytes.
   */
  get(sha256: string, to: string, bytesMax: number): Promise<boolean>;
};

/** File with its size in bytes, or text. */
export type FileContent = { readonly file: string; readonly size: number } | { readonly text: string };

/** Error of a store in one line; a retry may succeed. */
export class StoreProblem extends Error {
  constructor(sentence: string) {
    super(sentence);
    this.name = 'StoreProblem';
  }
}
