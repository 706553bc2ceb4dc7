/** One message: what happened since the last one, as text that fits, the whole of every line that can be whole. */
import type { AlertEvent } from '../config.ts';
import type { Millis } from '../core/index.ts';

/** One event of a message. */
export type Entry = {
  /** `test`: of the command. */
  readonly event: AlertEvent | 'test';
  /** `over`: it has ended; `once`: it is nothing that lasts. */
  readonly state: 'begins' | 'over' | 'once';
  readonly text: string;
  /** When it last happened, or ended; milliseconds since 1970. */
  readonly at: Millis;
  /** How often it has happened since it was last told of; 0 where only its end is told, or that it lasts. */
  readonly times: number;
};

export type Message = {
  /** The same at each try: who receives it twice knows by it. */
  readonly id: string;
  readonly at: Millis;
  /** Which bot. */
  readonly title: string;
  readonly isSilent: boolean;
  /** The hardest first. */
  readonly entries: readonly Entry[];
};

/** A message as text of at most `max` UTF-16 units. Every entry is there: what is too long is cut evenly, at a word where that is near. */
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

/** Short lines stay as they are, and leave their room to the longer ones. */
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

/** At most `max` UTF-16 units, without half a character at the end. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  if (max < 1) return '';
  const head = text.slice(0, max - 1).replace(/[\ud800-\udbff]$/, '');
  const word = head.lastIndexOf(' ');
  return `${(word > 0.8 * head.length ? head.slice(0, word) : head).trimEnd()}${CUT}`;
}
