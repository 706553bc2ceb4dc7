/**
 * Filter for texts that libraries print through `console`, so that no text can control the terminal. Commands print
 * through `output.ts`, which applies the same filter.
 */
import { shownLines } from '../../core/text/shownText.ts';
import { foldedText } from '../../messages/wrapped.ts';
import { ownNames, withInstalledNames } from './installedNames.ts';

type Screen = { readonly isTTY?: boolean; readonly columns?: number };

/**
 * Returns the number of columns of a terminal; 80 if its width is unknown, Infinity if the output is not a terminal.
 */
export const terminalColumns = ({ isTTY, columns = 0 }: Screen): number =>
  isTTY === true ? (columns > 0 ? columns : 80) : Infinity;

/**
 * Returns a text for display: with commands and paths of pages that work on this machine, wrapped to the width of the
 * terminal. JSON stays on one line.
 */
export function printed(text: string, to: Screen, command = ownNames.command): string {
  const isJson = /^[{[]/.test(text) && !text.includes('\n');
  const shown = withInstalledNames(shownLines(text), isJson, { ...ownNames, command });
  return isJson ? shown : foldedText(shown, terminalColumns(to));
}

/**
 * Filters console.log and console.error like `printed`: control characters except tab and line end are replaced. Must
 * be called once, before any output.
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
