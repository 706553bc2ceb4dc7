/** Stops of single books, told apart from those of the whole bot for the alerts. */
import type { OwnStop } from './conditions.ts';

/** Reasons of the stops of a book that are in effect; `null` if there is none. */
export type StopReasons = Readonly<Record<OwnStop, string | null>>;

const STOPS: readonly OwnStop[] = ['halt', 'pause', 'reduce'];

export class OwnStops {
  readonly #own = new Map<string, string>();

  /**
   * Returns the stops of a book that are not those of the whole bot. `isOwnNow` returns whether the book has a file of
   * the stop with this reason; it is called only for stops in effect. A stop stays one of the book until it ends: the
   * file of a resumed book is gone before its engine resumes.
   */
  of(book: string, now: StopReasons, isOwnNow: (stop: OwnStop, reason: string) => boolean): readonly OwnStop[] {
    return STOPS.filter(stop => {
      const reason = now[stop];
      const key = `${stop} ${book}`;
      const isOwn = reason !== null && (this.#own.get(key) === reason || isOwnNow(stop, reason));
      if (isOwn) this.#own.set(key, reason);
      else this.#own.delete(key);
      return isOwn;
    });
  }
}
