/** Bounds of the users' pages. They only fall: lower one when its page gets shorter. */

export type Budget = {
  readonly words: number;
  /** Sentences over 30 words that the page may still have. */
  readonly longSentences?: number;
  /** Mentions of test files that the page may still have. */
  readonly testPaths?: number;
};

/** All users' pages together, strategy pages apart; the target is 35,000. */
export const WORDS_MAX = 45_200;

/** Each strategy page: the target is 400. */
export const STRATEGY_WORDS_MAX = 700;
export const STRATEGY_LONG_SENTENCES_MAX = 0;

export const BUDGETS: Readonly<Record<string, Budget>> = {
  'README.md': { words: 550 },
  'docs/first-day.md': { words: 1_050 },
  'docs/first-backtest.md': { words: 350 },
  'docs/paper.md': { words: 550 },
  'docs/scout.md': { words: 550 },
  'docs/recording.md': { words: 450 },
  'docs/importing.md': { words: 1_000 },
  'docs/backtest.md': { words: 600 },
  'docs/comparison.md': { words: 300 },
  'docs/tuning.md': { words: 800 },
  'docs/promotion.md': { words: 800 },
  'docs/operations.md': { words: 650 },
  'docs/actions.md': { words: 650 },
  'docs/reload.md': { words: 450 },
  'docs/console.md': { words: 850 },
  'docs/alerts.md': { words: 1_050, longSentences: 3 },
  'docs/container.md': { words: 700 },
  'docs/hedging.md': { words: 900 },
  'docs/webhooks.md': { words: 550 },
  'docs/report.md': { words: 600 },
  'docs/upgrading.md': { words: 500 },
  'docs/runbook.md': { words: 3_100 },
  'docs/contents.md': { words: 200 },
  'docs/cli.md': { words: 3_200 },
  'docs/configuration.md': { words: 8_800, longSentences: 3 },
  'docs/strategies.md': { words: 1_100 },
  'docs/metrics.md': { words: 1_750, longSentences: 1 },
  'docs/states.md': { words: 1_000 },
  'docs/environment.md': { words: 400 },
  'docs/backtest-figures.md': { words: 700 },
  'docs/json.md': { words: 2_000 },
  'docs/embedded-exchange.md': { words: 3_100, longSentences: 3 },
  'docs/tape.md': { words: 900 },
  'docs/promises.md': { words: 900 },
  'docs/glossary.md': { words: 600 },
  'docs/fill-models.md': { words: 900 },
  'docs/fair-value.md': { words: 650 },
  'docs/hedging-band.md': { words: 650 },
  'docs/reference-price.md': { words: 400 },
  'docs/calibrate.md': { words: 750 },
  'docs/tune-workers.md': { words: 350 },
  'docs/doctor.md': { words: 450 },
  'docs/sentinel.md': { words: 350 },
  'docs/recovery.md': { words: 850 },
  'docs/state-directory.md': { words: 350 },
  'docs/mapping-files.md': { words: 850 },
  'docs/from-hummingbot.md': { words: 200 },
  'docs/ledger.md': { words: 600 },
  'docs/market-model.md': { words: 650 },
  'docs/tune-search.md': { words: 500 },
};
