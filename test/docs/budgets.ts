/** Bounds of the users' pages, in words. They only fall: lower one when its page gets shorter. */

/**
 * Maximum number of words in all pages for users together, without the strategy pages. The target was 35,000. It was
 * raised by 400 for limits on price moves and amounts and for several bots of one account. It was raised by 700 for
 * three commands from RTS 6 and the FIA's list: presence, surveillance and conformance. It was raised by 2,650 for other
 * exchanges as venue, price and second market: 1,500 as planned for each capability, and 1,150 too many, most of them keys. It was
 * raised by 900 for hedges on another exchange and transfers to it, most of them keys. It was raised by 330 for descriptions of
 * keys, options, switches and metrics that say whose figure they mean, and in which unit, and by another 230 for the same.
 * It was raised by 160 for several live books of the embedded exchange: their keys, and one paragraph; and by another 150 for
 * their correlation, their arbitrageur, and recordings of several books. It was raised by 140 for the joint moves of books in
 * a scout. It was raised by 900 for users without a clone and of other bots: 590 for the parameters of three bots, and 310 for
 * releases and what their versions promise. It was raised by 620 for the remote control and the HTTP API: their page, keys,
 * command and metric. It was raised by 620 for several bots on one page: page, keys and command.
 * It was raised by 400 for agents: their page and commands.
 * It was raised by 300 for changes of parameters through the console and the API.
 * It was raised by 300 for several books of one account in one process: their page, key and option.
 * It was raised by 150 for paper accounts that continue over restarts, and for a status that is watched.
 * It was raised by 1,050 for the shadow: its page (350), its eight alarms in the runbook, its metrics, its command and its
 * JSON.
 * It was raised by 90 for commands on one of several books: a section and an option.
 * It was raised by 320 for joint inventory and limits over all books: their sections and keys.
 * It was raised by 470 for strategy files: their page with the warm-up, and their command.
 * It was raised by 190 for results of each configuration in the console, and charts of months.
 * It was raised by 150 for the profit of each of several books.
 * It was raised by 250 for fill models from own fills: a section, two keys and two options.
 * It was raised by 120 for the files of a paper account, copies of it, and refused starts.
 * It was raised by 200 for the lifelike market: its section and keys.
 * It was raised by 250 for the third answer of a scout, and for scouts that end when each book is known.
 * It was raised by 70 for what the results of a configuration leave out: stops and manual trades.
 * It was raised by 60 for scouts of several days, and for what 5% of error mean with ten books.
 * It was raised by 145 for fill models as files.
 * It was raised by 115 for fill samples.
 * It was raised by 60 for reloads of several books.
 * It was raised by 330 for cross rates and the limit on the value of several books: their sections and keys.
 * It was raised by 75 for alerts, doctor and remote control of several books.
 * It was raised by 168 for request budgets that several books share.
 * It was raised by 110 for the console of several books.
 * It was raised by 180 for backtests of several books.
 * It was raised by 105 for strategy files that loop, and their history in previews and by example.
 * It was raised by 60 for what strangers asked: installed releases, digests, and comparisons of single books.
 * It was raised by 50 for bots that a strategy file freezes.
 * It was raised by 82 for strategy files and parameters of several books.
 * It was raised by 105 for several books on paper.
 * It was raised by 20 for connections and commands that readers asked about.
 * It was raised by 123 for comparisons of several books.
 */
export const WORDS_MAX = 49_055;

/** Each strategy page; the target is 400. */
export const STRATEGY_WORDS_MAX = 675;

export const BUDGETS: Readonly<Record<string, number>> = {
  'README.md': 439,
  'docs/actions.md': 695,
  'docs/agents.md': 350,
  'docs/alerts.md': 675,
  'docs/backtest-figures.md': 650,
  'docs/backtest.md': 665,
  'docs/calibrate.md': 620,
  'docs/cli.md': 3_315,
  'docs/comparison.md': 348,
  'docs/compliance.md': 375,
  'docs/configuration.md': 5_390,
  'docs/console.md': 1_138,
  'docs/container.md': 620,
  'docs/contents.md': 230,
  'docs/controls.md': 875,
  'docs/doctor.md': 475,
  'docs/embedded-exchange.md': 2_015,
  'docs/environment.md': 355,
  'docs/exchanges.md': 620,
  'docs/fair-value.md': 575,
  'docs/fill-models.md': 1126,
  'docs/first-backtest.md': 275,
  'docs/first-day.md': 825,
  'docs/fleet.md': 499,
  'docs/from-hummingbot.md': 200,
  'docs/from-other-bots.md': 600,
  'docs/glossary.md': 475,
  'docs/hedging-band.md': 575,
  'docs/hedging.md': 990,
  'docs/importing.md': 800,
  'docs/json.md': 2_402,
  'docs/ledger.md': 502,
  'docs/mapping-files.md': 775,
  'docs/market-model.md': 610,
  'docs/metrics.md': 1_254,
  'docs/operations.md': 500,
  'docs/paper.md': 720,
  'docs/promises.md': 825,
  'docs/promotion.md': 700,
  'docs/recording.md': 525,
  'docs/recovery.md': 700,
  'docs/reference-price.md': 700,
  'docs/reload.md': 428,
  'docs/remote.md': 558,
  'docs/report.md': 545,
  'docs/runbook.md': 3_145,
  'docs/scout.md': 1_050,
  'docs/several-books.md': 880,
  'docs/shadow.md': 350,
  'docs/sentinel.md': 325,
  'docs/state-directory.md': 345,
  'docs/states.md': 900,
  'docs/strategies.md': 915,
  'docs/strategy-files.md': 690,
  'docs/tape.md': 250,
  'docs/tune-search.md': 450,
  'docs/tune-workers.md': 300,
  'docs/tuning.md': 650,
  'docs/upgrading.md': 440,
  'docs/webhooks.md': 500,
};
