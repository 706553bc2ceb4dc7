/** What `.ci/docs.sh` runs is taken from the pages by rule: a command that nobody has thought of is found at once. */
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { mappingOf } from '../../src/tape/import/mapping/mapping.ts';
import { foundInComments, foundOn, merged } from './run/found.ts';
import { everythingIn, planIn } from './run/pages.ts';
import { planOf } from './run/plan.ts';
import { screensOf, shapeOf } from './run/screens.ts';
import { fragmentsOf, mappingsOf } from './run/yaml.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const textsOf = (page: string): readonly string[] => foundOn('a.md', page).commands.map(({ text }) => text);
/** The flaws that a page with this adds to those of no page at all. */
const flawsOf = (page: string): readonly string[] => {
  const none = planOf(merged([]), () => '').flaws;
  return planOf(foundOn('a.md', page), () => '').flaws.filter(flaw => !none.includes(flaw));
};

test('every command of every page is run, held by a check of .ci/run or .ci/full, or left out with a reason, and no reason is left over', () => {
  expect(planIn(ROOT).flaws).toEqual([]);
  expect(screensOf(everythingIn(ROOT).others).flaws).toEqual([]);
  expect(fragmentsOf(everythingIn(ROOT).yaml).length).toBeGreaterThan(8);
});

test('every piece of a mapping file on a page is one that imports accept', () => {
  const pieces = mappingsOf(everythingIn(ROOT).yaml);
  expect(pieces.length).toBeGreaterThan(1);
  for (const { page, line, mapping } of pieces)
    expect(() => mappingOf(mapping, `${page}:${line}`), `${page}:${line}`).not.toThrow();
});

test('commands are found in blocks, in sentences over a line break, in tables with the flags beside them, and in comments of a configuration', () => {
  expect(textsOf('```sh\nnpx puntas check  # first\ncp a b\n```\n')).toEqual(['npx puntas check', 'cp a b']);
  expect(textsOf('```\ndocker run \\\n  -d puntas\n```\n')).toEqual(['docker run -d puntas']);
  expect(textsOf('until `puntas\nresume` lifts it')).toEqual(['puntas resume']);
  expect(textsOf('| `puntas run -c FILE` | stops with `--for 60s` |')).toEqual([
    'puntas run -c FILE',
    'puntas run -c FILE --for 60s',
  ]);
  expect(textsOf('```\npuntas explain --at 1 -c a   # also --at 5m\n```\n')).toEqual([
    'puntas explain --at 1 -c a',
    'puntas explain -c a --at 5m',
  ]);
  expect(foundInComments('a.yaml', 'book: b # as `puntas check` says\n').commands[0]?.text).toBe('puntas check');
  expect(textsOf('```\nno command at all\n```\n`node` and `puntas`')).toEqual([]);
});

test('a command with a word that nothing stands for, and one that no other check runs, are flaws', () => {
  expect(flawsOf('`puntas check -c FILE`')).toEqual([]);
  expect(flawsOf('`puntas check --book BOOK`')).toEqual([
    'a.md:1: `puntas check --book BOOK`: nothing stands for BOOK',
  ]);
  expect(planOf(foundOn('a.md', '`.ci/nothing.sh`'), () => null).flaws[0]).toContain(
    'neither .ci/run nor .ci/full runs .ci/nothing.sh',
  );
  expect(planOf(foundOn('a.md', '`npm test`'), () => 'true').flaws[0]).toContain('does not run `npm test`');
});

test('a block of which nobody says what it is, is a flaw', () => {
  expect(screensOf(foundOn('a.md', '```\nsomething else\n```\n').others).flaws[0]).toContain('something else');
});

test('the shape of a line on a page has its words, with other numbers and further terms of a sum', () => {
  const status = shapeOf('INFO: bid 1498330 x3 | ask 1501700 x3 | btc +0.0000 | mxn +0.00');
  expect(status.test('[21:30:02.509] INFO: bid 1498410 x3 | ask 1501590 x2 | btc -0.0040 | mxn -1.50')).toBe(true);
  expect(status.test('INFO: bid 1498410 x3 | btc -0.0040 | mxn -1.50')).toBe(false);
  const steps = shapeOf('149855 = reference: mid 150015 - spread 159.02 - legal price 0.98');
  expect(steps.test('149855 = reference: mid 150015 - spread 159.02 + legal price 0.98')).toBe(true);
  expect(steps.test('149855 = reference: mid 150015 - spread 159.02 - inventory 3.4 - legal price 0.98')).toBe(true);
  expect(steps.test('149855 = reference: mid 150015 - spread 159.02')).toBe(false);
});
