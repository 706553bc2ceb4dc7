/** The page of mutation testing: scores by folder and file, and the survivors that stay with their reasons. */
import { sumOf, totalOf, type Counts, type Figures, type FileFigures, type ListedSurvivor } from './survivors.ts';

export const PAGE = 'docs/development/evidence/mutation.md';

export const scoreText = (counts: Counts): string => {
  const total = totalOf(counts);
  return total === 0 ? '' : `${((100 * (counts.killed + counts.timeouts)) / total).toFixed(1)} %`;
};
const cell = (text: string): string => text.replaceAll('|', '\\|');
const code = (text: string): string => (text.includes('`') ? `\`\` ${cell(text)} \`\`` : `\`${cell(text)}\``);
const folderOf = (file: string): string => file.slice(0, file.lastIndexOf('/'));

/** Numbers of one row, and the figures of our own mutators beside them. */
const numbersOf = (files: readonly FileFigures[]): string => {
  const standard = sumOf(files.map(file => file.standard));
  const own = sumOf(files.map(file => file.own));
  const all = sumOf([standard, own]);
  return [
    totalOf(standard),
    scoreText(standard),
    totalOf(own),
    scoreText(own),
    all.survived,
    all.uncovered,
    all.timeouts,
    all.static,
  ].join(' | ');
};
const HEAD = ['mutants', 'score', 'own', 'score', 'survived', 'uncovered', 'by time', 'static'];
const tableOf = (what: string, rows: readonly string[]): readonly string[] => [
  `| ${what} | ${HEAD.join(' | ')} |`,
  `| --- | ${HEAD.map(() => '---:').join(' | ')} |`,
  ...rows,
];

export function pageOf({ files, ...about }: Figures, listed: readonly ListedSurvivor[]): string {
  const folders = [...new Set(files.map(({ file }) => folderOf(file)))].sort();
  const open = files.reduce((sum, file) => sum + file.open.length, 0);
  const measured = new Set(files.map(({ file }) => file));
  const reasons = listed.filter(({ file }) => measured.has(file));
  return [
    '# Mutation testing',
    '',
    '<!-- Written by `npm run mutation -- --page`: do not edit. -->',
    '',
    'Each mutant is a small change of the code that a test must notice. Stryker makes most of them. The deletion of single statements is added,',
    "and mutators of the project's own (*own*) swap arguments, leave them out, exchange statements, add conditions, change numbers and replace names.",
    "The tests nearest to a file run first; the engine's tests, or those of a neighbor, try what they leave.",
    'The score is the share of mutants that were killed, of all that ran or that no test reaches. `test/mutation` has the tables of tests and reasons.',
    '',
    `Last run: commit ${about.commit}, ${about.date}. Machine: ${about.machine}, Node ${about.node}.`,
    `Survivors with a reason: ${reasons.length}; without one: ${open}. Texts of several words, which only people read, need no reason.`,
    '',
    '- *by time*: killed because the tests no longer ended, counted as killed',
    '- *static*: not run, as only loading a module runs them, and all slow tests of the folder would be needed for each',
    '',
    '## By folder',
    '',
    ...tableOf(
      'folder',
      folders.map(folder => `| \`${folder}\` | ${numbersOf(files.filter(({ file }) => folderOf(file) === folder))} |`),
    ),
    `| all | ${numbersOf(files)} |`,
    '',
    '## By file',
    '',
    ...tableOf(
      'file',
      files.map(file => `| \`${file.file}\` (${file.commit}) | ${numbersOf([file])} |`),
    ),
    '',
    '## Survivors that stay',
    '',
    ...(reasons.length === 0
      ? ['None is listed.']
      : [
          '| file and function | mutation | reason |',
          '| --- | --- | --- |',
          ...reasons.map(
            ({ file, context, mutation, reason }) =>
              `| \`${file}\` ${code(context)} | ${code(mutation)} | ${cell(reason)} |`,
          ),
        ]),
    '',
    '## Survivors without a reason',
    '',
    ...(open === 0
      ? ['None.']
      : [
          '| file | count |',
          '| --- | ---: |',
          ...files.filter(file => file.open.length > 0).map(file => `| \`${file.file}\` | ${file.open.length} |`),
        ]),
    '',
  ].join('\n');
}
