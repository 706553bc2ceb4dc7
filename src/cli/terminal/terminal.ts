/** Keeps what libraries print by `console` from commanding a terminal. Commands print through `output.ts`, which does the same. */
import { shownLines } from '../../core/text/shownText.ts';
import { foldedText } from '../../messages/wrapped.ts';
import { ownCommandName, withCommandName } from './commandName.ts';

type Screen = { readonly isTTY?: boolean; readonly columns?: number };

/** Columns of a terminal; Infinity where it is none. A terminal that does not say how wide it is has 80. */
export const terminalColumns = ({ isTTY, columns = 0 }: Screen): number =>
  isTTY === true ? (columns > 0 ? columns : 80) : Infinity;

/** Text as it reaches a person: commands as they are run here, broken between words at the width of the terminal. JSON stays one line. */
export function printed(text: string, to: Screen, name = ownCommandName): string {
  const isJson = /^[{[]/.test(text) && !text.includes('\n');
  const shown = withCommandName(shownLines(text), isJson ? JSON.stringify(name).slice(1, -1) : name);
  return isJson ? shown : foldedText(shown, terminalColumns(to));
}

/** From now on console.log and console.error print no control character but tab and line end, as `printed` says. Call once, before anything is printed. */
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
