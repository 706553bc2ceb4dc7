/** Writes the page of every configuration key, and the JSON Schema for editors, out of the one schema that checks the file. */
import { z } from 'zod';
import { configSchema } from '../../src/config.ts';
import type { TakesEffect } from '../../src/config.ts';

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

const INTRODUCTION = `One YAML file describes one process, and one process quotes one book. \`puntas check -c FILE\` reads it, prints what it
understood and the quotes it would place, and places nothing. \`puntas init FILE\` writes one with comments: it asks ten questions at a terminal,
or takes \`--exchange\`, \`--book\` and the others as flags, reads the account's fees and the book's rules, and proposes the rest with its reason (\`--yes\` takes that).
Each value says where it comes from. A file that is there is never overwritten.

- A key that is not on this page is refused, with the key that was probably meant. One that was renamed is taken under its old
  name for one version, with a line that names the new one ([upgrading](upgrading.md)).
- Money, amounts and limits are **quoted decimal text**, like \`"0.25"\`. A bare number is refused: YAML would turn it into a
  binary fraction, and \`0x10\`, \`1e3\` and \`.inf\` into something nobody meant.
- All errors are told at once, one line each: \`file:line:column key: what was expected, what was found\`.
- Limits have no defaults. Without them the book is not traded.
- Lengths of time are whole milliseconds and say so in their name; bps are hundredths of a percent.
- *Taken up* says when a bot that runs goes by a changed key: \`live\` at once, \`reload\` at the change of runs of a
  [reload](reload.md), \`restart\` only when it is started anew, \`elsewhere\` never: another command or process reads it when it is started.
- Editors that speak JSON Schema complete and check the file: its first line names [\`config/schema.json\`](../config/schema.json).`;

const OUTRODUCTION = `## Key and secret

They are read from the environment, or from files that the environment names, and never from the YAML: a key there that looks
like one is refused by name. Only \`exchange.kind: remote\` needs them.

| variable | meaning |
|---|---|
| \`PUNTAS_API_KEY\`, \`PUNTAS_API_SECRET\` | The key and the secret themselves. |
| \`PUNTAS_API_KEY_FILE\`, \`PUNTAS_API_SECRET_FILE\` | Paths of files that hold them, as Docker and Kubernetes mount secrets. |

Those of alerts (\`PUNTAS_TELEGRAM_TOKEN\`, \`PUNTAS_ALERT_WEBHOOK_SECRET\`, \`PUNTAS_ALERT_WEBHOOK_URL\`) are read the same way ([alerts](alerts.md)).

Set one form of each, never both. White space around the text is trimmed. Prefer files, readable by the bot's user alone: the
environment of a process shows in \`docker inspect\` and in \`/proc\`. Use a key that may trade and read but not withdraw,
tied to the address of the machine.

## Checks between keys

At the start, and by \`puntas check\`: the amounts of one side's levels together stay within \`limits.positionMax\`; the levels
of two sides within \`limits.ordersMax\`; the furthest level within \`limits.collarBps\`; polling within the request budgets;
\`timing.staleAfterMs\` above \`bookPollMs\`; \`requestDelayMaxMs\` above \`exchange.requestTimeoutMs\`; \`shutdownMs\` at least \`tradeReportDelayMaxMs\`;
the money of a risk in the book's minor currency; and, once the account's fees are read, both spreads together (of a grid: its spacing)
at least both maker fees plus \`strategy.minEdgeBps\`.`;

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
  return ['| key | form | default | taken up | meaning |', '|---|---|---|---|---|', ...rows].join('\n');
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
  if (node.type === 'string') return node.pattern?.startsWith('^\\d{1,20}') ? 'decimal text' : 'text';
  if (node.type === 'boolean') return '`true`, `false`';
  if (node.type === 'array') return `list, at most ${node.maxItems ?? 0}`;
  if (node.type === 'object') return 'decimal text by name';
  const from = node.minimum ?? (node.exclusiveMinimum === undefined ? '' : `above ${node.exclusiveMinimum}`);
  return `${node.type === 'integer' ? 'whole number' : 'number'}, ${from} to ${node.maximum ?? ''}`;
}
