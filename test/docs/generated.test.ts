import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { describe, expect, test } from 'vitest';
import { architecturePage } from './pages/architecturePage.ts';
import { causesReference } from './pages/causesReference.ts';
import { venueCodesReference } from './pages/venueCodesReference.ts';
import { cliReference } from './pages/cliReference.ts';
import { configJsonSchema, configReference, fleetJsonSchema, fleetReference } from './pages/configReference.ts';
import { contentsPage } from './pages/contentsPage.ts';
import { embeddedReference, switchSources } from './pages/embeddedReference.ts';
import { environmentReference } from './pages/environmentReference.ts';
import { glossary } from './pages/glossary.ts';
import { fleetDashboard, grafanaDashboard, metricsOf, ROWS, shadowDashboard } from './pages/grafanaDashboard.ts';
import { metricsReference } from './pages/metricsReference.ts';
import { statesReference } from './pages/statesReference.ts';
import { quotesPlot } from './pages/quotesPlot.ts';
import { commandsPage, PAGE } from './run/pages.ts';
import { comparisonTables, withTables, type ComparisonFigures } from '../scripts/comparisonFigures.ts';
import { tunedSections, type TunedFigures } from '../scripts/tunedFigures.ts';
import { strategyReference, strategyTable, withGenerated } from './pages/strategyReference.ts';
import { SHADOW_METRICS } from '../../backtest/shadow/metrics.ts';
import { METRICS } from '../../src/monitor/index.ts';
import { NAMES } from '../strategies/examples.ts';

/** Formatted as the linter wants it. `npm run docs` writes these files anew. */
async function formatted(text: string, parser: 'markdown' | 'json'): Promise<string> {
  const options = await resolveConfig(new URL('../../.prettierrc.json', import.meta.url));
  return format(text, { ...options, parser });
}

describe('a generated page is what the code says', () => {
  test('docs/configuration.md lists every key of the schema', async () => {
    await expect(await formatted(configReference(), 'markdown')).toMatchFileSnapshot('../../docs/configuration.md');
  });

  test('docs/cli.md lists every command and every option', async () => {
    await expect(await formatted(await cliReference(), 'markdown')).toMatchFileSnapshot('../../docs/cli.md');
  });

  test.each([
    ['states.md', 'every regime, halt, pause and reason', statesReference],
    ['environment.md', 'every exit code, file and variable', environmentReference],
    ['glossary.md', "every word of users in the program's map", glossary],
    ['contents.md', 'every page of the site', contentsPage],
    ['development/evidence/switches.md', 'the source of every switch', switchSources],
  ])('docs/%s lists %s', async (name, _, text) => {
    await expect(await formatted(text(), 'markdown')).toMatchFileSnapshot(`../../docs/${name}`);
  });

  test('config/schema.json is the schema for editors', async () => {
    await expect(await formatted(JSON.stringify(configJsonSchema()), 'json')).toMatchFileSnapshot(
      '../../config/schema.json',
    );
  });

  test('config/fleet.schema.json is the schema of a fleet for editors, and docs/fleet.md lists its keys', async () => {
    await expect(await formatted(JSON.stringify(fleetJsonSchema()), 'json')).toMatchFileSnapshot(
      '../../config/fleet.schema.json',
    );
    const page = readFileSync(new URL('../../docs/fleet.md', import.meta.url), 'utf8');
    const keys = await formatted(fleetReference(), 'markdown');
    await expect(withGenerated(page, keys, '<!-- Generated from the schema. -->')).toMatchFileSnapshot(
      '../../docs/fleet.md',
    );
  });

  test('docs/metrics.md lists every metric of the registry', async () => {
    await expect(await formatted(metricsReference(), 'markdown')).toMatchFileSnapshot('../../docs/metrics.md');
  });

  test('config/grafana/puntas.json is the dashboard, and a panel of it shows each metric of the registry', async () => {
    const shown = ROWS.flatMap(({ panels }) => panels).flatMap(metricsOf);
    expect(METRICS.filter(metric => !shown.includes(metric))).toEqual([]);
    await expect(await formatted(JSON.stringify(grafanaDashboard()), 'json')).toMatchFileSnapshot(
      '../../config/grafana/puntas.json',
    );
  });

  test('config/grafana/fleet.json is the dashboard of many bots', async () => {
    await expect(await formatted(JSON.stringify(fleetDashboard()), 'json')).toMatchFileSnapshot(
      '../../config/grafana/fleet.json',
    );
  });

  test('config/grafana/shadow.json is the dashboard of shadows, and shows each of their metrics', async () => {
    const text = JSON.stringify(shadowDashboard());
    expect(SHADOW_METRICS.filter(({ name }) => !text.includes(`${name}{`))).toEqual([]);
    await expect(await formatted(text, 'json')).toMatchFileSnapshot('../../config/grafana/shadow.json');
  });

  test('docs/embedded-exchange.md lists every operator call and every switch', async () => {
    await expect(await formatted(embeddedReference(), 'markdown')).toMatchFileSnapshot(
      '../../docs/embedded-exchange.md',
    );
  });

  test('docs/development/architecture.md shows the rooms, and the folders of each, as they import each other', async () => {
    await expect(await formatted(architecturePage(), 'markdown')).toMatchFileSnapshot(
      '../../docs/development/architecture.md',
    );
  });

  test('docs/development/causes.md has every row that is tried', async () => {
    await expect(await formatted(causesReference(), 'markdown')).toMatchFileSnapshot(
      '../../docs/development/causes.md',
    );
  });

  test('docs/development/venue-codes.md has every code of the tables', async () => {
    await expect(await formatted(venueCodesReference(), 'markdown')).toMatchFileSnapshot(
      '../../docs/development/venue-codes.md',
    );
  });

  test('docs/strategies.md has every strategy in its table', async () => {
    const page = readFileSync(new URL('../../docs/strategies.md', import.meta.url), 'utf8');
    const table = await formatted(strategyTable(), 'markdown');
    await expect(withGenerated(page, table)).toMatchFileSnapshot('../../docs/strategies.md');
  });

  test('the page of comparisons has the figures of comparison.json and tuned.json beside it, which npm run compare:docs and compare:tuned make', async () => {
    const at = (path: string): string =>
      readFileSync(new URL(`../../docs/development/evidence/${path}`, import.meta.url), 'utf8');
    const tables = {
      ...comparisonTables(JSON.parse(at('comparison.json')) as ComparisonFigures),
      ...tunedSections(JSON.parse(at('tuned.json')) as TunedFigures),
    };
    const page = await formatted(withTables(at('comparison.md'), tables), 'markdown');
    await expect(page).toMatchFileSnapshot('../../docs/development/evidence/comparison.md');
  });

  test.each(NAMES)('strategies/%s/README.md has its steps, and what tuning may vary', async name => {
    const path = `../../strategies/${name}/README.md`;
    const page = readFileSync(new URL(path, import.meta.url), 'utf8');
    await expect(withGenerated(page, await formatted(strategyReference(name), 'markdown'))).toMatchFileSnapshot(path);
  });

  // After the pages that it reads.
  test('docs/development/commands.md lists every command of the pages, and what becomes of it', async () => {
    const root = fileURLToPath(new URL('../..', import.meta.url));
    await expect(await formatted(commandsPage(root), 'markdown')).toMatchFileSnapshot(`../../${PAGE}`);
  });

  test.each(NAMES)('strategies/%s/quotes.svg is what it quotes', async name => {
    await expect(quotesPlot(name)).toMatchFileSnapshot(`../../strategies/${name}/quotes.svg`);
  });

  test('every key has a description', () => {
    const rows = configReference()
      .split('\n')
      .filter(line => line.startsWith('| `'));
    expect(rows.length).toBeGreaterThan(50);
    expect(rows.filter(row => /\|\s*\|$/.test(row))).toEqual([]);
  });
});
