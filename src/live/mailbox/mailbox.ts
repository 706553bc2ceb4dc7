/**
 * Messages between processes in a state directory. Each message is one file, which appears complete, and is read only
 * if no other user could have written it.
 */
import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { textOfError, type Millis } from '../../core/index.ts';
import { readOpenFile, appendLine, syncFolder, writeDurably, writeDurablyAlone } from '../../guard/index.ts';
import { assertStateDirTrusted, ownershipFlaw } from '../files/stateDir.ts';
import { messageIn, textOfMessage } from './fields.ts';
import { MAIL, type MailKind, type MailSpec, type MailMessage, type NumberedMailKind } from './kinds.ts';

/** Content of a file: a message, or the reason why the file is rejected. */
export type FoundMessage<M> =
  { readonly message: M; readonly refused?: never } | { readonly message?: never; readonly refused: Refusal };

export type Refusal = {
  readonly path: string;
  readonly why: string;
  /** `file`: the file is unreadable or not trusted. `text`: its text is not a message of this kind. */
  readonly fault: 'file' | 'text';
};

/** Receives one sentence for each rejected file. */
export type OnRefused = (sentence: string) => void;

/** Files of one kind of message in a state directory. */
export class Mailbox<K extends MailKind> {
  readonly #dir: string;
  readonly #spec: MailSpec;

  constructor(dir: string, kind: K) {
    this.#dir = dir;
    this.#spec = MAIL[kind];
  }

  /** Returns the path of a message's file. `messageId` is required for kinds of which several messages can wait. */
  path(messageId = ''): string {
    return join(this.#dir, this.#spec.file.replace('*', messageId));
  }

  /** Returns the content of the file; `null` if there is no file. */
  read(messageId = ''): FoundMessage<MailMessage<K>> | null {
    const found = this.readAt(this.path(messageId));
    return found?.message === undefined || messageId === '' ? found : { message: { ...found.message, id: messageId } };
  }

  /** Returns the message in a file that was renamed to `path`; `null` if there is no file. Error texts show `name`. */
  readAt(path: string, name = path): FoundMessage<MailMessage<K>> | null {
    const text = textAt(path, name, this.#spec.bytesMax);
    if (typeof text !== 'string') return text;
    let message: unknown;
    try {
      message = messageIn(this.#spec.fields, JSON.parse(text));
    } catch {
      message = 'not JSON';
    }
    return typeof message === 'string'
      ? { refused: { path: name, why: message, fault: 'text' } }
      : { message: message as MailMessage<K> };
  }

  /** Returns the message; `null` if there is none or its file is rejected. */
  message(onRefused: OnRefused = () => undefined): MailMessage<K> | null {
    const found = this.read();
    if (found?.refused) onRefused(sentenceOfRefusal(found.refused));
    return found?.message ?? null;
  }

  /** Returns the text of a message as `put` writes it. */
  textOf(message: MailMessage<K>): string {
    return textOfMessage(this.#spec.fields, message as never);
  }

  /**
   * Writes a message and replaces an earlier one, durable on return. Throws if the directory is not trusted or the disk
   * accepts no write.
   */
  put(message: MailMessage<K>): void {
    const { inTrustedDirOnly, hasSeveralWriters } = this.#spec;
    const messageId = this.#checkedId(message);
    if (inTrustedDirOnly) assertStateDirTrusted(this.#dir);
    const write = hasSeveralWriters ? writeDurablyAlone : writeDurably;
    write(this.path(messageId), this.textOf(message));
  }

  /**
   * Writes a message only if none exists, durable on return. Returns whether the message was written. Throws as `put`
   * does.
   */
  putNew(message: MailMessage<K>): boolean {
    const messageId = this.#checkedId(message);
    if (this.#spec.inTrustedDirOnly) assertStateDirTrusted(this.#dir);
    const path = this.path(messageId);
    const beside = `${path}.${randomUUID()}.new`;
    writeDurably(beside, this.textOf(message));
    try {
      // Creating a link fails if the name is in use.
      linkSync(beside, path);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw error;
    } finally {
      rmSync(beside, { force: true });
      syncFolder(this.#dir);
    }
  }

  #checkedId(message: MailMessage<K>): string {
    const { ids } = this.#spec;
    const messageId = ids === undefined ? '' : ((message as { readonly id?: string }).id ?? '');
    if (ids?.test(messageId) === false) throw new RangeError(`a message cannot have the id ${messageId}`);
    return messageId;
  }

  /** Removes a message or a rejected file, durable on return. Throws if the disk does not accept the change. */
  remove(messageId = ''): void {
    rmSync(this.path(messageId), { force: true });
    if (existsSync(this.#dir)) syncFolder(this.#dir);
  }
}

/** Messages of one kind, several of which can wait. */
export class NumberedMailbox<K extends NumberedMailKind> {
  readonly #dir: string;
  readonly #box: Mailbox<K>;
  readonly #spec: (typeof MAIL)[K];

  constructor(dir: string, kind: K) {
    this.#dir = dir;
    this.#box = new Mailbox(dir, kind);
    this.#spec = MAIL[kind];
  }

  /** Returns the waiting messages, oldest first. Rejected files remain. */
  waiting(onRefused: OnRefused = () => undefined): readonly MailMessage<K>[] {
    const names = existsSync(this.#dir) ? readdirSync(this.#dir) : [];
    return names
      .flatMap(name => this.#idIn(name) ?? [])
      .flatMap(id => {
        const found = this.#box.read(id);
        if (found?.refused) onRefused(sentenceOfRefusal(found.refused));
        const { message } = found ?? {};
        // The compiler cannot infer that every numbered kind has the field `at`.
        return message === undefined ? [] : [{ id, message, at: (message as unknown as { readonly at: Millis }).at }];
      })
      .sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1))
      .map(({ message }) => message);
  }

  /** Writes a message as `Mailbox.put` does. */
  put(message: MailMessage<K>): void {
    this.#box.put(message);
  }

  path(id: string): string {
    return this.#box.path(id);
  }

  /** Removes a message. Call `done` after the execution of the message is durable. */
  done(id: string): void {
    this.#box.remove(id);
  }

  #idIn(name: string): string | null {
    const [before = '', after = ''] = this.#spec.file.split('*');
    if (!name.startsWith(before) || !name.endsWith(after)) return null;
    const id = name.slice(before.length, name.length - after.length);
    return this.#spec.ids.test(id) ? id : null;
  }
}

/** Request to a running bot, and its answer. */
export class RequestBox<R extends MailKind, A extends MailKind> {
  readonly #request: Mailbox<R>;
  readonly #answer: Mailbox<A>;
  /** Sentence about the rejected file that could not be removed at the last look; `null` if there was none. */
  #kept: string | null = null;

  constructor(dir: string, request: R, answer: A) {
    this.#request = new Mailbox(dir, request);
    this.#answer = new Mailbox(dir, answer);
  }

  /** Returns the waiting request, or `null`. Removes a rejected file; if the removal fails, reports the file once. */
  waiting(onRefused: OnRefused = () => undefined): MailMessage<R> | null {
    let kept: string | null = null;
    const request = this.#request.message(sentence => {
      if (sentence !== this.#kept) onRefused(sentence);
      try {
        this.take();
      } catch {
        // A folder at this path, or a disk that accepts no writes, prevents the removal.
        kept = sentence;
      }
    });
    this.#kept = kept;
    return request;
  }

  /** Writes a request as `Mailbox.put` does. */
  put(request: MailMessage<R>): void {
    this.#request.put(request);
  }

  /**
   * Removes a request that is about to be executed or was abandoned. Call `take` before the execution, so that a killed
   * process does not execute the request twice.
   */
  take(): void {
    this.#request.remove();
  }

  answer(answer: MailMessage<A>): void {
    this.#answer.put(answer);
  }

  answered(): MailMessage<A> | null {
    return this.#answer.message();
  }
}

/** Request box, or an object that can replace a request box. */
export type Requests<R extends MailKind, A extends MailKind> = Pick<RequestBox<R, A>, keyof RequestBox<R, A>>;

/** Log of reloads in a state directory. */
export const RELOADS_FILE = 'reloads.jsonl';

/** Requests to reload the configuration, with the last preview and a log of all reloads, applied or not. */
export class ReloadBox extends RequestBox<'reload', 'reloadAnswer'> {
  readonly #dir: string;
  readonly #preview: Mailbox<'reloadPreview'>;

  constructor(dir: string) {
    super(dir, 'reload', 'reloadAnswer');
    this.#dir = dir;
    this.#preview = new Mailbox(dir, 'reloadPreview');
  }

  /** Stores the last preview; `null` removes a preview that was applied or is no longer valid. */
  remember(preview: MailMessage<'reloadPreview'> | null): void {
    if (preview === null) this.#preview.remove();
    else this.#preview.put(preview);
  }

  previewed(): MailMessage<'reloadPreview'> | null {
    return this.#preview.message();
  }

  /** Appends the outcome of a request, except a preview, to the log of reloads. */
  note(entry: object): void {
    appendLine(join(this.#dir, RELOADS_FILE), JSON.stringify(entry));
  }
}

/** Returns the sentence about a rejected file. */
export const sentenceOfRefusal = ({ path, why }: Refusal): string => `${path}: ${why}; the file is ignored`;

/** Returns the text of a trusted file; `null` if there is no file. Never blocks on a pipe. */
function textAt(path: string, name: string, bytesMax: number): string | { readonly refused: Refusal } | null {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const refused = (why: string) => ({ refused: { path: name, why, fault: 'file' as const } });
  // Usually there is no file. The check with `lstatSync` is much cheaper than an open that throws.
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return null;
  let fd: number;
  try {
    fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    return refused(code === 'ELOOP' ? 'expected a regular file, found a symbolic link' : message);
  }
  try {
    const seen = fstatSync(fd);
    const flaw = seen.isFile() ? ownershipFlaw(seen, name) : 'not a regular file';
    return flaw === null ? readOpenFile(fd, bytesMax) : refused(flaw);
  } catch (error) {
    return refused(textOfError(error));
  } finally {
    closeSync(fd);
  }
}
