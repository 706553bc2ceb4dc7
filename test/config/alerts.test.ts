/** The section alerts of the YAML, and the secrets that it needs. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { loadConfig, readAlertSecrets } from '../../src/config.ts';

const SANDBOX = readFileSync(new URL('../../config/sandbox.yaml', import.meta.url), 'utf8');
const loaded = (section: string) => loadConfig(`${SANDBOX}\nalerts: ${section}\n`, 'a.yaml');

test('on, silent and off are words, and everything else has a default', () => {
  const taken = loaded('{ telegram: { chatId: "-1001" }, events: { fill: on, halted: silent, wide: off } }');
  if (!taken.ok) throw new Error(taken.errors.join('\n'));
  expect(taken.config.alerts?.events).toMatchObject({ fill: 'on', halted: 'silent', wide: 'off', down: 'on' });
  expect(taken.config.alerts).toMatchObject({ messagesPer10Min: 12, digestAt: '00:00' });
});

test('the remote control accepts no resume, and starts with the run, unless the file says otherwise', () => {
  const taken = loaded('{ telegram: { chatId: "-1001", remote: { chats: ["-1001"], users: ["7"] } } }');
  if (!taken.ok) throw new Error(taken.errors.join('\n'));
  expect(taken.config.alerts?.telegram?.remote).toEqual({
    chats: ['-1001'],
    users: ['7'],
    resume: false,
    besideRun: true,
  });
});

test.each([
  ['{}', 'expected webhook, telegram or both; omit the section to send no alerts'],
  ['{ telegram: { chatId: "my chat" } }', 'expected a chat id or a channel name in quotation marks'],
  ['{ telegram: { chatId: "1" }, digestAt: "25:00" }', 'expected a UTC time in quotation marks'],
  ['{ webhook: { url: http://example.com/in } }', 'write https://example.com/in'],
  ['{ webhook: { url: https://user:word@example.com } }', 'without user, query'],
  ['{ telegram: { chatId: "1", token: "1:abc" } }', 'secrets do not belong in this file'],
  ['{ webhook: {}, events: { halt: off } }', 'halted'],
  ['{ telegram: { chatId: "1", remote: { users: ["1"] } } }', 'remote.chats'],
  ['{ telegram: { chatId: "1", remote: { chats: ["1"], users: [] } } }', 'remote.users'],
  [
    '{ telegram: { chatId: "1", remote: { chats: ["@my_channel"], users: ["1"] } } }',
    'expected a chat id in quotation',
  ],
  ['{ telegram: { chatId: "1", remote: { chats: ["1"], users: ["ana"] } } }', 'expected a user id in quotation marks'],
  ['{ telegram: { chatId: "1", remote: { chats: [-1], users: ["1"] } } }', 'remote.chats'],
])('%s is refused: %s', (section, why) => {
  const refused = loaded(section);
  expect(refused.ok ? 'taken' : refused.errors.join('\n')).toContain(why);
});

const files: Readonly<Record<string, string>> = { '/run/token': '12345:abcdefghijklmnop\n' };
const read = (settings: Parameters<typeof readAlertSecrets>[0], env: Record<string, string>) => {
  const secrets = readAlertSecrets(
    settings,
    env,
    path => files[path]!,
    text => text,
  );
  return secrets.ok ? secrets.secrets : secrets.errors;
};

test('secrets come from the environment or from files, as far as they are needed', () => {
  expect(read({ telegram: {} }, { PUNTAS_TELEGRAM_TOKEN_FILE: '/run/token' })).toEqual({
    telegramToken: '12345:abcdefghijklmnop',
    webhookSecret: null,
    webhookUrl: null,
  });
  const env = {
    PUNTAS_ALERT_WEBHOOK_URL: 'https://a.example/x',
    PUNTAS_ALERT_WEBHOOK_SECRET: 'sixteen characters'.replace(' ', '-'),
  };
  expect(read({ webhook: {} }, env)).toEqual({
    telegramToken: null,
    webhookSecret: 'sixteen-characters',
    webhookUrl: 'https://a.example/x',
  });
  expect(read({ webhook: { url: 'https://b.example' } }, {})).toMatchObject({ webhookSecret: null, webhookUrl: null });
});

test.each([
  [{ telegram: {} }, {}, 'PUNTAS_TELEGRAM_TOKEN is not set'],
  [{ telegram: {} }, { PUNTAS_TELEGRAM_TOKEN: 'bot' }, 'PUNTAS_TELEGRAM_TOKEN: expected a token from @BotFather'],
  [{ webhook: {} }, {}, 'PUNTAS_ALERT_WEBHOOK_URL is not set'],
  [{ webhook: {} }, { PUNTAS_ALERT_WEBHOOK_URL: 'http://a.example/x' }, 'expected an address with https://'],
  [
    { webhook: { url: 'https://b.example' } },
    { PUNTAS_ALERT_WEBHOOK_SECRET: 'short' },
    'PUNTAS_ALERT_WEBHOOK_SECRET: expected 16 characters',
  ],
])('%j with %j is refused: %s', (settings, env, why) => {
  expect(read(settings, env)).toEqual([expect.stringContaining(why)]);
});
