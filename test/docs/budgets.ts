/** Bounds of the users' pages. They only fall: lower one when its page gets shorter. */

export type Budget = {
  readonly words: number;
  /** Sentences over 30 words that the page may still have. */
  readonly longSentences?: number;
  /** Mentions of test files that the page may still have. */
  readonly testPaths?: number;
};

/** All users' pages together, strategy pages apart; the target is 35,000. */
export const WORDS_MAX = 62_900;

/** Each strategy page: the target is 400. */
export const STRATEGY_WORDS_MAX = 1_250;
export const STRATEGY_LONG_SENTENCES_MAX = 18;

export const BUDGETS: Readonly<Record<string, Budget>> = {
  'README.md': { words: 550 },
  'docs/first-day.md': { words: 1_100, longSentences: 3 },
  'docs/first-backtest.md': { words: 350 },
  'docs/paper.md': { words: 850, longSentences: 5 },
  'docs/scout.md': { words: 1_000, longSentences: 9, testPaths: 1 },
  'docs/recording.md': { words: 600, longSentences: 3 },
  'docs/importing.md': { words: 2_400, longSentences: 10 },
  'docs/backtest.md': { words: 600 },
  'docs/comparison.md': { words: 300 },
  'docs/tuning.md': { words: 1_750, longSentences: 8 },
  'docs/promotion.md': { words: 1_500, longSentences: 6 },
  'docs/operations.md': { words: 3_550, longSentences: 29 },
  'docs/actions.md': { words: 950, longSentences: 5 },
  'docs/reload.md': { words: 650, longSentences: 3 },
  'docs/console.md': { words: 1_650, longSentences: 7 },
  'docs/alerts.md': { words: 1_050, longSentences: 3 },
  'docs/container.md': { words: 1_250, longSentences: 9 },
  'docs/hedging.md': { words: 2_600, longSentences: 16, testPaths: 2 },
  'docs/webhooks.md': { words: 1_050, longSentences: 9, testPaths: 1 },
  'docs/report.md': { words: 900, longSentences: 2 },
  'docs/upgrading.md': { words: 850, longSentences: 6 },
  'docs/runbook.md': { words: 3_950, longSentences: 3 },
  'docs/contents.md': { words: 200 },
  'docs/cli.md': { words: 3_200 },
  'docs/configuration.md': { words: 8_800, longSentences: 3 },
  'docs/strategies.md': { words: 3_250, longSentences: 35, testPaths: 3 },
  'docs/metrics.md': { words: 1_750, longSentences: 1 },
  'docs/states.md': { words: 1_000 },
  'docs/environment.md': { words: 400 },
  'docs/backtest-figures.md': { words: 700 },
  'docs/json.md': { words: 2_000 },
  'docs/embedded-exchange.md': { words: 3_100, longSentences: 3 },
  'docs/tape.md': { words: 1_500, longSentences: 4, testPaths: 2 },
  'docs/promises.md': { words: 900 },
  'docs/glossary.md': { words: 600 },
  'docs/fill-models.md': { words: 900 },
  'docs/fair-value.md': { words: 2_150, longSentences: 14, testPaths: 1 },
  'docs/ledger.md': { words: 950, longSentences: 6 },
  'docs/market-model.md': { words: 1_700, longSentences: 1 },
  'docs/tune-search.md': { words: 800, longSentences: 5 },
};
