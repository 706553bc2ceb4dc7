/** The remote control as the process that a run starts: it answers, it halts the running bot by preview and button, and it ends with the run. */
import { afterAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { REMOTE_TOKEN, TelegramDouble } from '../../app/remote/telegramDouble.ts';
import { Bench, endPrograms, puntas, ran } from '../program.ts';

const bench = new Bench();
let telegram: TelegramDouble | null = null;
afterAll(async () => {
  await endPrograms();
  telegram?.close();
  bench.clear();
});

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise(resolve => setTimeout(resolve, 50));
};

test('a run starts it, it halts the bot, its updates are a metric, its token is in no line, and it ends with the run', async () => {
  const chat = (telegram = await new TelegramDouble().start());
  const config = bench.config('sandbox', text =>
    stringify({
      ...(parse(text) as object),
      metrics: { port: 0 },
      alerts: {
        telegram: { chatId: '-100', url: chat.url, remote: { chats: ['-100'], users: ['1'] } },
        events: { started: 'off' },
      },
    }),
  );
  const bot = puntas(['run', '-c', config], { PUNTAS_TELEGRAM_TOKEN: REMOTE_TOKEN });
  const [, url] = await bot.sees(/"msg":"metrics at (http:\S+)\/metrics"/);
  await bot.sees(/"msg":"quoting"/);
  await bot.sees(/remote control: @desk_bot takes commands of the users 1 in the chats -100/);
  const answers = () => chat.sent.filter(({ text }) => !/^demo btc_mxn\n/.test(text));
  chat.says('/status', Date.now() + 1_000);
  await until(() => answers().length === 1);
  expect(answers()[0]!.text).toMatch(/^demo on btc_mxn: runs since /);
  chat.says('/halt a look at it', Date.now() + 1_000, { user: 2 });
  chat.says('/halt a look at it', Date.now() + 1_000);
  await until(() => answers().length === 2);
  expect(answers()[1]!.text).toMatch(
    /^\S+ btc_mxn: preview of halt\. Reason: a look at it\n- \d+ of \d+ live orders would be canceled/,
  );
  chat.presses(chat.lastButton);
  await until(() => answers().length === 3);
  expect(answers()[2]!.text).toMatch(/^demo btc_mxn: Done\.\n- halted: /);
  await bot.sees(/"msg":"[^"]*halted[^"]*a look at it/);
  const page = async () => (await fetch(`${url}/metrics`)).text();
  while (!(await page()).includes('puntas_remote_updates_total{book="btc_mxn",outcome="foreign"} 1'))
    await new Promise(resolve => setTimeout(resolve, 200));
  expect((await ran(['status', '-c', config])).stdout).toMatch(/halt by Telegram 1 \(Ana\)/);
  bot.signal('SIGTERM');
  const { stdout, stderr } = await bot.ended;
  expect(stdout + stderr + JSON.stringify(chat.sent)).not.toContain(REMOTE_TOKEN);
  // The process of the remote control has ended: nothing asks for updates any more.
  const polls = chat.calls.length;
  chat.says('/help', Date.now());
  await new Promise(resolve => setTimeout(resolve, 1_500));
  expect(chat.calls.length).toBe(polls);
});
