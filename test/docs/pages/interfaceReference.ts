/** Writes the page of every row of both interface documents, with what asks, what answers and what proves it. */
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { VirtualClock, randomOf } from '../../../src/core/index.ts';
import { exchangeClient } from '../../../src/exchange/index.ts';
import { ROUTES } from '../../../src/sandbox/index.ts';
import { RULES, type Group, type Places, type Row } from '../../conformance/rules/index.ts';
import { conformanceTests, type Found } from '../testTitles.ts';

const SRC = fileURLToPath(new URL('../../../src/', import.meta.url));

export type Covered = {
  readonly group: Group;
  readonly row: Row;
  readonly client: Places;
  readonly handler: Places;
  readonly tests: readonly Found[];
};

/** Every row with its places and the tests that cover it. */
export function coverage(tests = conformanceTests(), rules = RULES): readonly Covered[] {
  return rules.flatMap(group =>
    group.rows.map(row => ({
      group,
      row,
      client: row.client ?? group.client,
      handler: row.handler ?? group.handler,
      tests: tests.filter(test => covers(group, row, test)),
    })),
  );
}

/** A test covers a row when its title begins with the row's section, and it names the row: in its title, its table or its body. */
function covers(group: Group, row: Row, { title, text }: Found): boolean {
  const sections = group.tests ?? [`${group.doc} ${group.section}`];
  if (!sections.some(section => new RegExp(`^${escaped(section)}(?![\\w])(?!\\.\\d)`).test(title))) return false;
  // A test made of the rows themselves covers each of its kind.
  const made = `.each(${row.kind}sOf('${group.doc}', '${group.section}'))`;
  return text.includes(made) || named(row.name).test(text);
}

/** The name as a word of its own. */
const named = (name: string): RegExp => new RegExp(`(?<![\\w-])${escaped(name)}(?![\\w-])`);

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** What is wrong with a row's places: names that the code does not have. */
export async function strangers({ client, handler }: Covered): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (const name of names(client)) if (!(await inClient(name))) wrong.push(`no ${name} in the client`);
  for (const name of names(handler)) if (!(await inExchange(name))) wrong.push(`no ${name} in the embedded exchange`);
  return wrong;
}

const names = (places: Places): readonly string[] => ('none' in places ? [] : places);

const client = exchangeClient({
  clock: new VirtualClock(),
  random: randomOf(1),
  transport: { send: () => Promise.reject(new Error('not to be asked')), close: async () => undefined },
});

async function inClient(name: string): Promise<boolean> {
  if (name.includes(' ')) return exported('exchange', name);
  const found = name
    .split('.')
    .reduce<unknown>((at, key) => (at as Readonly<Record<string, unknown>> | undefined)?.[key], client);
  return typeof found === 'function';
}

async function inExchange(name: string): Promise<boolean> {
  if (name.includes('.ts ')) return exported('sandbox', name);
  return ROUTES.some(({ method, pattern }) => `${method} ${pattern}` === name);
}

const filesIn = (room: string): readonly string[] =>
  readdirSync(join(SRC, room), { recursive: true, encoding: 'utf8' }).map(path => join(SRC, room, path));

async function exported(room: string, name: string): Promise<boolean> {
  const [file, what] = name.split(' ');
  const isOther = (path: string): boolean => /\/(?:binance|kraken)\//.test(path);
  const paths = filesIn(room).filter(path => basename(path) === file && !isOther(path));
  if (paths.length !== 1) throw new Error(`expected one ${file!} in src/${room}, found ${paths.length}`);
  const loaded = (await import(pathToFileURL(paths[0]!).href)) as Readonly<Record<string, unknown>>;
  return loaded[what!] !== undefined;
}

/** docs/development/interface.md as Markdown, before formatting. */
export function interfaceReference(): string {
  const rows = coverage();
  const tests = conformanceTests();
  const unpaced = tests.flatMap(test => {
    const why = /\b(?:open|deep)\((?:[^()]*,)?\s*'((?:it|the) [^']*)',?\s*\)/.exec(test.text)?.[1];
    return why === undefined ? [] : [[test, why] as const];
  });
  const count = (kind: Row['kind']) => rows.filter(({ row }) => row.kind === kind).length;
  return [
    '<!-- Generated from test/conformance by `npm run docs`. A test fails when this page is not what the tests say. -->',
    '# The interface, row by row',
    INTRODUCTION,
    `${rows.length} rows: ${count('endpoint')} endpoints, ${count('parameter')} parameters, ${count('field')} fields, ${count('error')} errors, ${count('limit')} limits, ${count('state')} states, ${count('rule')} rules.`,
    ...(['rest-api', 'rfq-and-webhooks'] as const).flatMap(doc => [
      `## ${doc === 'rest-api' ? 'REST v3 and v4' : 'RFQ and webhooks'}`,
      ...RULES.filter(group => group.doc === doc).flatMap(group => [
        `### ${group.section === '0' ? '' : `${group.section} `}${group.title}`,
        table(rows.filter(row => row.group === group)),
      ]),
    ]),
    '## What the documents leave open',
    'Each open point is a named switch of the embedded exchange with a default. They are listed in [the embedded exchange](../embedded-exchange.md), with [their sources](evidence/switches.md). One test runs a whole session of the client against every variant of every switch.',
    '## Public facts',
    'What the two documents leave out and public sources tell.',
    ['| section | test | where |', '|---|---|---|', ...tests.flatMap(factRow)].join('\n'),
    '## With the shipped switches',
    `Then 50 ms pass after each request, as they do for any client, so that the engine has decided before the next. ${tests.length - unpaced.length} of the ${tests.length} tests run so; in the others no time passes but what they let pass:`,
    [
      '| test | because |',
      '|---|---|',
      ...unpaced.map(([test, why]) => `| ${cell(test.title)} (${link(test)}) | ${why} |`),
    ].join('\n'),
  ].join('\n\n');
}

const INTRODUCTION = `Every endpoint, parameter, field, error and limit of the two interface documents: the method of the client that uses it, the route or the part of the
embedded exchange that answers it, and a test that names it. The tests of [test/conformance](../../test/conformance) run three times through the client of this
project: in process and over HTTP without delays and limits, and in process with the switches as they are shipped. [Three clients that others wrote](clients.md) are driven beside it. A test fails when a row has no client method, no handler or no test, when one of them
does not exist, and when this page is old. The stream is in section 12 of the public facts, and its tests are in test/sandbox and test/exchange.`;

function table(rows: readonly Covered[]): string {
  return [
    '| | name | what it is | client | handler | test |',
    '|---|---|---|---|---|---|',
    ...rows.map(({ row, client: asks, handler, tests }) => {
      const what = row.shape ? `${row.shape.word}: ${row.says}` : row.says;
      return `| ${row.kind} | \`${row.name}\` | ${cell(what)} | ${placed(asks)} | ${placed(handler)} | ${proof(row, tests)} |`;
    }),
  ].join('\n');
}

const placed = (places: Places): string =>
  'none' in places ? cell(`none: ${places.none}`) : places.map(name => `\`${name}\``).join(', ');

/** The test that says most about the row: one with its name in the title, if there is one. */
function proof(row: Row, tests: readonly Found[]): string {
  const best = tests.find(({ title }) => named(row.name).test(title)) ?? tests[0];
  if (!best) return '**none**';
  const more = tests.length > 1 ? `, and ${tests.length - 1} more` : '';
  return `${cell(best.title)} (${link(best)}${more})`;
}

function factRow(test: Found): readonly string[] {
  const parts = /^public-facts ([\d.]+) (.*)$/s.exec(test.title);
  return parts ? [`| ${parts[1]!} | ${cell(parts[2]!)} | ${link(test)} |`] : [];
}

const link = ({ file }: Found): string => `[${file}](../../test/conformance/${file}.test.ts)`;
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '\\<');
