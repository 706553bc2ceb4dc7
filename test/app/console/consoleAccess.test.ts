import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { consoleAccess, LoginEvents } from '../../../src/app/console/consoleAccess.ts';
import { loadConfig, type ConsoleSettings } from '../../../src/config.ts';
import { VirtualClock } from '../../../src/core/index.ts';

let dir: string;
beforeAll(() => void (dir = mkdtempSync(join(tmpdir(), 'puntas-console-'))));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const TOKEN = 'abcdefghijklmnopqrstuvwxyz-0123456789';
const file = (name: string, text: string, mode = 0o600): string => {
  writeFileSync(join(dir, name), text, { mode });
  return join(dir, name);
};
const settings = (more: Partial<ConsoleSettings>): ConsoleSettings => ({
  ...{ besideRun: true, host: '127.0.0.1', port: 0, allowedHosts: [], behindTls: false },
  ...more,
});
const accessOf = (more: Partial<ConsoleSettings>) =>
  consoleAccess(settings(more), new VirtualClock(0), () => undefined);

describe('a token of the console', () => {
  test('is the text of a file that nobody else can read, without the line break at its end', () => {
    const access = accessOf({ operatorTokenFile: file('good', `${TOKEN}\n`) });
    expect([access?.operatorToken, access?.viewerToken]).toEqual([TOKEN, null]);
    const secrets = [1, 2, 3].map(() => access!.newSecret());
    expect(new Set(secrets).size).toBe(3);
    for (const secret of secrets) expect(secret).toMatch(/^[\w-]{43}$/);
  });

  test('that is named nowhere leaves the console open to read, and to nobody to act', () => {
    expect(consoleAccess(undefined, new VirtualClock(0), () => undefined)).toBeNull();
    expect(accessOf({})).toBeNull();
  });

  test.each([
    [
      'other users can read it',
      () => file('open', TOKEN, 0o644),
      /operatorTokenFile .*other users can read or change the file \(mode 0644\); chmod 600/,
    ],
    [
      'is not there',
      () => join(dir, 'none'),
      /none: no such file; create a token for console.operatorTokenFile with: \(umask 077; openssl rand -hex 32 > /,
    ],
    [
      'is short',
      () => file('short', 'x'.repeat(31)),
      /expected a random token of 32 to 512 printable ASCII characters without blanks, found 31 characters; create a token with openssl rand -hex 32/,
    ],
    [
      'has blanks',
      () => file('blanks', `${TOKEN} ${TOKEN}`),
      /found 75 characters, some of them outside printable ASCII; create/,
    ],
    ['is empty', () => file('empty', '\n'), /found 0 characters; create/],
    ['is a folder', () => dir, /: a folder, expected a file; correct console\.operatorTokenFile$/],
  ])('that %s is refused in one line, which does not repeat it', (_, path, line) => {
    const operatorTokenFile = path();
    const attempt = () => accessOf({ operatorTokenFile });
    expect(attempt).toThrow(line);
    expect(attempt).not.toThrow(TOKEN);
  });

  test('may not be the same for both roles', () => {
    const [operatorTokenFile, viewerTokenFile] = [file('one', TOKEN), file('other', `${TOKEN}\n`)];
    expect(() => accessOf({ operatorTokenFile, viewerTokenFile })).toThrow(
      'contain the same token, so a viewer could log in as an operator',
    );
  });
});

describe('the YAML', () => {
  const yaml = (keys: string) => `book: btc_mxn
instance: mm1
exchange: { kind: embedded }
strategy: { name: ladder, reference: mid, halfSpreadBps: 16, levels: 1, amount: '0.01', minEdgeBps: 1 }
limits: { positionMax: '1', orderValueMax: '50000', ordersMax: 12, collarBps: 200, drawdownMax: '1', dayLossMax: '1' }
console: ${keys}
`;
  const told = (keys: string) => {
    const loaded = loadConfig(yaml(keys), 'my.yaml');
    return loaded.ok ? loaded.config.console : loaded.errors.join('\n');
  };

  test('names files of tokens, and {} is enough', () => {
    expect(told('{}')).toEqual(settings({ port: 9_465 }));
    expect(told('{ operatorTokenFile: ./operator.token, viewerTokenFile: /run/secrets/viewer }')).toMatchObject({
      ...{ operatorTokenFile: './operator.token', viewerTokenFile: '/run/secrets/viewer' },
    });
  });

  test.each([
    [`{ operatorTokenFile: ${TOKEN} }`, /expected the path of a file/],
    [`{ operatorToken: ${TOKEN} }`, /secrets do not belong in this file/],
    [`{ viewerToken: ${TOKEN} }`, /secrets do not belong in this file/],
  ])('with a token itself is refused, and it is not repeated: %#', (keys, line) => {
    expect(told(keys)).toMatch(line);
    expect(told(keys)).not.toContain(TOKEN);
  });
});

describe('the door', () => {
  test('tells wrong tokens that follow each other as one event with their count, and logins by name', () => {
    const clock = new VirtualClock(1_000_000);
    const lines: string[] = [];
    const door = new LoginEvents(clock, line => lines.push(line));
    for (let i = 0; i < 5; i++) door.add({ kind: 'wrong token', from: '127.0.0.1' });
    door.add({ kind: 'in', role: 'operator', name: 'Ana' });
    door.add({ kind: 'too many', from: '127.0.0.1' });
    expect(door.shown.map(({ who, text }) => `${who}: ${text}`)).toEqual([
      'Ana, operator: logged in',
      'somebody: 5 wrong tokens entered at the console, the last from 127.0.0.1; logins are blocked for up to a minute',
    ]);
    expect(lines[0]).toBe('somebody: 1 wrong token entered at the console, the last from 127.0.0.1');
  });

  test('keeps no more of a flood than a page has room for', async () => {
    const clock = new VirtualClock(1_000_000);
    const door = new LoginEvents(clock, () => undefined);
    for (let i = 0; i < 500; i++) {
      door.add({ kind: 'wrong token', from: '127.0.0.1' });
      await clock.advance(700_000);
    }
    expect(door.shown).toHaveLength(50);
  });
});
