/** What a store of files must do, whatever keeps it. */

export type StoredFiles = {
  /** As a person named it; without credentials. */
  readonly shown: string;
  has(sha256: string): Promise<boolean>;
  /** From a file, or as it is. Whoever puts has the right hash; whoever gets checks it. */
  put(sha256: string, content: FileContent): Promise<void>;
  /** Into a file that is not there yet; false where the store has no such content. Nothing is checked but that it has at most `bytesMax` bytes. */
  get(sha256: string, to: string, bytesMax: number): Promise<boolean>;
};

/** A file of so many bytes, or text. */
export type FileContent = { readonly file: string; readonly size: number } | { readonly text: string };

/** A store that did not do what was asked, in one line; it may do it later. */
export class StoreProblem extends Error {
  constructor(sentence: string) {
    super(sentence);
    this.name = 'StoreProblem';
  }
}
