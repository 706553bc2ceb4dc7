/**
 * One alert message: the events since the previous message, as text of limited length. Lines are kept complete if
 * possible.
 */
import type { AlertEvent } from '../config.ts';
import { counted, type Millis } from '../core/index.ts';

/** One event of a message. */
export type Entry = {
  /** Alert event, or `test` for a message of the test command. */
  readonly event: AlertEvent | 'test';
  /** Symbol of the book that the event belongs to, if the bot has several. Absent for an event of the account. */
  readonly book?: string;
  /**
   * State of the event. `begins`: a lasting event has started. `over`: a lasting event has ended. `once`: the event
   * does not last.
   */
  readonly state: 'begins' | 'over' | 'once';
  readonly text: string;
  /** Time of the last occurrence or of the end, in ms since 1970. */
  readonly at: Millis;
  /** Number of occurrences since the last report; 0 if only the event's end or continuation is reported. */
  readonly times: number;
};

export type Message = {
  /** Id of the message, equal at each retry, so that receivers can detect duplicates. */
  readonly id: string;
  readonly at: Millis;
  /** Text that identifies the bot: instance and book or number of books, with the prefix `paper:` in paper trading. */
  readonly title: string;
  readonly isSilent: boolean;
  /** Entries of the message, most severe first. */
  readonly entries: readonly Entry[];
};

/**
 * Returns a message as text of at most `max` UTF-16 units. Every entry is included; long entries are cut evenly, if
 * possible at a word.
 */
export function messageText({ title, entries }: Pick<Message, 'title' | 'entries'>, max: number): string {
  const lines = entries.map(lineOf);
  const room = max - cut(title, 200).length - lines.length;
  return [cut(title, 200), ...fitted(lines, room)].join('\n');
}

function lineOf({ event, book, state, text, at, times }: Entry): string {
  const time = new Date(at).toISOString().slice(11, 19);
  const often = times > 1 ? ` (${counted(times, 'time')})` : '';
  return `${time} ${event}${often}: ${state === 'over' ? 'over: ' : ''}${book === undefined ? '' : `${book}: `}${text}`;
}

/**
 * Shortens the lines to a total of `room` characters: short lines stay complete, and long lines share the remaining
 * characters.
 */
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
