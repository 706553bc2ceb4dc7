/** Questions to the operator at a terminal, one line each, with a default; repeated after an invalid answer. */
import { createInterface, type Interface } from 'node:readline';
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

type Keyboard = NodeJS.ReadableStream & { readonly isTTY?: boolean };
type Screen = NodeJS.WritableStream & { readonly isTTY?: boolean };

/**
 * Returns a terminal that asks on stderr, so that stdout contains only results. Reads nothing before the first
 * question. Lines that arrive before their question, such as pasted ones, answer the next questions in order.
 */
export function terminal(input: Keyboard = process.stdin, output: Screen = errorStream()): Terminal {
  const isThere = input.isTTY === true && output.isTTY === true;
  const early: string[] = [];
  let asked: { readonly answer: (line: string) => void; readonly fail: (error: Error) => void } | null = null;
  let isGone = false;
  let lines: Interface | null = null;
  const gone = (): void => {
    isGone = true;
    asked?.fail(new Error('no answer'));
    asked = null;
  };
  const opened = (): Interface => {
    if (lines !== null) return lines;
    lines = createInterface({ input, output });
    lines.on('line', line => {
      if (asked === null) early.push(line);
      else asked.answer(line);
      asked = null;
    });
    lines.once('close', gone);
    lines.once('SIGINT', () => {
      early.length = 0;
      gone();
    });
    return lines;
  };
  const answered = async (question: string): Promise<string> => {
    const reader = opened();
    const before = early.shift();
    if (before !== undefined) {
      output.write(`${question}${before}\n`);
      return before;
    }
    if (isGone) throw new Error('no answer');
    return await new Promise<string>((answer, fail) => {
      asked = { answer, fail };
      reader.setPrompt(question);
      // Keeps the cursor behind what was typed before the question.
      reader.prompt(true);
    });
  };
  return {
    isThere,
    ask: async question => {
      if (!isThere) throw new UsageError(`no terminal to answer the question: ${question}`);
      try {
        return (await answered(shownLines(question))).trim();
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
