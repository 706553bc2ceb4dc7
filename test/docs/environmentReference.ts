/** Writes the page of exit codes, files and environment variables. */
import { EXIT } from '../../src/app/messages/exits.ts';

const CODES: Readonly<Record<keyof typeof EXIT, string>> = {
  clean: 'done; after a run, no order is left (verified)',
  broken: 'an error, or a process that could not do its work',
  misused: 'wrong use, wrong configuration, or a start that needs you first',
  leftOrders: 'an order may be left on the exchange; each one is named',
};

/** Files of the state directory. */
export const STATE_FILES: Readonly<Record<string, string>> = {
  'puntas.db': 'orders before they are sent, ledger, nonces',
  'puntas.commits': 'number of commits in `puntas.db`; detects an older copy',
  'lock.db': 'lock: one process per state directory',
  HALTED: 'halt and its reason, until `puntas resume`',
  'HALTED.reserve': 'space for `HALTED` on a full disk',
  REDUCE: 'reduce-only and its reason',
  PAUSED: 'pause and its reason',
  HELD: 'hold that the sentinel set and lifts',
  'heartbeat.json': 'heartbeat of the bot',
  'sentinel.json': 'heartbeat of the sentinel',
  'orders-seen.json': 'last count of open orders',
  'actions.jsonl': 'every action of an operator',
  'resumed.jsonl': 'every halt and pause that was lifted',
  'reloads.jsonl': 'every change of the configuration',
  'inbox.db': 'webhook deliveries',
  'run-N.rec': 'recording of run N',
};

/** Variables that a user sets. */
export const VARIABLES: Readonly<Record<string, string>> = {
  PUNTAS_API_KEY: 'API key; also `_FILE`',
  PUNTAS_API_SECRET: 'API secret; also `_FILE`',
  PUNTAS_TELEGRAM_TOKEN: 'token of the Telegram bot; also `_FILE`',
  PUNTAS_ALERT_WEBHOOK_URL: 'address for alerts, instead of `alerts.webhook.url`; also `_FILE`',
  PUNTAS_ALERT_WEBHOOK_SECRET: 'signs alerts; also `_FILE`',
  PUNTAS_WEBHOOK_TOKEN: 'secret path for deliveries of the exchange; also `_FILE`',
  PUNTAS_WEBHOOK_TOKEN_OLD: 'previous token, accepted during a change; also `_FILE`',
  PUNTAS_QUEUE_PASSWORD: 'password of the queue of trials; also `_FILE`',
  PUNTAS_COMMAND: 'how hints spell the command, for example in a container',
  PUNTAS_DEBUG: 'if set, errors print their stack',
};

const table = (head: string, rows: Readonly<Record<string, string>>): string =>
  [`| ${head} | meaning |`, '|---|---|', ...Object.entries(rows).map(([name, does]) => `| \`${name}\` | ${does} |`)].join(
    '\n',
  );

/** docs/environment.md as Markdown, before formatting. */
export function environmentReference(): string {
  const codes = Object.entries(EXIT).map(([name, code]) => [String(code), CODES[name as keyof typeof EXIT]] as const);
  return [
    '<!-- Generated from test/docs/environmentReference.ts by `npm run docs`. -->',
    '# Exit codes, files and environment',
    '## Exit codes',
    table('code', Object.fromEntries(codes)),
    'After Ctrl-C, `npx` and `npm` return 130 instead. `node dist/src/main.js` and the container return the codes above.',
    '## Files',
    'A bot keeps its state in one directory (`state.dir`, default `./state`). It belongs to one bot, and only its user may write to it. Back it up completely, while the bot is stopped.',
    table('file', STATE_FILES),
    'Other folders: `reports/trials` (registry of `tune`), `reports/tapes` (cache of workers), `NAME.promotions` next to a live configuration.',
    '## Environment',
    'A variable with `_FILE` appended names a file that contains the value. Set one of the two, never both. A file that others can read is rejected.',
    table('variable', VARIABLES),
    'Workers and tapes in a bucket also read the usual `AWS_*` variables.',
  ].join('\n\n');
}
