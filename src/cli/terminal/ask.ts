/** Questions to a person at a terminal, a line each: with what is proposed, and once more where the answer cannot be. */
import { createInterface } from 'node:readline/promises';
import type { Interface } from 'node:readline/promises';
import { UsageError } from '../../wiring/usageError.ts';
import { errorStream } from './output.ts';
import { shownLines } from '../../core/text/shownText.ts';

export type Terminal = {
  /** Whether somebody is there to answer. */
  readonly isThere: boolean;
  /** The answer, trimmed; empty where only Enter was pressed. Rejects with `UsageError` where the terminal is closed, or Ctrl-C or Ctrl-D pressed. */
  ask(question: string): Promise<string>;
  close(): void;
};

/** Asks on stderr, so that stdout stays for what a command makes. Reads nothing before the first question. */
export function terminal(): Terminal {
  const { stdin: input } = process;
  const output = errorStream();
  const isThere = input.isTTY && output.isTTY;
  const gone = new AbortController();
  let lines: Interface | null = null;
  const opened = (): Interface => {
    if (lines !== null) return lines;
    lines = createInterface({ input, output });
    for (const end of ['close', 'SIGINT']) lines.once(end, () => gone.abort());
    return lines;
  };
  return {
    isThere,
    ask: async question => {
      if (!isThere) throw new UsageError(`no terminal to answer: ${question}`);
      try {
        return (await opened().question(shownLines(question), { signal: gone.signal })).trim();
      } catch {
        output.write('\n');
        throw new UsageError('no answer; nothing was done');
      }
    },
    close: () => lines?.close(),
  };
}

/** True for y and yes; anything else is no. */
export const saysYes = (answer: string): boolean => /^y(es)?$/i.test(answer);
