/** Examples of each command, for `--help` and the page of commands. */

type Example = readonly [command: string, does: string];

export const EXAMPLES: Readonly<Record<string, readonly Example[]>> = {
  run: [
    ['puntas run --for 60s', 'quotes on the embedded exchange for a minute'],
    ['puntas run --paper -c my.yaml', 'trades the real market on paper'],
  ],
  check: [
    ['puntas check -c my.yaml', 'checks a configuration'],
    ['puntas check --paper', 'checks the shipped paper configuration without a key'],
  ],
  exchange: [
    ['puntas exchange --port 8080', 'serves on port 8080'],
    ['puntas exchange --port 8080 --seed 7', 'simulates the same market at every start'],
  ],
  sentinel: [
    ['puntas sentinel -c my.yaml', 'watches the bot of this configuration'],
    ['puntas sentinel -c my.yaml --state ./state', 'uses another state directory'],
  ],
  init: [
    ['puntas init new.yaml --book btc_mxn --yes', 'accepts all proposals'],
    ['puntas init eth.yaml --book eth_mxn --levels 2 --yes', 'sets two values'],
  ],
  samples: [
    ['puntas samples', 'writes config/live.yaml, config/tune.yaml and the others'],
    ['puntas samples ./new', 'writes them into another folder'],
  ],
  doctor: [
    ['puntas doctor -c my.yaml', 'checks the setup without placing an order'],
    ['puntas doctor -c my.yaml --order --yes', 'also places and cancels one order'],
  ],
  conformance: [
    ['puntas conformance', 'checks the embedded exchange'],
    ['puntas conformance -c stage.yaml --yes --json', 'checks a test exchange with the smallest orders'],
  ],
  'alert test': [['puntas alert test -c my.yaml', 'sends a test message']],
  record: [
    ['puntas record -c my.yaml --out DIR --for 1h', 'records an hour of the configured book'],
    ['puntas record -c my.yaml --out DIR --book btc_mxn,eth_mxn', 'records two books'],
    ['puntas record --venue ccxt:kraken --book btc_usd --out DIR', 'records another exchange through ccxt'],
  ],
  import: [
    ['puntas import --from PATH --out DIR', 'recognizes the format'],
    ['puntas import --from ./state --out DIR', 'converts the recordings of a bot'],
  ],
  backtest: [
    ['puntas backtest -c FILE --tape DIR --out report.html', 'writes a page'],
    ['puntas backtest --flow-seconds 600 --latency-sweep --out report.html', 'tries several latencies'],
  ],
  calibrate: [
    ['puntas calibrate --tape DIR', 'measures a recording'],
    ['puntas calibrate --fills ./state --out fills.html', 'fits a fill model to the fills of a bot'],
    [
      'puntas calibrate --tape DIR --reference btc_mxn=DIR',
      'also measures whether the price of another book moves first',
    ],
  ],
  tape: [
    ['puntas tape DIR', 'shows what a tape contains'],
    ['puntas tape DIR --json --skip-damaged', 'skips damaged blocks'],
  ],
  export: [
    ['puntas export --tape DIR --out FILE.parquet', 'exports a tape'],
    ['puntas export -c my.yaml --rows fills --out fills.csv', "exports a bot's fills"],
  ],
  scout: [
    ['puntas scout -c my.yaml --for 1h --out scout.html --yaml best.yaml', 'observes the market for an hour'],
    ['puntas scout -c my.yaml --for 24h --until-known', 'ends when the verdict of each book is known'],
    ['puntas scout --tape DIR --fees best', 'observes a recorded market'],
    ['puntas scout --tape DIR --hedge-tape DIR --hedge-fee 10', 'evaluates fills that are hedged on another exchange'],
  ],
  shadow: [
    ['puntas shadow -c my.yaml --metrics-port 9465 --out shadow.html', 'compares a running bot with its models'],
    ['puntas shadow -c my.yaml --once', 'compares all recorded runs, then exits'],
  ],
  tune: [
    ['puntas tune -c config/tune.yaml --out tuned.html --yaml best.yaml', 'writes the best configuration'],
    ['puntas tune -c config/tune.yaml --open-holdout', 'opens the holdout'],
  ],
  promote: [
    ['puntas promote -c trading.yaml', 'shows the promotion'],
    ['puntas promote --json -c my.yaml', 'prints the promotion as JSON'],
  ],
  'promote start': [
    [
      'puntas promote start best.yaml -c trading.yaml --criteria config/promote.yaml --reason "wider looks better"',
      'starts a promotion',
    ],
  ],
  'promote check': [['puntas promote check -c trading.yaml', 'checks the current stage']],
  'promote approve': [
    [
      'puntas promote approve replay -c trading.yaml --reason "profitable on hours that no trial used"',
      'moves the candidate to the paper stage',
    ],
  ],
  'promote back': [['puntas promote back -c trading.yaml --preview', 'shows the configuration that would be restored']],
  worker: [
    ['puntas worker --queue redis://10.0.0.5:6379 --tapes /srv/tapes', 'reads recordings from a folder'],
    ['puntas worker --queue redis://10.0.0.5:6379 --threads 8', 'runs eight trials in parallel'],
  ],
  compare: [
    ['puntas compare --tape DIR --out page.html', 'compares all strategies'],
    ['puntas compare -c A.yaml B.yaml --tape DIR', 'compares two configurations'],
  ],
  status: [
    ['puntas status -c my.yaml', 'shows the bot'],
    ['puntas status --json -c my.yaml', 'prints the status as JSON'],
  ],
  pause: [
    ['puntas pause -c my.yaml --for 30m --reason "the feed is late"', 'pauses quoting for half an hour'],
    ['puntas pause -c my.yaml --preview', 'shows the effect'],
    ['puntas pause -c my.yaml --book btc_mxn --reason "a listing"', 'pauses one of several books'],
  ],
  reduce: [
    ['puntas reduce -c my.yaml --reason "inventory is too large"', 'quotes only to reduce inventory'],
    ['puntas reduce -c my.yaml --preview', 'shows the effect'],
  ],
  cancel: [
    ['puntas cancel -c my.yaml --reason "orders look odd"', 'cancels all orders, then quotes again'],
    ['puntas cancel -c my.yaml --preview', 'shows the effect'],
  ],
  flatten: [
    ['puntas flatten -c config/hedged.yaml', 'shows the cost'],
    [
      'puntas flatten -c config/hedged.yaml --max-cost 300 --reason "the week is over"',
      'hedges at a total cost of at most 300 MXN',
    ],
  ],
  halt: [
    ['puntas halt -c my.yaml --reason "prices look wrong"', 'stops quoting'],
    ['puntas halt -c my.yaml --cancel --reason "orders remained open"', 'also cancels all orders'],
  ],
  resume: [
    ['puntas resume -c my.yaml --reason "the feed is back"', 'resumes'],
    ['puntas resume -c my.yaml --preview', 'shows the effect'],
  ],
  reload: [
    ['puntas reload -c my.yaml --preview', 'shows the changed keys and the resulting quotes'],
    ['puntas reload -c my.yaml --reason "wider for the night"', 'applies the file'],
  ],
  replay: [
    ['puntas replay -c my.yaml', 'replays the last run'],
    ['puntas replay ./state --all', 'replays all runs'],
  ],
  explain: [
    ['puntas explain -c my.yaml', 'explains the quotes now'],
    ['puntas explain -c my.yaml --at 5m', 'explains the quotes five minutes ago'],
  ],
  hedges: [
    ['puntas hedges -c my.yaml', 'lists hedges'],
    ['puntas hedges --json -c my.yaml', 'prints the hedges as JSON'],
  ],
  'hedges settle': [['puntas hedges settle ID -c my.yaml', 'shows the evidence about the outcome of a hedge']],
  mcp: [
    ['puntas mcp -c my.yaml', 'serves an agent on stdin and stdout'],
    ['puntas mcp -c my.yaml --files tapes', 'allows backtests on this folder'],
  ],
  proposals: [
    ['puntas proposals -c my.yaml', 'lists proposals'],
    ['puntas proposals -c my.yaml --json', 'prints the proposals as JSON'],
  ],
  approve: [
    ['puntas approve ID -c my.yaml', 'previews a proposal again and asks'],
    ['puntas approve ID -c my.yaml --digest DIGEST', 'approves the proposal with this digest'],
  ],
  reject: [
    ['puntas reject ID -c my.yaml', 'rejects a proposal'],
    ['puntas reject ID -c my.yaml --by ana', 'records the name'],
  ],
  remote: [
    ['puntas remote -c my.yaml', 'takes commands until stopped'],
    ['puntas remote -c my.yaml --paper', 'controls the paper run'],
  ],
  console: [
    ['puntas console -c my.yaml', 'serves the page'],
    ['puntas console -c my.yaml --port 0', 'uses a free port'],
  ],
  fleet: [
    ['puntas fleet -c config/fleet.yaml', 'serves the page'],
    ['puntas fleet -c config/fleet.yaml --once', 'prints a table'],
  ],
  ledger: [
    ['puntas ledger -c my.yaml', 'shows the totals of each currency'],
    ['puntas ledger -c my.yaml --currency mxn --since 24h --entries', 'lists the MXN entries of the last 24 hours'],
  ],
  'ledger adjust': [
    ['puntas ledger adjust -c my.yaml --currency mxn --amount -12.5 --reason "fee of the bank"', 'books a fee'],
  ],
  report: [
    ['puntas report -c my.yaml', 'shows profit by day'],
    [
      'puntas report -c my.yaml --from 2026-11-01 --to 2026-11-30 --out november.html',
      'writes an HTML page for one month',
    ],
  ],
  presence: [
    [
      'puntas presence -c my.yaml --spread-max-bps 50 --size-min 0.01',
      'certifies the quoting time of all recorded days',
    ],
    [
      'puntas presence -c my.yaml --from 2026-11-01 --to 2026-11-30 --out november.html',
      'writes an HTML page for one month',
    ],
  ],
  surveillance: [
    ['puntas surveillance -c my.yaml', 'measures the orders of all recorded days'],
    ['puntas surveillance -c my.yaml --after-fill 5s --json', 'counts cancels up to 5 s after a fill, and prints JSON'],
  ],
  'new-strategy': [
    ['puntas new-strategy order-flow', 'creates strategies/order-flow'],
    ['puntas new-strategy other-flow --root .', 'selects the checkout'],
  ],
  'check-strategy': [
    ['puntas check-strategy my-strategy.ts', 'uses the default parameters'],
    ['puntas check-strategy my-strategy.ts --timeout 10s', 'ends a strategy that loops after 10 s'],
  ],
  'webhooks register': [['puntas webhooks register -c my.yaml', 'registers the callback URL']],
  'webhooks list': [['puntas webhooks list -c my.yaml', 'lists transactions']],
};
