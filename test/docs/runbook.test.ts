/** The runbook and the alerts name commands that exist, and each situation is tried on real processes. */
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { expect, test } from 'vitest';
import { addLedgerCommands } from '../../src/cli/commands/ledger.ts';
import { addStateCommands } from '../../src/cli/commands/state.ts';
import { addTradeCommands } from '../../src/cli/commands/trade.ts';
import { testsIn } from './testTitles.ts';

const fileOf = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const page = fileOf('docs/runbook.md');
const alerts = fileOf('config/prometheus/alerts.yml');
const rows = page.split('\n').filter(line => line.startsWith('| **'));

test('each of the thirteen situations of the runbook is tried by the test of its name', () => {
  const titles = testsIn('main', fileOf('test/runbook/main.ts')).map(({ title }) => title);
  const situations = rows.map(row => /^\| \*\*(.+?)\*\*/.exec(row)![1]!);
  expect(situations).toHaveLength(13);
  for (const situation of situations)
    expect(
      titles.some(title => title.startsWith(situation)),
      situation,
    ).toBe(true);
  expect(titles).toHaveLength(12);
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

test('every command that the runbook and the alerts name is there, with the flags that they give it', () => {
  const program = new Command('puntas');
  for (const add of [addLedgerCommands, addStateCommands, addTradeCommands]) add(program);
  const commands = [...`${page}\n${alerts}`.matchAll(/puntas (\w+)((?: (?:-c|--\w+)(?: (?:\S*yaml|FILE))?)*)/g)];
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
