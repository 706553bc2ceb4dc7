/**
 * Filter for what libraries print by `console`, so that no text controls the terminal. Commands print by `output.ts`,
 * which has the same filter.
 */
import { shownLines } from '../../core/text/shownText.ts';
import { foldedText } from '../../messages/wrapped.ts';
import { ownCommandName, withCommandName } from './commandName.ts';

type Screen = { readonly isTTY?: boolean; readonly columns?: number };

/** Returns the columns of a terminal; Infinity if it is none. A terminal of unknown width has 80. */
export const terminalColumns = ({ isTTY, columns = 0 }: Screen): number =>
  isTTY === true ? (columns > 0 ? columns : 80) : Infinity;

/** Returns text as shown: with commands as they run here, wrapped to the width of the terminal. JSON stays one line. */
export function printed(text: string, to: Screen, name = ownCommandName): string {
  const isJson = /^[{[]/.test(text) && !text.includes('\n');
  const shown = withCommandName(shownLines(text), isJson ? JSON.stringify(name).slice(1, -1) : name);
  return isJson ? shown : foldedText(shown, terminalColumns(to));
}

/**
 * Filters console.log and console.error as `printed` does: no control character except tab and line end. Must be called
 * once, before anything is printed.
 */
export function guardTerminal(
  to: Readonly<Record<'log' | 'error', Screen>>,
  target: Pick<Console, 'log' | 'error'> = console,
): void {
  for (const name of ['log', 'error'] as const) {
    const print = target[name].bind(target);
    target[name] = (...texts: unknown[]) =>
      print(...texts.map(text => (typeof text === 'string' ? printed(text, to[name]) : text)));
  }
}
