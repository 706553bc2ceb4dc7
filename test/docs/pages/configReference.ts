/** Writes the page of every configuration key, and the JSON Schema for editors, out of the one schema that checks the file. */
import { z } from 'zod';
import { configSchema, type TakesEffect } from '../../../src/config.ts';

type Node = {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
  readonly items?: Node;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Node | boolean;
  readonly oneOf?: readonly Node[];
  readonly anyOf?: readonly Node[];
  readonly pattern?: string;
  readonly takesEffect?: TakesEffect;
};

/** The schema as editors read it, through `# yaml-language-server: $schema=./schema.json`. */
export const configJsonSchema = (): object => {
  const { $schema, ...rest } = z.toJSONSchema(configSchema, { io: 'input', target: 'draft-7' });
  return { $schema, title: 'Puntas configuration', ...rest };
};

/** docs/configuration.md as Markdown, before formatting. */
export function configReference(): string {
  const sections = Object.entries((configJsonSchema() as Node).properties ?? {});
  const plain = sections.filter(([, node]) => !isSection(node));
  const grouped = sections.filter(([, node]) => isSection(node));
  const root = { properties: Object.fromEntries(plain), required: plain.map(([key]) => key) };
  return [
    '<!-- Generated from src/config/schema.ts by `npm run docs`. A test fails when this page is not what the schema says. -->',
    '# Configuration',
    INTRODUCTION,
    table(rowsOf('', root, 'restart')),
    ...grouped.flatMap(([key, node]) => section(key, node)),
    OUTRODUCTION,
  ].join('\n\n');
}

const INTRODUCTION = `One YAML file describes one process, which quotes one book. \`puntas init FILE\` writes one; \`puntas check -c FILE\` checks it and prints its quotes.

- Money and amounts are **quoted decimal text**, like \`"0.25"\`: YAML would round a bare number.
- \`Ms\` is whole milliseconds, \`Bps\` hundredths of a percent. *Base* and *quote* are the currencies of the book.
- A key without a default is optional. If omitted, it is off, unless its row says more.
- Unknown keys are rejected, with a suggestion. A renamed key keeps working for one version ([upgrade](upgrading.md)).
- A running bot uses a changed value after a [reload](reload.md), unless it is marked \`live\` (immediately), \`restart\`, or \`elsewhere\` (another command or process).
- The first line names the schema for editors, [\`config/schema.json\`](../config/schema.json).`;

const OUTRODUCTION = `## Key and secret

They come from [environment variables](environment.md#environment), never from this file, and only \`exchange.kind: remote\` needs them.
Prefer files that only the bot's user can read: \`docker inspect\` and \`/proc\` show variables.

## Checks between keys

- The amounts of one side add up to at most \`limits.positionMax\`.
- The levels of both sides are at most \`limits.ordersMax\`.
- The outermost level is within \`limits.collarBps\`.
- Polling fits the budgets, and the keys of \`timing\` fit each other.
- Both half-spreads (of a grid: its spacing) are at least both maker fees plus \`strategy.minEdgeBps\`, once the fees are read.`;

function section(key: string, node: Node): readonly string[] {
  const taken = node.takesEffect ?? 'restart';
  const members = node.oneOf ?? node.anyOf;
  const rows = members === undefined ? rowsOf(`${key}.`, node, taken) : [];
  const known = members === undefined && isMixed(rows) ? null : taken;
  const effect = known === null || known === AS_USUAL ? '' : ` Applied: ${known}.`;
  const guide = GUIDES[key] === undefined ? '' : ` [Guide](${GUIDES[key]}).`;
  const head = [`## ${key}`, `${node.description ?? ''}${effect}${guide}`];
  return members === undefined ? [...head, table(rows)] : [...head, ...union(key, members, taken)];
}

/** Pages about a section. */
const GUIDES: Readonly<Record<string, string>> = {
  strategy: 'strategies.md',
  fairValue: 'fair-value.md',
  paper: 'paper.md',
  sentinel: 'sentinel.md',
  reference: 'reference-price.md',
  hedge: 'hedging.md',
  regimes: 'states.md#regimes',
  metrics: 'metrics.md',
  webhooks: 'webhooks.md',
  alerts: 'alerts.md',
  console: 'console.md',
};

type Member = { readonly name: string; readonly description: string; readonly rows: readonly Row[] };

/** Rows that several members have stand in one table, with their members; then each member has its own. */
function union(key: string, nodes: readonly Node[], taken: TakesEffect): readonly string[] {
  const members = nodes.map((node): Member => {
    const [word, named] = discriminatorOf(node);
    const rows = rowsOf(`${key}.`, without(node, word), taken);
    return { name: String(named.const), description: named.description ?? '', rows };
  });
  const [word] = discriminatorOf(nodes[0]!);
  const ofRow = (row: Row): readonly Member[] =>
    members.filter(({ rows }) => rows.some(other => identityOf(other) === identityOf(row)));
  const isShared = (row: Row): boolean => ofRow(row).length > 1;
  const shared = new Map(members.flatMap(({ rows }) => rows.filter(isShared).map(row => [identityOf(row), row])));
  const named = [...shared.values()].map(row => {
    const names = ofRow(row).map(({ name }) => name);
    return { ...row, of: names.length === members.length ? 'all' : names.join(', ') };
  });
  return [
    `### ${key}: shared keys`,
    table(named),
    ...members.flatMap(({ name, description, rows }) => [
      `### ${key}: ${word} ${name}`,
      description,
      table(rows.filter(row => !isShared(row))),
    ]),
  ];
}

type Row = {
  readonly key: string;
  readonly form: string;
  readonly preset: string;
  readonly applied: TakesEffect;
  readonly meaning: string;
  /** Members of a union that have the row. */
  readonly of?: string;
};

const identityOf = ({ key, form, preset, meaning }: Row): string => [key, form, preset, meaning].join('|');

/** When changes are taken up unless the page says otherwise. */
const AS_USUAL: TakesEffect = 'reload';

const isMixed = (rows: readonly Row[]): boolean => new Set(rows.map(({ applied }) => applied)).size > 1;

/** A column that says the same of each row is left out. */
function table(all: readonly Row[]): string {
  const rows = folded(all);
  const isPartial = rows.some(({ of }) => of !== undefined && of !== 'all');
  const columns: readonly (readonly [head: string, cell: (row: Row) => string])[] = [
    ['key', ({ key }) => `\`${key}\``],
    ...(isPartial ? [['of', ({ of = '' }: Row) => of] as const] : []),
    ['form', ({ form }) => form],
    ['default', ({ preset }) => preset],
    ...(isMixed(rows) ? [['applied', ({ applied }: Row) => applied] as const] : []),
    ['meaning', ({ meaning }) => meaning],
  ];
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [
    line(columns.map(([head]) => head)),
    line(columns.map(() => '---')),
    ...rows.map(row => line(columns.map(([, cell]) => cell(row)))),
  ].join('\n');
}

/** Rows that differ only in the last folder of their key, where at least this many do, become one with a star. */
const FOLDED_MIN = 3;

function folded(rows: readonly Row[]): readonly Row[] {
  const starred = (row: Row): Row => ({ ...row, key: row.key.replace(/[^.]+\.([^.]+)$/, '*.$1') });
  const counts = new Map<string, number>();
  for (const row of rows.map(starred)) counts.set(identityOf(row), (counts.get(identityOf(row)) ?? 0) + 1);
  const short = rows.map(row => ((counts.get(identityOf(starred(row))) ?? 0) < FOLDED_MIN ? row : starred(row)));
  return short.filter((row, i) => short.findIndex(other => identityOf(other) === identityOf(row)) === i);
}

/** `above`: when changes of what has no mark of its own are taken up. */
function rowsOf(prefix: string, object: Node, above: TakesEffect): readonly Row[] {
  return Object.entries(object.properties ?? {}).flatMap(([name, node]) => {
    const key = `${prefix}${name}`;
    const applied = node.takesEffect ?? above;
    const meaning = escaped(node.description);
    const members = node.oneOf ?? node.anyOf;
    if (members !== undefined) {
      return members.flatMap(member => {
        const [word, named] = discriminatorOf(member);
        const title: Row = {
          ...{ key: `${key}.${word}`, form: `\`${String(named.const)}\``, applied },
          ...{ preset: standard(node, word, named.const), meaning: escaped(named.description) },
        };
        return [title, ...rowsOf(`${key}.`, without(member, word), applied)];
      });
    }
    const needed = object.required?.includes(name) ?? false;
    const preset = node.default === undefined ? (needed ? '**required**' : '') : code(node.default);
    if (key === EVENTS) return [{ key: `${key}.*`, form: '`on`, `silent`, `off`', preset: '', applied, meaning }];
    if (node.properties) {
      // Whether it stands there at all says something where nothing stands by default.
      const own: readonly Row[] = preset === '' ? [{ key, form: '`{…}`', preset, applied, meaning }] : [];
      return [...own, ...rowsOf(`${key}.`, node, applied)];
    }
    const items = node.items?.properties ? rowsOf(`${key}[].`, node.items, applied) : [];
    return [{ key, form: formOf(node), preset, applied, meaning }, ...items];
  });
}

/** Its members have a page of their own. */
const EVENTS = 'alerts.events';

const isSection = (node: Node): boolean => (node.properties ?? node.oneOf ?? node.anyOf) !== undefined;

function discriminatorOf(member: Node): readonly [string, Node] {
  const found = Object.entries(member.properties ?? {}).find(([, node]) => node.const !== undefined);
  if (!found) throw new Error('a member of a union has no word that tells it from the others');
  return found;
}

const without = (node: Node, key: string): Node => ({
  ...node,
  properties: Object.fromEntries(Object.entries(node.properties ?? {}).filter(([name]) => name !== key)),
});

/** Which member of a union stands there when nothing is written. */
const standard = (node: Node, word: string, member: unknown): string => {
  const preset = node.default as Readonly<Record<string, unknown>> | undefined;
  return preset?.[word] === undefined ? '**required**' : preset[word] === member ? code(member) : '';
};

/** Angle brackets would be taken for HTML, a bar for the end of a cell. */
const escaped = (text = ''): string => text.replaceAll('|', '\\|').replaceAll('<', '\\<');

const code = (value: unknown): string => `\`${JSON.stringify(value)}\``;

function formOf(node: Node): string {
  if (node.enum) return node.enum.map(value => `\`${String(value)}\``).join(', ');
  if (node.type === 'string') return node.pattern?.startsWith('^\\d{1,20}') ? 'decimal' : 'text';
  if (node.type === 'boolean') return 'boolean';
  if (node.type === 'array') return `list, ≤${node.maxItems ?? 0}`;
  if (node.type === 'object') return 'decimals';
  const from = node.minimum ?? (node.exclusiveMinimum === undefined ? '' : `>${node.exclusiveMinimum}`);
  return `${node.type === 'integer' ? '' : 'number '}${from}–${node.maximum ?? ''}`;
}
