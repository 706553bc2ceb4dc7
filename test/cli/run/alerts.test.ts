/** Alerts of real processes: a bot that is halted, resumed, killed and stopped, its sentinel, and receivers that are told of each. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { receivers, SECRET, TOKEN } from '../../alerts/receivers.ts';
import { openExchange, type EmbeddedExchange } from '../embeddedExchange.ts';
import { Bench, puntas, ran, type Program } from '../program.ts';

const bench = new Bench();
const running: Program[] = [];
const begin = (...args: Parameters<typeof puntas>): Program => {
  const program = puntas(...args);
  running.push(program);
  return program;
};
let at: Awaited<ReturnType<typeof receivers>>;
let config: string;
let exchange: EmbeddedExchange;
let keys: EmbeddedExchange['keys'];
const TOLD = { PUNTAS_TELEGRAM_TOKEN: TOKEN, PUNTAS_ALERT_WEBHOOK_SECRET: SECRET };

/** Both receivers have it. */
const comes = async (text: RegExp): Promise<void> => {
  while (new Set(at.received.filter(one => text.test(one.text)).map(({ to }) => to)).size < 2)
    await new Promise(resolve => setTimeout(resolve, 50));
};

beforeAll(async () => {
  at = await receivers();
  exchange = await openExchange(bench.config());
  ({ keys } = exchange);
  config = bench.config('sandbox', text =>
    stringify({
      ...(parse(text) as object),
      exchange: { kind: 'remote', restUrl: exchange.url, streamUrl: exchange.stream },
      sentinel: { ttlMs: 5_000 },
      alerts: {
        webhook: { url: `${at.url}/hook` },
        telegram: { chatId: '-100123', url: at.url },
        messagesPer10Min: 50,
      },
    }),
  );
});

afterAll(async () => {
  for (const program of running.reverse()) {
    program.signal('SIGTERM');
    await program.ended;
  }
  await exchange.close();
  at.close();
  bench.clear();
});

test('a halt and its end are told by the bot, its death and what was verified by the sentinel, and a stop with its last word', async () => {
  const bot = begin(['run', '-c', config], { ...keys, ...TOLD });
  const sentinel = begin(['sentinel', '-c', config], { ...keys, ...TOLD });
  await comes(/^demo btc_mxn\n\S+ started: /);
  await bot.sees(/"msg":"quoting"/);
  await ran(['halt', '-c', config, '--reason', 'to see an alert']);
  await comes(/ halted: to see an alert; investigate, then resume with: puntas resume -c /);
  await ran(['resume', '-c', config, '--reason', 'it was only to see an alert']);
  await comes(/ halted: over: to see an alert/);
  bot.signal('SIGKILL');
  const { stderr: dead } = await bot.ended;
  await comes(/ down: its process \d+ is gone; orders of the bot may be live/);
  await comes(/ halted: the bot has shown no life for .* verified: no open orders of demo left; trading stays halted/);
  const next = begin(['run', '-c', config], { ...keys, ...TOLD });
  await comes(/ down: over: /);
  next.signal('SIGTERM');
  const { stderr: stopped } = await next.ended;
  await comes(/ stopped: stopped \(SIGTERM\); verified: no open orders left; since .* UTC: .*halted 1/);
  sentinel.signal('SIGTERM');
  const { stderr: watched } = await sentinel.ended;
  for (const secret of [TOKEN, SECRET, keys.PUNTAS_API_SECRET])
    expect(dead + stopped + watched + JSON.stringify(at.received)).not.toContain(secret);
  expect(
    at.received.filter(({ text }) => / (halted: to|down: its)/.test(text)).map(({ isSilent }) => isSilent),
  ).toEqual([false, false, false, false]);
});

test('puntas alert test says what became of a message on each way, and what is missing', async () => {
  const both = await ran(['alert', 'test', '-c', config], TOLD);
  expect(both.stdout).toMatch(
    /^pass {2}webhook at \S+: delivered after \d+ ms\npass {2}telegram chat -100123: delivered/,
  );
  expect(both.code).toBe(0);
  await comes(/ test: test message: alerts arrive here/);
  const wrong = await ran(['alert', 'test', '-c', config], { ...TOLD, PUNTAS_TELEGRAM_TOKEN: '1:AAAAAAAAAAAAAAAA' });
  expect(wrong.stdout).toContain('fail  telegram chat -100123: answered 404: Not Found');
  expect(wrong.code).toBe(1);
  const missing = await ran(['alert', 'test', '-c', config], { PUNTAS_ALERT_WEBHOOK_SECRET: SECRET });
  expect(missing.stderr).toContain('PUNTAS_TELEGRAM_TOKEN is not set');
  expect(missing.code).toBe(2);
  const nobody = await ran(['alert', 'test', '-c', bench.config()]);
  expect(nobody.stderr).toContain(
    'alerts: no channel is configured; add the section alerts to the YAML (docs/alerts.md)',
  );
});
