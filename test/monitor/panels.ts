/** Each panel of the Grafana dashboards, as they are committed, gets data from a real Prometheus that scrapes three bots that quote: one hedges on another exchange, one has several books and a remote control. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { randomOf, Secret } from '../../src/core/index.ts';
import { exchangeClient, httpTransport, splitAddress } from '../../src/exchange/index.ts';
import { realClock } from '../../src/live/realClock.ts';
import { REMOTE_TOKEN, TelegramDouble } from '../app/remote/telegramDouble.ts';
import { Prometheus } from '../causes/prometheus.ts';
import { within } from '../chaos/programs.ts';
import { SHOWN, Stage, type Account } from '../runbook/stage.ts';

type Target = { readonly refId: string; readonly expr: string };
type Dashboard = {
  readonly panels: readonly { readonly title: string; readonly targets?: readonly Target[] }[];
  readonly annotations: { readonly list: readonly { readonly expr: string }[] };
  readonly templating: { readonly list: readonly { readonly query: unknown }[] };
};
const fileOf = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const dashboards = ['puntas', 'fleet'].map(name => JSON.parse(fileOf(`config/grafana/${name}.json`)) as Dashboard);
type Taker = { close(): Promise<void> };

/** Somebody else who takes what rests on both sides every ten seconds: an error of markouts needs fills of two minutes. */
async function takerOf(stage: Stage): Promise<Taker> {
  const balances = { btc: '1000', mxn: '1000000000' };
  const { key, secret } = (await stage.operator('POST', 'accounts', { balances })) as unknown as Account;
  const { origin, basePath } = splitAddress(stage.face.url);
  const client = exchangeClient({
    clock: realClock(),
    random: randomOf(1),
    transport: httpTransport({ origin, deadlineMs: 30_000 }),
    basePath,
    credentials: { key, secret: new Secret(secret), headers: 'authorization' },
    budgets: { public: 10_000, private: 10_000 },
  });
  const takes = async () => {
    for (const side of ['buy', 'sell'] as const)
      await client.placeOrder({ book: 'btc_mxn', side, type: 'market', major: '0.5' });
  };
  const timer = setInterval(() => void takes(), 10_000);
  return {
    close: () => {
      clearInterval(timer);
      return client.close();
    },
  };
}

/** Fills and markouts come when the market does. */
const PATIENCE_MS = Number(process.env['PUNTAS_PATIENCE_MS'] ?? 420_000);

describe.concurrent('a panel of the dashboard', () => {
  const stage = new Stage();
  const prometheus = new Prometheus(stage.dir);
  const targets: string[] = [];
  let taker: Taker | null = null;
  let telegram: TelegramDouble | null = null;
  /** As Grafana fills it in for all bots. */
  const filled = (expr: string) =>
    expr.replaceAll('$instance', targets.join('|')).replaceAll('$__rate_interval', '30s');

  beforeAll(async () => {
    await prometheus.start();
    // Not in the best tier: then a metric says what is missing to the next.
    const { exchange, ...rest } = parse(fileOf('config/sandbox.yaml')) as { exchange: object };
    const file = join(stage.dir, 'exchange.yaml');
    writeFileSync(file, stringify({ ...rest, exchange: { ...exchange, volume30d: '140000000' } }));
    await stage.openExchange(['-c', file]);
    await stage.operator('PATCH', 'switches', { rateLimits: 'off' });
    // A strategy with a model, fills that are followed, webhooks and a sentinel: then every metric has something to say.
    const { strategy } = parse(fileOf('config/glft.yaml')) as { strategy: object };
    const config = stage.config({ strategy, markouts: {}, webhooks: { port: 0 }, sentinel: { required: true } });
    process.env['PUNTAS_WEBHOOK_TOKEN'] = 'panels-of-the-dashboard-0123456789';
    stage.sentinel(config.file, {});
    const { reference, ...elsewhere } = parse(fileOf('config/elsewhere.yaml')) as { reference: object };
    // Several books share the budgets of requests, and somebody talks to the remote control.
    const chat = (telegram = await new TelegramDouble().start());
    process.env['PUNTAS_TELEGRAM_TOKEN'] = REMOTE_TOKEN;
    const remote = { chats: ['-100'], users: ['1'] };
    const desk = { file: join(stage.dir, 'desk.yaml'), state: join(stage.dir, 'state-desk') };
    const alerts = { telegram: { chatId: '-100', url: chat.url, remote } };
    const changes = { state: { dir: desk.state }, metrics: { port: 0 }, alerts };
    writeFileSync(desk.file, stringify({ ...(parse(fileOf('config/desk.yaml')) as object), ...changes }));
    setInterval(() => chat.says('/status', Date.now()), 10_000).unref();
    for (const bot of [
      stage.run(config),
      stage.run(stage.config({ ...elsewhere, reference: { ...reference, basis: {} } })),
      stage.run(desk),
    ]) {
      await bot.hears(SHOWN);
      targets.push(new URL((await bot.hears(/metrics at \S+/)).slice('metrics at '.length)).host);
    }
    for (const target of targets) prometheus.watch(target);
    taker = await takerOf(stage);
  });
  afterAll(async () => {
    await taker?.close();
    telegram?.close();
    await prometheus.close();
    await stage.close();
  });

  for (const { title, targets = [] } of dashboards.flatMap(({ panels }) => panels))
    for (const { refId, expr } of targets)
      test(`${title}, query ${refId}: ${expr}`, async () => {
        let values: readonly string[] = [];
        const answers = async () => {
          values = await prometheus.asks(filled(expr));
          return values.some(value => value !== 'NaN');
        };
        await within(PATIENCE_MS, answers, 1_000);
        expect(values.filter(value => value !== 'NaN')).not.toEqual([]);
      });

  test('and what is marked in all of them is a query', async () => {
    for (const { expr } of dashboards.flatMap(({ annotations }) => annotations.list))
      await prometheus.asks(filled(expr));
  });
});
