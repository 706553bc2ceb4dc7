/** Keeps what libraries print by `console` from commanding a terminal. Commands print through `output.ts`, which does the same. */
import { shownLines } from '../../core/text/shownText.ts';

/** From now on console.log and console.error print no control character but tab and line end. Call once, before anything is printed. */
export function guardTerminal(target: Pick<Console, 'log' | 'error'> = console): void {
  for (const name of ['log', 'error'] as const) {
    const print = target[name].bind(target);
    target[name] = (...texts: unknown[]) =>
      print(...texts.map(text => (typeof text === 'string' ? shownLines(text) : text)));
  }
}
