/** Webhook commands: register the callback address at the exchange, and list deliveries. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import {
  counted,
  findContradictions,
  joinTransactions,
  transactionFromEvent,
  type TransactionState,
  type ExchangeVenue,
} from '../../core/index.ts';
import { INBOX_FILE, openInboxStore } from '../../live/inbox/store.ts';
import { realClock } from '../../live/realClock.ts';
import { clientOf } from '../../wiring/bot.ts';
import { readConfig } from '../../wiring/configFile.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { callbackOf, webhookTokens } from '../../wiring/inbox.ts';
import { venueNamed, venueOf } from '../../wiring/venueRegistry.ts';
import { folderOf } from './botFlags.ts';
import { remoteVenue } from '../../wiring/venueAccess.ts';
import { print } from '../terminal/output.ts';

/**
 * Adds the webhook commands. `webhooks register` (rfq 4.7) ends with exit code 1 if the exchange rejects the request or
 * does not answer. `webhooks list` only reads the state directory.
 */
export function addWebhookCommands(program: Command): void {
  const webhooks = program.command('webhooks').description('register webhooks and list their deliveries');

  webhooks
    .command('register')
    .description('register the URL webhooks.callbackUrl/hooks/TOKEN at the exchange')
    .requiredOption('-c, --config <file>', 'configuration of the bot')
    .action(async (options: { config: string }) => {
      const config = readConfig(options.config);
      if (config.exchange.kind !== 'remote')
        throw new UsageError(
          'webhooks register needs a remote exchange; the embedded exchange exists only while the bot runs',
        );
      const base = config.webhooks?.callbackUrl;
      if (base === undefined)
        throw new UsageError(
          'webhooks.callbackUrl is missing; set it to the address at which the exchange reaches this bot',
        );
      const [token = ''] = webhookTokens();
      const venue = remoteVenue(config.exchange);
      const { webhookUrl } = config.exchange;
      const client = clientOf(config, webhookUrl === undefined ? venue : { ...venue, webhookUrl }, realClock(), 1);
      try {
        if (!client.webhooks)
          throw new UsageError('the exchange in this configuration has no webhooks, so there is nothing to register');
        const outcome = await client.webhooks.register(callbackOf(base, token));
        if (outcome.kind === 'refused')
          throw new UsageError(`the exchange rejected the registration: ${outcome.message}`, 1);
        if (outcome.kind === 'unknown')
          throw new UsageError(
            `no usable answer to the registration (${outcome.reason}), so it is unknown whether the webhook is registered; run the command again`,
            1,
          );
        for (const { id, event } of outcome.value) print(`registered as ${id} for ${event}: ${base}/hooks/…`);
      } finally {
        await client.close();
      }
    });

  webhooks
    .command('list')
    .description('list transactions reported by webhooks')
    .option('-c, --config <file>', 'configuration of the bot')
    .option('--state <dir>', 'state directory (default: state.dir, or ./state)')
    .option('--json', 'print one JSON object per line', false)
    .action((options: { config?: string; state?: string; json: boolean }) => {
      const dir = options.config === undefined && options.state === undefined ? './state' : folderOf(options);
      if (!existsSync(join(dir, INBOX_FILE)))
        throw new UsageError(`${dir}: no ${INBOX_FILE} found; expected the state directory of a bot with webhooks`);
      const venue = options.config === undefined ? venueNamed(undefined) : venueOf(readConfig(options.config));
      for (const line of listed(dir, options.json, venue)) print(line);
    });
}

function listed(dir: string, asJson: boolean, venue: ExchangeVenue): string[] {
  const states = new Map<string, TransactionState>();
  const store = openInboxStore(dir, { rows: Infinity, bytes: Infinity });
  let unread = 0;
  try {
    for (const { body } of store.all()) {
      const read = venue.webhooks?.read(body.toString('utf8'));
      if (read?.kind !== 'transaction') {
        unread++;
        continue;
      }
      const told = transactionFromEvent(read.event);
      const known = states.get(told.id);
      states.set(told.id, known ? joinTransactions(known, told) : told);
    }
  } finally {
    store.close();
  }
  const rows = [...states.values()].map(state => (asJson ? transactionJson(state) : lineOf(state)));
  return asJson || unread === 0
    ? rows
    : [
        ...rows,
        `${counted(unread, 'webhook delivery is', 'webhook deliveries are')} not listed, because they contain no readable transaction`,
      ];
}

function lineOf(state: TransactionState): string {
  const { id, kinds, status, refund } = state;
  const wrong = findContradictions(state);
  return [
    new Date(status.at).toISOString(),
    [...kinds].join('/'),
    id,
    status.value,
    ...(refund === null ? [] : [`refund ${refund.status.value}`]),
    ...(wrong.length === 0 ? [] : [`CONTRADICTORY: ${wrong.join('; ')}`]),
  ].join('  ');
}

function transactionJson(state: TransactionState): string {
  const { id, kinds, status, fields, refund } = state;
  const steps =
    refund && [...refund.steps].map(([step, { status: at, id: leg }]) => ({ step, status: at.value, id: leg?.value }));
  return JSON.stringify({
    id,
    types: [...kinds],
    status: status.value,
    updatedAt: new Date(status.at).toISOString(),
    ...Object.fromEntries([...fields].map(([name, { value }]) => [name, JSON.parse(value) as unknown])),
    ...(refund === null ? {} : { refund: { status: refund.status.value, steps } }),
    contradictions: findContradictions(state),
  });
}
