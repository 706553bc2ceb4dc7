/** Signs of life between the bot and its sentinel: small files with a counter, because the two may not agree on the time. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeWhole } from './durableFiles.ts';

/** `kept out`: alive, and no private request may be sent for now. `stopped`: ended by itself with nothing left to watch. */
export type Pulse = { readonly counter: number; readonly state: 'alive' | 'kept out' | 'stopped' };

export interface Heart {
  /** One sign of life. Never throws: a disk that does not take it looks like death, which is what it should look like. */
  beat(state: Pulse['state']): void;
}

const FILES = { bot: 'heartbeat.json', sentinel: 'sentinel.json' } as const;
export type Whose = keyof typeof FILES;

/** Beats into a state directory. */
export function heartIn(dir: string, whose: Whose): Heart {
  const file = join(dir, FILES[whose]);
  // A restart must not look like standing still.
  let counter = (readPulse(dir, whose)?.counter ?? 0) + 1;
  return {
    beat: state => {
      try {
        writeWhole(file, JSON.stringify({ counter: counter++, state }));
      } catch {
        return;
      }
    },
  };
}

/** The last sign of life, or null when there is none that can be read. */
export function readPulse(dir: string, whose: Whose): Pulse | null {
  try {
    const { counter, state } = JSON.parse(readFileSync(join(dir, FILES[whose]), 'utf8')) as Partial<Pulse>;
    if (!Number.isSafeInteger(counter)) return null;
    return { counter: counter!, state: state === 'stopped' || state === 'kept out' ? state : 'alive' };
  } catch {
    return null;
  }
}

/** A lock-out lasts a minute, and may come again at once: who is kept out longer than this no longer looks after its orders. */
const KEPT_OUT_MAX_MS = 150_000;

/** Says how long a pulse has stood still, by the watcher's own clock. */
export class Watch {
  readonly #read: () => Pulse | null;
  readonly #elapsed: () => number;
  #counter: number | null = null;
  #movedAt: number;
  #aliveAt: number;

  /** Standing still is counted from now on. */
  constructor(read: () => Pulse | null, elapsed: () => number) {
    this.#read = read;
    this.#elapsed = elapsed;
    this.#movedAt = elapsed();
    this.#aliveAt = elapsed();
  }

  /** Milliseconds since the last sign of life, of which that of who is kept out is one for a bounded time; null when there is nothing to watch: it never beat, or it stopped by itself. */
  stillForMs(): number | null {
    const pulse = this.#read();
    const now = this.#elapsed();
    if (pulse !== null && pulse.counter !== this.#counter) {
      this.#counter = pulse.counter;
      if (pulse.state !== 'kept out') this.#aliveAt = now;
      if (pulse.state !== 'kept out' || now - this.#aliveAt <= KEPT_OUT_MAX_MS) this.#movedAt = now;
    }
    if (this.#counter === null || pulse?.state === 'stopped') return null;
    return now - this.#movedAt;
  }
}
