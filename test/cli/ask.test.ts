/** Questions at a terminal: no line is lost, whenever it arrives. */
import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { terminal } from '../../src/cli/terminal/ask.ts';

const screen = () => {
  const shown: string[] = [];
  const output = Object.assign(new PassThrough(), { isTTY: true });
  output.setEncoding('utf8').on('data', (text: string) => void shown.push(text));
  return { output, text: () => shown.join('') };
};
const keyboard = () => Object.assign(new PassThrough(), { isTTY: true });
const turns = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i++) await setImmediate();
};

test('each question has the line that was typed for it, however the lines are cut and whatever is done between questions', async () => {
  const line = fc.string({ unit: fc.constantFrom(...'abc 019.-'), maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(line, fc.nat(6)), { minLength: 1, maxLength: 6 }),
      fc.array(fc.tuple(fc.integer({ min: 1, max: 20 }), fc.nat(4)), { maxLength: 8 }),
      async (questions, cuts) => {
        const input = keyboard();
        const { output, text } = screen();
        const asked = terminal(input, output);
        let left = questions.map(([answer]) => `${answer}\n`).join('');
        const typed = (async () => {
          for (const [size, wait] of [...cuts, [left.length, 0] as const]) {
            input.write(left.slice(0, size));
            left = left.slice(size);
            await turns(wait);
          }
        })();
        const answers: string[] = [];
        for (const [, work] of questions) {
          answers.push(await asked.ask(`${answers.length + 1}> `));
          await turns(work);
        }
        await typed;
        asked.close();
        expect(answers).toEqual(questions.map(([answer]) => answer.trim()));
        expect(text()).toContain(`${questions.length}> `);
      },
    ),
    { numRuns: 200 },
  );
});

test('Ctrl-C takes no line that was pasted before it, and the end of the input takes all of them', async () => {
  for (const [end, answers] of [
    ['\u0003', 1],
    ['\u0004', 2],
  ] as const) {
    const input = keyboard();
    const asked = terminal(input, screen().output);
    const first = asked.ask('1> ');
    input.write(`one\ntwo\n${end}`);
    expect(await first).toBe('one');
    await turns(5);
    if (answers === 2) expect(await asked.ask('2> ')).toBe('two');
    await expect(asked.ask('3> ')).rejects.toThrow('the question was not answered; nothing was done');
  }
});
