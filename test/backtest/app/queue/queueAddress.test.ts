import { describe, expect, test } from 'vitest';
import { isLostConnection } from '../../../../backtest/app/queue/bullQueues.ts';
import { QueueHealth } from '../../../../backtest/app/queue/queueHealth.ts';
import { queueAddress } from '../../../../backtest/app/queue/queueAddress.ts';

const addressOf = (text: string, env: Readonly<Record<string, string>> = {}, file = 'from-file') =>
  queueAddress(text, env, () => file);

describe('the address of a queue', () => {
  test.each([
    ['redis://10.0.0.1:6379', 'redis', 'redis://10.0.0.1:6379'],
    ['rediss://user:pw@queue.example/2', 'redis', 'rediss://queue.example/2'],
    ['postgres://puntas:pw@db:5432/trials?sslmode=require', 'postgres', 'postgres://db:5432/trials'],
    ['postgresql://puntas@db/trials', 'postgres', 'postgresql://db/trials'],
    ['REDIS://:pw@queue', 'redis', 'redis://queue', 'redis://:pw@queue'],
    ['Postgres://u:pw@db/trials', 'postgres', 'postgres://db/trials', 'postgres://u:pw@db/trials'],
  ])('%s is of %s, and shown without user and password', (text, kind, shown, url = text) => {
    expect(addressOf(text)).toEqual({ kind, shown, url });
  });

  test.each([
    ['nothing', /found text that is not a URL/],
    ['topsecret:another@host', /found text that is not a URL$/],
    ['HTTP://:topsecret@host', /found http:\/\/$/],
    ['http://:topsecret@host', /found http:\/\/$/],
    ['redis://:topsecret@host/x', /found another path/],
    ['postgres://u:topsecret@host', /no database/],
    ['redis:///1', /no host/],
    ['redis://:100%topsecret@host', /write this % as %25$/],
    ['postgres://u:100%topsecret@host/trials', /write this % as %25$/],
  ])('%s is refused in one line without its password', (text, line) => {
    expect(() => addressOf(text)).toThrow(line);
    expect(() => addressOf(text)).toThrow(/^(?!.*topsecret).*$/);
  });

  test('takes its password from the environment or a file, as it is, and not from two places', () => {
    const odd = 'p@:/?#%ss';
    for (const env of [{ PUNTAS_QUEUE_PASSWORD: odd }, { PUNTAS_QUEUE_PASSWORD_FILE: '/run/secrets/queue' }]) {
      const { url, shown } = addressOf('redis://host', env, odd);
      expect(decodeURIComponent(new URL(url).password)).toBe(odd);
      expect(shown).toBe('redis://host');
    }
    expect(() => addressOf('redis://:a@host', { PUNTAS_QUEUE_PASSWORD: 'b' })).toThrow(/remove one of the two$/);
    expect(() => addressOf('redis://host', { PUNTAS_QUEUE_PASSWORD: '' })).toThrow(/PUNTAS_QUEUE_PASSWORD is empty/);
  });
});

test('a lost connection is told once and once when it is back, anything else once a minute', () => {
  const said: string[] = [];
  let now = 0;
  const health = new QueueHealth(
    'redis://host',
    line => said.push(line),
    () => now,
  );
  const lost = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  health.works();
  for (let i = 0; i < 5; i++) health.heard(lost);
  now = 7_000;
  health.works();
  health.works();
  for (let i = 0; i < 5; i++) health.heard(new Error('OOM command not allowed'));
  health.heard(new Error('could not renew lock for job t-1'));
  health.heard(new Error('Missing lock for job t-1. moveToFinished'));
  now = 70_000;
  health.heard(new Error('OOM command not allowed'));
  expect(said).toEqual([
    'the connection to redis://host is lost (connect ECONNREFUSED); reconnecting',
    'the connection to redis://host was restored after 7 s',
    'redis://host: OOM command not allowed',
    expect.stringMatching(/^redis:\/\/host: the queue assigned a trial to another worker/),
    'redis://host: OOM command not allowed',
  ]);
});

test.each([
  [new Error('Connection is closed.'), true],
  [Object.assign(new Error('terminating connection'), { code: '57P01' }), true],
  [new AggregateError([Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })], ''), true],
  [new Error('could not renew lock for job 7'), false],
])('%s is of the connection: %s', (error, isLost) => {
  expect(isLostConnection(error)).toBe(isLost);
});
