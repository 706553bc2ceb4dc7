import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  readAlertSecrets,
  readQueuePassword,
  readSecrets,
  readWebhookTokens,
  unreadVariables,
} from '../../src/config.ts';
import { sourcesIn } from '../imports.ts';

const files: Record<string, string> = {
  '/run/key': 'filekey\n',
  '/run/secret': '  filesecret  \r\n',
  '/run/empty': '\n',
};
const readFile = (path: string): string => {
  const text = files[path];
  if (text === undefined) throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
  return text;
};
const read = (env: Record<string, string>) => readSecrets(env, readFile, text => ({ reveal: () => text }));

describe('secrets', () => {
  test('come from the environment', () => {
    const result = read({ PUNTAS_API_KEY: ' k1 ', PUNTAS_API_SECRET: 's1\n' });
    expect(result.ok && [result.secrets.apiKey, result.secrets.apiSecret.reveal()]).toEqual(['k1', 's1']);
  });

  test('of the other exchange have names of their own', () => {
    const env = { PUNTAS_API_KEY: 'here', PUNTAS_ELSEWHERE_API_KEY: 'there', PUNTAS_ELSEWHERE_API_SECRET: 's' };
    const result = readSecrets(env, readFile, text => text, 'PUNTAS_ELSEWHERE');
    expect(result).toEqual({ ok: true, secrets: { apiKey: 'there', apiSecret: 's' } });
    expect(readSecrets({ PUNTAS_API_KEY: 'here' }, readFile, text => text, 'PUNTAS_ELSEWHERE')).toMatchObject({
      errors: [
        expect.stringContaining('PUNTAS_ELSEWHERE_API_KEY is not set'),
        expect.stringContaining('PUNTAS_ELSEWHERE_API_SECRET is not set'),
      ],
    });
  });

  test('or from the files that the environment names, white space trimmed', () => {
    const result = read({ PUNTAS_API_KEY_FILE: '/run/key', PUNTAS_API_SECRET_FILE: '/run/secret' });
    expect(result.ok && [result.secrets.apiKey, result.secrets.apiSecret.reveal()]).toEqual(['filekey', 'filesecret']);
  });

  test.each([
    [{}, ['PUNTAS_API_KEY is not set', 'PUNTAS_API_SECRET is not set']],
    [
      { PUNTAS_API_KEY: 'a', PUNTAS_API_KEY_FILE: '/run/key', PUNTAS_API_SECRET: 's' },
      ['PUNTAS_API_KEY and PUNTAS_API_KEY_FILE are both set'],
    ],
    [
      { PUNTAS_API_KEY_FILE: '/nowhere', PUNTAS_API_SECRET: 's' },
      ['/nowhere: no such file; correct PUNTAS_API_KEY_FILE'],
    ],
    [{ PUNTAS_API_KEY: '', PUNTAS_API_SECRET: 's' }, ['PUNTAS_API_KEY is empty']],
    [{ PUNTAS_API_KEY: 'k', PUNTAS_API_SECRET_FILE: '/run/empty' }, ['PUNTAS_API_SECRET_FILE (/run/empty) is empty']],
    [{ PUNTAS_API_KEY: 'two words', PUNTAS_API_SECRET: 's' }, ['PUNTAS_API_KEY contains spaces']],
  ])('%j is refused, each flaw in one line', (env, starts) => {
    const result = read(env);
    expect(result.ok).toBe(false);
    expect(result.ok ? [] : result.errors).toEqual(starts.map(start => expect.stringContaining(start) as string));
  });

  test('are in no error about them', () => {
    const result = read({ PUNTAS_API_KEY: 'canary one', PUNTAS_API_SECRET: 'canary two' });
    expect(JSON.stringify(result)).not.toContain('canary');
  });
});

test('each secret is the same from its file as from the environment, whichever are set', () => {
  /** Valid values, all different. */
  const VALUES: Readonly<Record<string, string>> = {
    PUNTAS_API_KEY: 'key',
    PUNTAS_API_SECRET: 'secret',
    PUNTAS_ELSEWHERE_API_KEY: 'key-there',
    PUNTAS_ELSEWHERE_API_SECRET: 'secret-there',
    PUNTAS_QUEUE_PASSWORD: 'queue-password',
    PUNTAS_WEBHOOK_TOKEN: 'a-token-of-many-letters',
    PUNTAS_WEBHOOK_TOKEN_OLD: 'an-old-token-of-many-letters',
    PUNTAS_TELEGRAM_TOKEN: '123456:ABC-DEFGHIJ',
    PUNTAS_ALERT_WEBHOOK_SECRET: 'sixteen-letters-or-more',
    PUNTAS_ALERT_WEBHOOK_URL: 'https://example.com/alerts',
  };
  const names = Object.keys(VALUES);
  const fromFile = (path: string): string => VALUES[path.slice('/run/'.length)]!;
  const readAll = (env: Readonly<Record<string, string>>) => [
    readSecrets(env, fromFile, String),
    readSecrets(env, fromFile, String, 'PUNTAS_ELSEWHERE'),
    readQueuePassword(env, fromFile),
    readWebhookTokens(env, fromFile),
    readAlertSecrets({ webhook: {}, telegram: {} }, env, fromFile, String),
  ];
  fc.assert(
    fc.property(fc.subarray(names), fc.subarray(names), (set, inFiles) => {
      const direct = Object.fromEntries(set.map(name => [name, VALUES[name]!]));
      const filed = set.map(name =>
        inFiles.includes(name) ? [`${name}_FILE`, `/run/${name}`] : [name, VALUES[name]!],
      );
      const found = readAll(direct);
      expect(readAll(Object.fromEntries(filed) as Record<string, string>)).toEqual(found);
      // Each value is found exactly once, unless another variable of its group is missing.
      for (const name of set) {
        const times = JSON.stringify(found).split(JSON.stringify(VALUES[name])).length - 1;
        expect(times, name).toBeLessThanOrEqual(1);
        if (set.length === names.length) expect(times, name).toBe(1);
      }
    }),
    { examples: [[names, names]] },
  );
});

describe('a variable that would not be read', () => {
  const FULL = { alerts: { webhook: {}, telegram: {} }, webhooks: {}, elsewhere: { kind: 'remote' } };
  const names = sourcesIn('src').flatMap(({ text }) => [...text.matchAll(/(?<=['"`])PUNTAS_[A-Z_]*[A-Z](?=['"`])/g)]);
  const read = [...new Set(names.map(([name]) => name))].filter(name => name !== 'PUNTAS_ELSEWHERE');

  test('is none of those in the program', () => {
    expect(read).toContain('PUNTAS_ALERT_WEBHOOK_SECRET');
    expect(unreadVariables(FULL, [...read, 'PATH', 'PUNTAS_API_SECRET_FILE'])).toEqual([]);
  });

  test.each([
    ['PUNTAS_TELEGRAM_TOKEN', 'the configuration lacks alerts.telegram'],
    ['PUNTAS_ALERT_WEBHOOK_SECRET_FILE', 'the configuration lacks alerts.webhook'],
    ['PUNTAS_ALERT_WEBHOOK_URL', 'the configuration lacks alerts.webhook, or sets alerts.webhook.url'],
    ['PUNTAS_WEBHOOK_TOKEN', 'the configuration lacks the section webhooks'],
    ['PUNTAS_WEBHOOK_TOKEN_OLD', 'the configuration lacks the section webhooks'],
    ['PUNTAS_ELSEWHERE_API_KEY', 'the configuration lacks elsewhere.kind: remote'],
    ['PUNTAS_ELSEWHERE_API_SECRET_FILE', 'the configuration lacks elsewhere.kind: remote'],
  ])('is %s without what needs it: %s', (name, says) => {
    expect(unreadVariables({}, [name])).toEqual([`${name} is not read, because ${says}`]);
    expect(unreadVariables(FULL, [name])).toEqual([]);
  });

  test.each([
    ['PUNTAS_ALERT_WEBHOOK_SECRETS', 'PUNTAS_ALERT_WEBHOOK_SECRET'],
    ['PUNTAS_ALERTS_WEBHOOK_SECRET', 'PUNTAS_ALERT_WEBHOOK_SECRET'],
    ['PUNTAS_API_KEYFILE', 'PUNTAS_API_KEY_FILE'],
    ['PUNTAS_DEBUG_FILE', 'PUNTAS_DEBUG'],
  ])('is %s, and the nearest known name is %s', (name, nearest) => {
    expect(unreadVariables(FULL, [name])).toEqual([expect.stringContaining(`the nearest known name is ${nearest}`)]);
  });

  test('is none that Kubernetes sets for a service', () => {
    const own = ['PUNTAS_SERVICE_HOST', 'PUNTAS_PORT_9464_TCP_ADDR', 'PUNTAS_BOT_SERVICE_PORT_METRICS', 'PUNTAS_PORT'];
    expect(unreadVariables(FULL, own)).toEqual([]);
  });
});
