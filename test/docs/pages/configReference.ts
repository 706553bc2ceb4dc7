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
  return [
    '<!-- Generated from src/config/schema.ts by `npm run docs`. A test fails when this page is not what the schema says. -->',
    '# Configuration',
    INTRODUCTION,
    table([['', { properties: Object.fromEntries(plain), required: plain.map(([key]) => key) }]]),
    ...grouped.flatMap(([key, node]) => section(key, node)),
    OUTRODUCTION,
  ].join('\n\n');
}

const INTRODUCTION = `One YAML file describes one process, and one process quotes one book. \`puntas init FILE\` writes a file with comments, from ten questions or from flags.
\`puntas check -c FILE\` checks it, and prints the quotes that it would place.

- Money, amounts and limits are **quoted decimal text**, like \`"0.25"\`. Puntas rejects a bare number, because YAML would round it.
- Times are whole milliseconds (\`Ms\`). bps are hundredths of a percent.
- Limits have no defaults.
- Puntas rejects an unknown key and suggests the probable one. A renamed key keeps working for one version, with a warning ([upgrade](upgrading.md)).
- Puntas reports all errors together: \`file:line:column key: what was expected, what was found\`.
- *Applied* is when a running bot uses a changed value: \`live\` immediately, \`reload\` at a [reload](reload.md), \`restart\` at the next start. \`elsewhere\` concerns another command or process.
- Editors complete the file through its first line, which names [\`config/schema.json\`](../config/schema.json).`;

const OUTRODUCTION = `## Key and secret

The API key and secret come from [environment variables](environment.md#environment) or from files that they name, never from this file. Only \`exchange.kind: remote\` needs them.
Prefer files that only the user of the bot can read: \`docker inspect\` and \`/proc\` show the environment of a process. Use a key that can trade and read but not withdraw, and that is tied to the address of the machine.

## Checks between keys

Puntas checks these rules at the start and in \`puntas check\`:

- The amounts of the levels of one side add up to at most \`limits.positionMax\`.
- The levels of both sides are at most \`limits.ordersMax\`.
- The outermost level is within \`limits.collarBps\`.
- Polling fits the request budgets.
- \`timing.staleAfterMs\` is above \`timing.bookPollMs\`.
- \`timing.requestDelayMaxMs\` is above \`exchange.requestTimeoutMs\`.
- \`timing.shutdownMs\` is at least \`timing.tradeReportDelayMaxMs\`.
- The money of a risk is in the quote currency.
- Both half-spreads (of a grid: its spacing) are at least both maker fees plus \`strategy.minEdgeBps\`, once the fees are read.`;

function section(key: string, node: Node): readonly string[] {
  const head = [`## ${key}`, ...(node.description === undefined ? [] : [node.description])];
  const members = node.oneOf ?? node.anyOf;
  const taken = node.takesEffect ?? 'restart';
  if (members === undefined) return [...head, table([[`${key}.`, node]], taken)];
  return [
    ...head,
    ...members.flatMap(member => {
      const [word, named] = discriminatorOf(member);
      return [
        `### ${key}: ${word} ${String(named.const)}`,
        named.description ?? '',
        table([[`${key}.`, without(member, word)]], taken),
      ];
    }),
  ];
}

/** Rows of an object, nested objects unfolded below it. */
function table(objects: readonly (readonly [prefix: string, node: Node])[], taken: TakesEffect = 'restart'): string {
  const rows = objects.flatMap(([prefix, node]) => rowsOf(prefix, node, taken));
  return ['| key | form | default | applied | meaning |', '|---|---|---|---|---|', ...rows].join('\n');
}

/** `above`: when changes of what has no mark of its own are taken up. */
function rowsOf(prefix: string, object: Node, above: TakesEffect): readonly string[] {
  return Object.entries(object.properties ?? {}).flatMap(([key, node]) => {
    const name = `${prefix}${key}`;
    const taken = node.takesEffect ?? above;
    const members = node.oneOf ?? node.anyOf;
    if (members !== undefined) {
      return members.flatMap(member => {
        const [word, named] = discriminatorOf(member);
        const title = `| \`${name}.${word}\` | \`${String(named.const)}\` | ${standard(node, word, named.const)} | ${taken} | ${escaped(named.description)} |`;
        return [title, ...rowsOf(`${name}.`, without(member, word), taken)];
      });
    }
    const needed = object.required?.includes(key) ?? false;
    const preset = node.default === undefined ? (needed ? '**required**' : 'none') : code(node.default);
    if (node.properties) {
      // Whether it stands there at all says something where nothing stands by default.
      const own =
        preset === 'none' ? [`| \`${name}\` | keys below | none | ${taken} | ${escaped(node.description)} |`] : [];
      return [...own, ...rowsOf(`${name}.`, node, taken)];
    }
    const item = node.items?.properties ? rowsOf(`${name}[].`, node.items, taken) : [];
    return [`| \`${name}\` | ${formOf(node)} | ${preset} | ${taken} | ${escaped(node.description)} |`, ...item];
  });
}

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
  if (node.type === 'boolean') return '`true`, `false`';
  if (node.type === 'array') return `list, up to ${node.maxItems ?? 0}`;
  if (node.type === 'object') return 'decimals by name';
  const from = node.minimum ?? (node.exclusiveMinimum === undefined ? '' : `above ${node.exclusiveMinimum}`);
  return `${node.type === 'integer' ? '' : 'number, '}${from} to ${node.maximum ?? ''}`;
}
