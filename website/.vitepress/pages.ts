/** Pages of the site by kind: what a reader wants to learn, do, look up or understand; and what developers need. */

export type Page = { readonly text: string; readonly file: string };
/** Kind of every page in a section. Each page has exactly one (test/docs/budget.test.ts). */
export type Kind = 'learn' | 'do' | 'look up' | 'understand' | 'contribute';
export type Section = {
  readonly kind: Kind;
  readonly text: string;
  readonly says: string;
  readonly pages: readonly Page[];
};

const page = (text: string, file: string): Page => ({ text, file });

export const SECTIONS: readonly Section[] = [
  {
    kind: 'learn',
    text: 'Learn',
    says: 'first steps, in order',
    pages: [
      page('Quick start', 'README.md'),
      page('Live in a day', 'docs/first-day.md'),
      page('First backtest', 'docs/first-backtest.md'),
    ],
  },
  {
    kind: 'do',
    text: 'Do',
    says: 'one task per page',
    pages: [
      page('Paper-trade', 'docs/paper.md'),
      page('Choose a book', 'docs/scout.md'),
      page('Record', 'docs/recording.md'),
      page('Import', 'docs/importing.md'),
      page('Backtest a recording', 'docs/backtest.md'),
      page('Compare configurations', 'docs/comparison.md'),
      page('Calibrate a model', 'docs/calibrate.md'),
      page('Set a reference price', 'docs/reference-price.md'),
      page('Coming from Hummingbot', 'docs/from-hummingbot.md'),
      page('Coming from other bots', 'docs/from-other-bots.md'),
      page('Tune', 'docs/tuning.md'),
      page('Tune on several machines', 'docs/tune-workers.md'),
      page('Promote to real money', 'docs/promotion.md'),
      page('Check a setup', 'docs/doctor.md'),
      page('Run a sentinel', 'docs/sentinel.md'),
      page('Operate', 'docs/operations.md'),
      page('Control a running bot', 'docs/actions.md'),
      page('Reload a configuration', 'docs/reload.md'),
      page('Quote several books', 'docs/several-books.md'),
      page('Use the console', 'docs/console.md'),
      page('See several bots on one page', 'docs/fleet.md'),
      page('Send alerts', 'docs/alerts.md'),
      page('Control remotely', 'docs/remote.md'),
      page('Let an agent read and propose', 'docs/agents.md'),
      page('Deploy in containers', 'docs/container.md'),
      page('Hedge inventory', 'docs/hedging.md'),
      page('Receive webhooks', 'docs/webhooks.md'),
      page('Report and export', 'docs/report.md'),
      page('Compare a bot with its models', 'docs/shadow.md'),
      page('Prove presence, surveillance and conformance', 'docs/compliance.md'),
      page('Upgrade', 'docs/upgrading.md'),
      page('Runbook', 'docs/runbook.md'),
    ],
  },
  {
    kind: 'look up',
    text: 'Look up',
    says: 'keys, tables and formats',
    pages: [
      page('All pages', 'docs/contents.md'),
      page('Commands', 'docs/cli.md'),
      page('Configuration', 'docs/configuration.md'),
      page('Strategies', 'docs/strategies.md'),
      page('Strategy files', 'docs/strategy-files.md'),
      page('Ladder', 'strategies/ladder/README.md'),
      page('Grid', 'strategies/grid/README.md'),
      page('Peg', 'strategies/peg/README.md'),
      page('Imbalance', 'strategies/imbalance/README.md'),
      page('Avellaneda-Stoikov', 'strategies/avellaneda-stoikov/README.md'),
      page('GLFT', 'strategies/glft/README.md'),
      page('Exchanges', 'docs/exchanges.md'),
      page('Metrics', 'docs/metrics.md'),
      page('States and reasons', 'docs/states.md'),
      page('Exit codes, files and environment', 'docs/environment.md'),
      page('Backtest figures', 'docs/backtest-figures.md'),
      page('JSON output', 'docs/json.md'),
      page('Embedded exchange', 'docs/embedded-exchange.md'),
      page('Tape format', 'docs/tape.md'),
      page('State directory', 'docs/state-directory.md'),
      page('Mapping files', 'docs/mapping-files.md'),
      page('Guarantees', 'docs/promises.md'),
      page('Risk controls', 'docs/controls.md'),
      page('Glossary', 'docs/glossary.md'),
      page('Security', 'SECURITY.md'),
      page('Changes', 'CHANGELOG.md'),
    ],
  },
  {
    kind: 'understand',
    text: 'Understand',
    says: 'how and why',
    pages: [
      page('Backtest and fill models', 'docs/fill-models.md'),
      page('Fair value', 'docs/fair-value.md'),
      page('Limits, halts and recovery', 'docs/recovery.md'),
      page('The hedging band', 'docs/hedging-band.md'),
      page('Ledger', 'docs/ledger.md'),
      page('The built-in market', 'docs/market-model.md'),
      page('Overfitting and the holdout', 'docs/tune-search.md'),
    ],
  },
  {
    kind: 'contribute',
    text: 'Contribute',
    says: 'for developers of Puntas',
    pages: [
      page('Contributing', 'CONTRIBUTING.md'),
      page('The map', 'src/README.md'),
      page('Architecture', 'docs/development/architecture.md'),
      page('Where is what', 'docs/development/where-is-what.md'),
      page('One event and one order', 'docs/development/one-order.md'),
      page('Evidence', 'docs/development/evidence/README.md'),
      page('Layout of a tape', 'docs/development/tape-layout.md'),
      page('The interface, row by row', 'docs/development/interface.md'),
      page('Codes of other exchanges', 'docs/development/venue-codes.md'),
      page('How each exchange was tried', 'docs/development/exchanges-tried.md'),
      page('Other clients', 'docs/development/clients.md'),
      page('Decisions', 'docs/adr/README.md'),
      page('Sources', 'docs/sources/README.md'),
    ],
  },
];

/** Address of a page, without `.html`: pages of `docs` lie at the top, a `README.md` at the name of its folder. */
export function addressOf(file: string): string {
  if (file === 'README.md') return 'index';
  if (file === 'src/README.md') return 'map';
  return file
    .replace(/^docs\//, '')
    .replace(/\/README\.md$/, '/index')
    .replace(/\.md$/, '');
}
