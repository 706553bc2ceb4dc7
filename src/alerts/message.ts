/** One alert message: the events since the last one, as text that fits. Lines are kept complete if possible. */
import type { AlertEvent } from '../config.ts';
import type { Millis } from '../core/index.ts';

/** One event of a message. */
export type Entry = {
  /** `test`: sent by the test command. */
  readonly event: AlertEvent | 'test';
  /** `over`: it has ended; `once`: it does not last. */
  readonly state: 'begins' | 'over' | 'once';
  readonly text: string;
  /** Time of the last occurrence or of the end, in ms since 1970. */
  readonly at: Millis;
  /** Number of occurrences since the last report; 0 if only its end or its continuation is reported. */
  readonly times: number;
};

export type Message = {
  /** Equal at each retry, so that receivers can detect duplicates. */
  readonly id: string;
  readonly at: Millis;
  /** Name of the bot. */
  readonly title: string;
  readonly isSilent: boolean;
  /** Most severe first. */
  readonly entries: readonly Entry[];
};

/**
 * Returns a message as text of at most `max` UTF-16 units. Every entry is included; long ones are cut evenly, if
 * possible at a word.
 */
export function messageText({ title, entries }: Pick<Message, 'title' | 'entries'>, max: number): string {
  const lines = entries.map(lineOf);
  const room = max - cut(title, 200).length - lines.length;
  return [cut(title, 200), ...fitted(lines, room)].join('\n');
}

function lineOf({ event, state, text, at, times }: Entry): string {
  const time = new Date(at).toISOString().slice(11, 19);
  const often = times > 1 ? ` (${times} times)` : '';
  return `${time} ${event}${often}: ${state === 'over' ? 'over: ' : ''}${text}`;
}

/** Fits the lines: short ones stay complete, and long ones share the rest. */
function fitted(lines: readonly string[], room: number): readonly string[] {
  let left = room;
  let share = Infinity;
  const byLength = [...lines].sort((a, b) => a.length - b.length);
  for (const [i, line] of byLength.entries()) {
    const fair = Math.floor(left / (byLength.length - i));
    if (line.length > fair) {
      share = fair;
      break;
    }
    left -= line.length;
  }
  return lines.map(line => cut(line, share));
}

const CUT = '…';

/** Cuts a text to at most `max` UTF-16 units without splitting a character. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  if (max < 1) return '';
  const head = text.slice(0, max - 1).replace(/[\ud800-\udbff]$/, '');
  const word = head.lastIndexOf(' ');
  return `${(word > 0.8 * head.length ? head.slice(0, word) : head).trimEnd()}${CUT}`;
}
