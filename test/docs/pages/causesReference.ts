/** Writes docs/development/causes.md from the table that `.ci/causes.sh` tries on real processes. */
import { stringify } from 'yaml';
import { ELSEWHERE, KINDS } from '../../causes/kinds.ts';
import { kindsOf, type Life, type Step } from '../../causes/life.ts';
import { LIVES } from '../../causes/lives.ts';

const HEAD = `# Everything that stops or changes quoting, caused once

Each regime, each halt, each pause, each reason why a level is not quoted, and each alert, on a real bot: \`puntas run\` with a configuration that ships against a real
\`puntas exchange\`, behind a line that can be cut, with a real Prometheus that loads [\`config/prometheus/alerts.yml\`](../../config/prometheus/alerts.yml) (only its \`for:\` is cut to two
seconds). \`.ci/causes.sh\` causes every row and looks for the very words below, in the log, in \`/readyz\`, in the file \`HALTED\`, in \`puntas explain\` and in the alert; then it compares what
\`puntas replay\` makes of the recording, and the exit code. \`…\` stands for anything. This page is written from that table, and a kind without a row fails
\`test/docs/causes.test.ts\`. What to do about each is in [the runbook](../runbook.md).
`;

export function causesReference(): string {
  const count = (what: string) => KINDS.filter(kind => kind.startsWith(`${what}: `)).length;
  const away = (what: string) => ELSEWHERE.filter(({ of }) => of.startsWith(`${what}: `)).length;
  const figures = (
    [
      ['regime', 'regimes'],
      ['wide', 'reasons to quote wide'],
      ['reduce only', 'reasons to reduce only'],
      ['halt', 'halts'],
      ['pause', 'pauses'],
      ['level', 'reasons of a level'],
      ['alert', 'alerts'],
    ] as const
  ).map(([what, words]) => `| ${words} | ${count(what) - away(what)} | ${away(what)} |`);
  return [
    HEAD,
    '| | caused | held elsewhere |',
    '|---|---|---|',
    ...figures,
    '',
    '| what | caused by | what a person reads |',
    '|---|---|---|',
    ...LIVES.flatMap(life => life.steps.map((step, i) => rowOf(life, step, i === 0))),
    '',
    '## Not on a real process',
    '',
    '| what | why not | held by |',
    '|---|---|---|',
    ...ELSEWHERE.map(({ of, why, test }) => `| ${of} | ${why} | [\`${test}\`](../../${test}) |`),
    '',
  ].join('\n');
}

function rowOf(life: Life, step: Step, isFirst: boolean): string {
  const { log = [], ready, halted, explain, metrics = [], alerts = {} } = step;
  const reads = [
    ...log.map(line => code(line.replace(/^"msg":"(.*)"$/, '$1'))),
    ...(ready === undefined ? [] : [ready === true ? '`/readyz`: ready' : `\`/readyz\`: ${code(ready)}`]),
    ...(halted === undefined ? [] : [`\`HALTED\`: ${code(halted)}`]),
    ...(explain === undefined ? [] : [`\`explain\`: ${code(explain.replace(/^: /, '… '))}`]),
    ...metrics.map(line => `\`/metrics\`: ${code(line)}`),
    ...Object.entries(alerts).map(([name, summary]) => `alert *${name}*: ${code(summary)}`),
  ];
  const kinds = kindsOf(step);
  const where = isFirst ? `${setupOf(life)}: ` : 'then ';
  return `| ${kinds.map(kind => `**${kind}**`).join(', ')} | ${where}${step.cause} | ${reads.join('; ')} |`;
}

function setupOf({ shipped, changes }: Life): string {
  const keys =
    changes === undefined ? '' : ` with ${code(stringify(changes, { collectionStyle: 'flow', lineWidth: 0 }).trim())}`;
  return `\`config/${shipped}.yaml\`${keys}`;
}

const code = (text: string): string => `\`${text.replaceAll('|', '\\|').replaceAll('`', "'")}\``;
