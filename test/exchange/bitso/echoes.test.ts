/** An exchange, or a proxy before it, may answer with what it was sent, and with what a terminal obeys: neither comes out anywhere. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { logger } from '../../../src/cli/terminal/logger.ts';
import { remoteVenue } from '../../../src/wiring/venueAccess.ts';
import { guardTerminal } from '../../../src/cli/terminal/terminal.ts';
import { loadConfig } from '../../../src/config.ts';
import { maskedText, randomOf, Secret, shownLines, shownText, VirtualClock } from '../../../src/core/index.ts';
import { exchangeClient, httpTransport } from '../../../src/exchange/index.ts';

const KEY = 'the-key+of/an=account';
const SECRET = 'the-secret-of-the-account';
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** Answers every request with its own headers in an error. */
async function echoing(answer: (request: IncomingMessage) => { status: number; body: string }): Promise<string> {
  const server = createServer((request, reply) => {
    const { status, body } = answer(request);
    reply.writeHead(status).end(body);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => new Promise(resolve => (server.close(resolve), server.closeAllConnections())));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const ESCAPE = '\u001b]0;owned\u0007\u001b[2J\u202e';

describe('an error that says what it was sent', () => {
  const spellings: readonly (readonly [string, (header: string) => string])[] = [
    ['as it came', header => header],
    ['as a web address spells it', header => encodeURIComponent(header)],
    ['in capitals', header => header.replace(/[0-9a-f]{64}/g, hex => hex.toUpperCase())],
    ['in quotes', header => JSON.stringify({ authorization: header })],
  ];
  describe.each(['authorization', 'three'] as const)('with the credentials in %s', headers => {
    test.each(spellings)('%s comes out without key, signature and escapes, in outcome and log', async (_, spell) => {
      const sent: string[] = [];
      const origin = await echoing(({ headers: { authorization, key, signature, nonce } }) => {
        sent.push(...[/[0-9a-f]{64}/.exec(authorization ?? '')?.[0] ?? String(signature)]);
        const echo = authorization ?? `key: ${String(key)}, signature=${String(signature)}, nonce ${String(nonce)}`;
        const message = `bad header ${spell(echo)} ${ESCAPE}`;
        return { status: 401, body: JSON.stringify({ success: false, error: { code: '0201', message } }) };
      });
      const client = exchangeClient({
        transport: httpTransport({ origin, deadlineMs: 60_000 }),
        clock: new VirtualClock(),
        random: randomOf(1),
        credentials: { key: KEY, secret: new Secret(SECRET), headers },
      });
      ends.push(() => client.close());
      const outcome = await client.balances();
      const place = await client.place({
        book: 'btc_mxn',
        side: 'buy',
        price: '1',
        major: '1',
        originId: 'x',
        timeInForce: 'post only',
      });
      const lines: string[] = [];
      const log = logger('debug', [SECRET, KEY], { write: line => void lines.push(line) });
      log.error(
        { outcome, raw: `Bitso ${KEY}:1:${sent[0]}` },
        `refused: ${JSON.stringify(place)} ${spell(KEY)} ${ESCAPE}`,
      );
      expect(sent).toHaveLength(2);
      expect(JSON.stringify(outcome)).toContain('bad header');
      const everything = [JSON.stringify(outcome), JSON.stringify(place), ...lines].join('\n');
      for (const hidden of [KEY, encodeURIComponent(KEY), SECRET, ...sent, ...sent.map(hex => hex.toUpperCase())])
        expect(everything).not.toContain(hidden);
      expect(everything).not.toMatch(/\u001b|\\u001b|\u0007|\\u0007|\u202e/);
    });
  });

  test('leaves the hash of a transaction, other hashes that a person needs, and ordinary words alone', () => {
    const hash = `0x${'ab'.repeat(32)}`;
    const text = `Bitso answered: deposit ${hash} of a_${'1'.repeat(64)}z; nonce 17`;
    expect(maskedText(text, [KEY, SECRET, 'no'])).toBe(text);
  });
});

describe('text from outside', () => {
  test('commands no terminal, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), text => {
        expect(shownText(text)).not.toMatch(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u);
        expect(shownLines(text)).not.toMatch(/[^\P{Cc}\n\t]/u);
        expect(shownLines(shownLines(text))).toBe(shownLines(text));
      }),
    );
  });

  test('is printed by commands as text', () => {
    const printed: unknown[] = [];
    const target = {
      log: (...texts: unknown[]) => void printed.push(...texts),
      error: (...texts: unknown[]) => void printed.push(...texts),
    };
    guardTerminal({ log: {}, error: {} }, target);
    target.log(`two\nlines${ESCAPE}`, 7);
    target.error('\u009b31m');
    expect(printed).toEqual(['two\nlines\ufffd]0;owned\ufffd\ufffd[2J\ufffd', 7, '\ufffd31m']);
  });
});

describe('an environment in which any certificate passes', () => {
  test('is refused before a key is read, with what to do', () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    ends.push(() => vi.unstubAllEnvs());
    expect(() => remoteVenue({ restUrl: 'https://api.example.com' })).toThrow(
      /^NODE_TLS_REJECT_UNAUTHORIZED=0 is set .* unset NODE_TLS_REJECT_UNAUTHORIZED, and set NODE_EXTRA_CA_CERTS /,
    );
  });
});

describe('a configuration of thousands of unknown keys', () => {
  test('is answered with fifty of them and how many more there are', () => {
    const text = Array.from({ length: 20_000 }, (_, n) => `ordersmaxi${n}: 1`).join('\n');
    expect(text.length).toBeGreaterThan(65_536);
    expect(loadConfig(text, 'x.yaml')).toMatchObject({ ok: false, errors: [expect.stringContaining('larger than')] });
    const short = Array.from({ length: 1_400 }, (_, n) => `k${n}:`).join('\n');
    const loaded = loadConfig(short, 'x.yaml');
    if (loaded.ok) throw new Error('it was taken');
    const unknown = loaded.errors.filter(line => line.includes('unknown key'));
    expect(unknown).toHaveLength(51);
    expect(unknown.at(-1)).toBe('x.yaml:51:1 k50: unknown key; 1349 more unknown keys are not listed');
  });
});
