/** What reaches a terminal: rows that end between words, and commands that work where they are read. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { commandNameOf, withCommandName } from '../../src/cli/terminal/commandName.ts';
import { printed } from '../../src/cli/terminal/terminal.ts';
import { COMMAND_FILES } from '../../src/cli/commands/index.ts';
import { puntas } from './program.ts';

const wordsOf = (text: string): readonly string[] => text.split(/\s+/).filter(word => word !== '');

describe('a row on a terminal', () => {
  test('ends between words at any width, loses none, and is longer than the terminal only for one word that is', () => {
    const word = fc.string({ minLength: 1, maxLength: 60, unit: fc.constantFrom(...'abc=/-.:,"') });
    const line = fc
      .tuple(fc.nat(12), fc.array(fc.tuple(word, fc.integer({ min: 1, max: 4 })), { maxLength: 40 }))
      .map(
        ([indent, words]) => `${' '.repeat(indent)}${words.map(([text, gap]) => `${text}${' '.repeat(gap)}`).join('')}`,
      );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), fc.integer({ min: 40, max: 160 }), (lines, columns) => {
        const text = lines.join('\n');
        const shown = printed(text, { isTTY: true, columns }, 'puntas');
        expect(wordsOf(shown)).toEqual(wordsOf(text));
        for (const row of shown.split('\n')) expect(row.length <= columns || wordsOf(row).length === 1).toBe(true);
        // What fits stays as it is, columns of tables too.
        for (const whole of lines) if (whole.length <= columns) expect(shown.split('\n')).toContain(whole);
        expect(printed(text, {}, 'puntas')).toBe(text);
      }),
      { numRuns: 500 },
    );
  });

  test('of JSON is one, whatever the width', () => {
    const json = JSON.stringify({ text: 'word '.repeat(60), hint: 'puntas status' });
    expect(JSON.parse(printed(json, { isTTY: true, columns: 40 }, 'docker exec "a" puntas'))).toEqual({
      text: 'word '.repeat(60),
      hint: 'docker exec "a" puntas status',
    });
  });
});

describe('a hint', () => {
  const at = (argv1: string, env: Record<string, string> = {}) =>
    commandNameOf({ argv: ['node', argv1], env: { PATH: '/usr/bin:/usr/local/bin', ...env } });

  test('prints the command that works where the program runs', () => {
    expect(at('/usr/local/bin/puntas')).toBe('puntas');
    expect(at('/home/me/puntas/dist/src/main.js')).toBe('npx puntas');
    expect(at('/home/me/work/node_modules/.bin/puntas')).toBe('npx puntas');
    expect(
      at('/home/me/.npm/_npx/1a/node_modules/.bin/puntas', {
        npm_command: 'exec',
        PATH: '/home/me/.npm/_npx/1a/node_modules/.bin',
      }),
    ).toBe('npx puntas');
    expect(at('/opt/elsewhere/bin/puntas')).toBe('npx puntas');
    expect(at('/app/dist/src/main.js', { PUNTAS_COMMAND: 'docker compose exec bot puntas' })).toBe(
      'docker compose exec bot puntas',
    );
    expect(at('/app/dist/src/main.js', { PUNTAS_COMMAND: 'docker exec {hostname} puntas' })).toMatch(
      /^docker exec [\w.-]+ puntas$/,
    );
  });

  test('names every command so, and nothing that is none', () => {
    for (const verb of COMMAND_FILES.flatMap(({ names }) => names))
      expect(withCommandName(`lift it with: puntas ${verb} -c my.yaml`, 'npx puntas')).toBe(
        `lift it with: npx puntas ${verb} -c my.yaml`,
      );
    for (const text of [
      'npx puntas run',
      './puntas run',
      '/opt/puntas run',
      'puntas is a market maker',
      'puntas runs',
      'my-puntas run',
    ])
      expect(withCommandName(text, 'npx puntas')).toBe(text);
  });

  test('of the program itself, run from its clone, is typed with npx', async () => {
    const { stderr, code } = await puntas(['status']).ended;
    expect(code).toBe(2);
    const help = await puntas(['status', '--help']).ended;
    expect(help.stdout).toMatch(/^Usage: npx puntas status/);
    expect((await puntas(['nothing']).ended).stderr).toContain('see npx puntas --help');
    expect(stderr).not.toMatch(/(?<!npx )puntas (?:status|run)\b/);
  });
});
