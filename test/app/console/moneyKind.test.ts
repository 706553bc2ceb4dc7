/** Kind of a bot's money: a simulator's money is never counted as real. */
import { expect, test } from 'vitest';
import { moneyKind } from '../../../src/app/console/console.ts';
import type { Config } from '../../../src/config.ts';

const remote = (restUrl: string) => ({ kind: 'remote', restUrl }) as Config['exchange'];
const embedded = { kind: 'embedded' } as Config['exchange'];

test.each([
  ['a real exchange', [remote('https://api.bitso.com')], false, 'real'],
  ['paper on a real exchange', [embedded, remote('https://api.bitso.com')], true, 'paper'],
  ['an embedded exchange', [embedded], false, 'play'],
  ['an exchange of this machine', [remote('http://127.0.0.1:9400')], false, 'play'],
  ['an exchange of this machine by name', [remote('http://localhost:9400/api')], false, 'play'],
  ['an exchange of this machine over IPv6', [remote('http://[::1]:9400')], false, 'play'],
  ['paper on an exchange of this machine', [embedded, remote('http://127.0.0.1:9400')], true, 'play'],
  ['a host that only looks like this machine', [remote('https://127.0.0.1.example.com')], false, 'real'],
] as const)('the money of %s', (_, exchanges, isPaper, kind) => {
  expect(moneyKind(exchanges, isPaper)).toBe(kind);
});
