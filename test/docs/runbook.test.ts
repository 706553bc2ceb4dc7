/** The runbook has an entry for all that a person may be told of, and for nothing else; its commands exist, and each situation is tried on real processes. */
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { CAUSES_IN_ORDER } from '../../backtest/shadow/causes.ts';
import { COMMAND_FILES } from '../../src/cli/commands/index.ts';
import { ALERT_EVENT_NAMES } from '../../src/config/sections/alerts.ts';
import { ALERT_NAMES } from '../../src/monitor/index.ts';
import { KINDS } from '../causes/kinds.ts';
import { testsIn } from './testTitles.ts';

const fileOf = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const page = fileOf('docs/runbook.md');
const alerts = fileOf('config/prometheus/alerts.yml');
const rows = page.split('\n').filter(line => line.startsWith('| **'));
/** Those under a heading of the third level: its words, and what stands below it. */
const entries = page
  .split(/^### /m)
  .slice(1)
  .map(text => ({
    name: text.slice(0, text.indexOf('\n')),
    body: text.slice(text.indexOf('\n')).split(/^## /m)[0]!.trim(),
  }));

const nameOf = (event: string): string => `Puntas${event[0]!.toUpperCase()}${event.slice(1)}`;
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\w -]/g, '')
    .replaceAll(' ', '-');

test('each of the thirteen situations of the runbook is tried by the test of its name', () => {
  const titles = testsIn('main', fileOf('test/runbook/main.ts')).map(({ title }) => title);
  const situations = rows.map(row => /^\| \*\*(.+?)\*\*/.exec(row)![1]!);
  expect(situations).toHaveLength(13);
  for (const situation of situations)
    expect(
      titles.some(title => title.startsWith(situation)),
      situation,
    ).toBe(true);
  expect(titles).toHaveLength(13);
});

test('each row has what is seen, what to type, and what is seen then', () => {
  for (const row of rows) {
    const cells = row
      .split('|')
      .slice(1, -1)
      .map(cell => cell.trim());
    expect(cells, row).toHaveLength(4);
    expect(
      cells.every(cell => cell.length > 3),
      row,
    ).toBe(true);
  }
});

test('every alert, every event that is told, every halt and every pause has its entry, and nothing else has one', () => {
  const alerted: readonly string[] = ALERT_NAMES;
  const wanted = [
    ...ALERT_NAMES,
    ...ALERT_EVENT_NAMES.filter(event => !alerted.includes(nameOf(event))),
    ...KINDS.filter(kind => /^(?:halt|pause): /.test(kind)),
    ...CAUSES_IN_ORDER.map(cause => `shadow: ${cause}`),
  ];
  const told = entries.flatMap(({ name, body }) => [
    name,
    ...[...body.matchAll(/^Also the pause \*(.+?)\*\./gm)].map(([, pause]) => `pause: ${pause}`),
  ]);
  expect([...told].sort()).toEqual([...wanted].sort());
});

test('an entry says what it means, where to look, what to do, and what ends it if its section does not', () => {
  expect(entries.length).toBeGreaterThan(50);
  for (const { name, body } of entries) {
    const [means = '', points = '', ...more] = body.split('\n\n');
    expect(means.replace(/^Also the pause \*.+?\*\. /, '').length, name).toBeGreaterThan(15);
    const kinds = points.split('\n').map(line => /^- \*\*(\w+):\*\* \S.*\.$/.exec(line)?.[1]);
    expect(
      [
        ['Look', 'Do'],
        ['Look', 'Do', 'Ends'],
      ],
      name,
    ).toContainEqual(kinds);
    expect(more, name).toEqual([]);
  }
  const sections = page.split(/^## /m).filter(text => text.includes('\n### '));
  expect(sections.map(text => text.slice(0, text.indexOf('\n')))).toEqual(['Alerts', 'Halts', 'Pauses', 'Shadow']);
  for (const text of sections) expect(text.split('\n### ')[0]).toMatch(/^\*\*Ends:\*\* .*\.$/m);
});

test('an entry that speaks of another one names one that is there', () => {
  const names = [...entries.map(({ name }) => name), ...rows.map(row => /^\| \*\*(.+?)\*\*/.exec(row)![1]!)];
  const spoken = entries.flatMap(({ body }) =>
    [...body.matchAll(/\*(Puntas\w+|halt: [^*]+|pause: [^*]+|expired key|wrong clock)\*/g)].map(([, name]) => name!),
  );
  expect(spoken.length).toBeGreaterThan(10);
  expect(spoken.filter(name => !names.includes(name))).toEqual([]);
});

test('each rule of Prometheus leads to the heading of its entry', () => {
  type Rules = { groups: { rules: { alert: string; annotations: { runbook?: string } }[] }[] };
  const rules = (parse(alerts) as Rules).groups.flatMap(group => group.rules);
  expect(rules.map(({ alert }) => alert).sort()).toEqual([...ALERT_NAMES].sort());
  for (const { alert, annotations } of rules) expect(annotations.runbook).toBe(`docs/runbook.md#${anchorOf(alert)}`);
});

test('every command that the runbook and the alerts name is there, with the flags that they give it', async () => {
  const commands = [...`${page}\n${alerts}`.matchAll(/puntas (\w+)((?: (?:-c|--\w+)(?: (?:\S*yaml|FILE))?)*)/g)];
  const program = new Command('puntas');
  for (const { names, load } of COMMAND_FILES)
    if (commands.some(([, name]) => names.includes(name!))) (await load())(program);
  expect(commands.length).toBeGreaterThan(8);
  for (const [text, name, flags] of commands) {
    const command = program.commands.find(one => one.name() === name);
    expect(command, text).toBeDefined();
    for (const flag of flags!.match(/-c\b|--\w+/g) ?? [])
      expect(
        command!.options.some(({ short, long }) => short === flag || long === flag),
        text,
      ).toBe(true);
  }
});

test('every alert has a promtool test in which it does not fire, and says what comes next', () => {
  const tests = fileOf('config/prometheus/alerts.test.yml');
  const names = [...alerts.matchAll(/- alert: (\w+)/g)].map(([, name]) => name!);
  for (const name of names) expect(tests, name).toMatch(new RegExp(`alertname: ${name}, exp_alerts: \\[\\]`));
  expect(alerts.match(/^ +description: /gm)).toHaveLength(names.length);
});
