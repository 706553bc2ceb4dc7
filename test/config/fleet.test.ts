/** The YAML of a fleet: what is accepted, and one clear line for each error. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { loadFleet } from '../../src/config.ts';

const errors = (text: string): readonly string[] => {
  const loaded = loadFleet(text, 'f.yaml');
  return loaded.ok ? [] : loaded.errors;
};
const bots = (...of: string[]) => `currency: mxn\nbots:\n${of.map(bot => `  - { ${bot} }\n`).join('')}`;

test('the shipped example is accepted, and points editors to its schema', () => {
  const text = readFileSync(new URL('../../config/fleet.yaml', import.meta.url), 'utf8');
  expect(errors(text)).toEqual([]);
  expect(text).toMatch(/^# yaml-language-server: \$schema=\.\/fleet\.schema\.json\n/);
  // Also what it has as a comment.
  const whole = text.replace(/^( *)# (- name|  (?:url|tokenFile|caFile))/gm, '$1$2');
  expect(whole).not.toBe(text);
  expect(errors(whole)).toEqual([]);
});

test('omitted keys have their defaults', () => {
  const loaded = loadFleet(bots('name: a, url: "https://a.example"'), 'f.yaml');
  expect(loaded.ok && loaded.config).toMatchObject({
    ...{ host: '127.0.0.1', port: 9466, allowedHosts: [], behindTls: false },
    bots: [{ plainHttp: false }],
  });
});

const SHA = Array.from({ length: 32 }, () => 'AB').join(':');

describe('an error names its line, its key and what to write', () => {
  test.each([
    ['currency: mxn\n', /^f\.yaml:1:1 bots: missing/],
    [
      'currency: MXN\nbots: [{ name: a, url: https://a.example }]\n',
      /^f\.yaml:1:11 currency: expected a currency like "mxn", found MXN/,
    ],
    [bots(), /bots: expected/],
    [bots('name: a, url: "ftp://a"'), /bots\.0\.url: expected the address of a console, like https/],
    [bots('name: a, url: "https://ana:pw@a.example"'), /without user and password; write the token into a file/],
    [bots('name: a, url: "https://a.example/?x=1"'), /without query and fragment/],
    [
      bots('name: a, url: "http://10.0.0.5:9465"'),
      /http to another machine is not encrypted; use https, or set plainHttp: true/,
    ],
    [bots('name: a, url: "http://localhost.evil.example"'), /http to another machine is not encrypted/],
    [
      bots('name: a, url: "https://a.example"', 'name: a, url: "https://b.example"'),
      /f\.yaml:4:\d+ bots\.1\.name: bots\.0 has this name too/,
    ],
    [
      bots('name: a, url: "https://a.example"', 'name: b, url: "HTTPS://A.example:443/"'),
      /bots\.1\.url: bots\.0 has this address too; its profit would count twice/,
    ],
    [
      bots('name: a, url: "https://a.example", tokenFile: ./a.token, tokenVariable: A_TOKEN'),
      /tokenVariable: tokenFile is set too/,
    ],
    [
      bots('name: a, url: "https://a.example", tokenFile: 0123456789abcdef0123456789abcdef'),
      /tokenFile: expected the path of a file/,
    ],
    [
      bots(`name: a, url: "https://a.example", caFile: ./a.pem, fingerprint: "${SHA}"`),
      /fingerprint: caFile is set too/,
    ],
    [
      bots('name: a, url: "https://a.example", fingerprint: "AB:CD"'),
      /fingerprint: expected the SHA-256 of a certificate/,
    ],
    [bots('name: a, url: "http://127.0.0.1:1", caFile: ./a.pem'), /caFile: has no effect, because url is http/],
    [
      `${bots('name: a, url: "https://a.example"')}behindTls: true\n`,
      /behindTls: a proxy lets others reach the page; set viewerTokenFile too/,
    ],
    [`${bots('name: a, url: "https://a.example"')}ports: 1\n`, /ports: unknown key; did you mean port\?/],
    [bots('name: a, url: "https://a.example", token: abc'), /bots\.0\.token: unknown key/],
    [bots('name: "<b>", url: "https://a.example"'), /name: expected a name of letters/],
    ['- 1\n', /f\.yaml:1:1 expected keys and values, like currency: mxn/],
  ])('%j', (text, message) => {
    const found = errors(text);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(message);
  });

  test('and more than 200 bots are refused', () => {
    const many = (count: number) =>
      bots(...Array.from({ length: count }, (_, i) => `name: b${i}, url: "https://b${i}.example"`));
    expect(errors(many(200))).toEqual([]);
    expect(errors(many(201))[0]).toMatch(/bots: expected at most 200/);
  });
});

test('http to another machine is accepted where it is allowed', () => {
  expect(errors(bots('name: a, url: "http://10.0.0.5:9465", plainHttp: true'))).toEqual([]);
  expect(errors(bots('name: a, url: "http://[::1]:9465"', 'name: b, url: "http://127.9.9.9:1"'))).toEqual([]);
});
