/** Questions to the operator at a terminal, one line each, with a default; repeated after an invalid answer. */
import { createInterface, type Interface } from 'node:readline/promises';
import { UsageError } from '../../wiring/usageError.ts';
import { errorStream } from './output.ts';
import { shownLines } from '../../core/text/shownText.ts';

export type Terminal = {
  /** Whether the terminal is interactive. */
  readonly isThere: boolean;
  /**
   * Resolves to the trimmed answer; empty if only Enter was pressed. Rejects with `UsageError` if the terminal is
   * closed, or on Ctrl-C or Ctrl-D.
   */
  ask(question: string): Promise<string>;
  close(): void;
};

/**
 * Returns a terminal that asks on stderr, so that stdout contains only results. Reads nothing before the first
 * question.
 */
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
      if (!isThere) throw new UsageError(`no terminal to answer the question: ${question}`);
      try {
        return (await opened().question(shownLines(question), { signal: gone.signal })).trim();
      } catch {
        output.write('\n');
        throw new UsageError('the question was not answered; nothing was done');
      }
    },
    close: () => lines?.close(),
  };
}

/** Whether the answer is y or yes; any other answer means no. */
export const saysYes = (answer: string): boolean => /^y(es)?$/i.test(answer);
