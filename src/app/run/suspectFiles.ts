/** Strategy files that may freeze the process: those in force, and those that a reload has run. */
import { BOOKS_MAX } from '../../config.ts';

/** Maximum number of files that a halt names: those of the most books, before and after a reload. */
const NAMED_MAX = 2 * BOOKS_MAX;

/**
 * Names of the suspected files. A promise of a file runs in the turn of the event loop in which the file ran, because
 * timers are refused. So a file that is no longer in force is suspected until the next turn.
 */
export class SuspectFiles {
  #names: readonly string[] = [];
  #ended: readonly string[] = [];

  get names(): readonly string[] {
    return this.#names;
  }

  /** Adds a file whose code runs from now on. */
  add(name: string): void {
    this.#names = [...this.#names.filter(other => other !== name), name].slice(-NAMED_MAX);
    this.#ended = this.#ended.filter(other => other !== name);
  }

  /** Says which files are in force after a reload, applied or refused. The others end at the next turn. */
  settle(inForce: readonly string[]): void {
    this.#ended = this.#names.filter(name => !inForce.includes(name));
  }

  /** Drops the files that have ended, at a turn of the event loop. Returns whether there were any. */
  turn(): boolean {
    const hasEnded = this.#ended.length > 0;
    this.#names = this.#names.filter(name => !this.#ended.includes(name));
    this.#ended = [];
    return hasEnded;
  }
}
