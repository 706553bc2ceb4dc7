/** The pages whose commands and YAML are run, and the page that says what came of it. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { foundInComments, foundOn, merged, type Found } from './found.ts';
import { planOf, type Plan } from './plan.ts';
import { fragmentsOf } from './yaml.ts';

/** The page that is made of all this: what it shows is printed elsewhere. */
export const PAGE = 'docs/development/commands.md';

const under = (root: string, folder: string, ends: RegExp): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter(name => ends.test(name))
    .map(name => join(folder, name))
    .sort();

export function everythingIn(root: string): Found {
  const text = (page: string): string => readFileSync(join(root, page), 'utf8');
  const pages = [
    'README.md',
    'CONTRIBUTING.md',
    'src/README.md',
    ...['docs', 'strategies'].flatMap(folder => under(root, folder, /\.md$/)),
  ];
  return merged([
    ...pages.filter(page => page !== PAGE).map(page => foundOn(page, text(page))),
    ...under(root, 'config', /\.ya?ml$/).map(page => foundInComments(page, text(page))),
  ]);
}

/** The plan for a checkout; the scripts that hold commands are those that `.ci/run` and `.ci/full` name. */
export function planIn(root: string): Plan {
  const lists = ['.ci/run', '.ci/full'].map(name => readFileSync(join(root, name), 'utf8')).join('\n');
  return planOf(everythingIn(root), name => {
    const file = join(root, '.ci', name);
    return existsSync(file) && new RegExp(`^ +'(?:& )?[a-z0-9-]+ +${name.replace('.', '\\.')}[' ]`, 'm').test(lists)
      ? readFileSync(file, 'utf8')
      : null;
  });
}

export type Figures = {
  readonly run: number;
  readonly yaml: number;
  readonly elsewhere: number;
  readonly leftOut: number;
};

export function figuresOf(root: string, plan: Plan): Figures {
  return {
    run: plan.sessions.reduce((n, { commands }) => n + commands.length, 0),
    yaml: fragmentsOf(everythingIn(root).yaml).length,
    elsewhere: plan.elsewhere.length,
    leftOut: plan.leftOut.length,
  };
}

export const inWords = ({ run, yaml, elsewhere, leftOut }: Figures): string =>
  `${run} commands run, ${yaml} YAML blocks checked, ${elsewhere} commands held by other checks, ${leftOut} left out`;

const cell = (text: string): string => `\`${text.replaceAll('|', '\\|')}\``;

/** docs/development/commands.md */
export function commandsPage(root: string): string {
  const plan = planIn(root);
  const { yaml } = everythingIn(root);
  const counts = new Map<string, { run: number; yaml: number }>();
  const count = (place: string, what: 'run' | 'yaml') => {
    const page = place.split(':')[0]!;
    const row = counts.get(page) ?? { run: 0, yaml: 0 };
    counts.set(page, { ...row, [what]: row[what] + 1 });
  };
  for (const { commands } of plan.sessions)
    for (const { places } of commands) for (const place of places) count(place, 'run');
  for (const { page } of yaml) count(page, 'yaml');
  return [
    '# The commands of these pages, run',
    '',
    '<!-- Written by `npm run docs` from test/docs/run: do not edit. -->',
    '',
    `${inWords(figuresOf(root, plan))}.`,
    '',
    '`.ci/docs.sh` takes every command and every piece of YAML out of the README, `CONTRIBUTING.md`, the pages of `docs`, `src` and `strategies`, and the comments of',
    '`config`, and runs them as they are printed: each block in a folder that looks like a clean clone, through the built program, on a terminal of 80 columns, with an',
    'account on an embedded exchange, beside a bot that quotes where the command is about one. What goes on until Ctrl-C is waited for and ended by Ctrl-C. A command must end with',
    'code 0 and show what `SHOWS` in `test/docs/run/plan.ts` names for it; what a page shows as output has to be on the screen in that shape; and each bot ends clean, with a recording that replays to the last command.',
    '',
    '`.ci/run` takes the commands of the pages that a newcomer follows, and the YAML of all; `.ci/full` takes everything.',
    '',
    'A new command is taken by itself. One with a word that nothing stands for, one that no other check runs, and a row of the tables in `plan.ts` that no page needs any more fail the check.',
    '',
    '| page | commands run | YAML checked |',
    '| --- | ---: | ---: |',
    ...[...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([page, row]) => `| ${page} | ${row.run} | ${row.yaml} |`),
    '',
    'A command that stands in several places is run once.',
    '',
    '## Held by another check',
    '',
    '| command | check | how |',
    '| --- | --- | --- |',
    ...plan.elsewhere.map(
      ({ text, by, how }) => `| ${cell(text.length > 60 ? `${text.slice(0, 57)}...` : text)} | ${cell(by)} | ${how} |`,
    ),
    '',
    '## Left out',
    '',
    '| command | why |',
    '| --- | --- |',
    ...plan.leftOut.map(({ text, why }) => `| ${cell(text)} | ${why} |`),
    '',
  ].join('\n');
}
