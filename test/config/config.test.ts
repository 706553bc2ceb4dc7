import { readdirSync, readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NO_CONFIGURATION } from '../shippedConfigs.ts';
import { parse } from 'yaml';
import { edgeProblem, loadConfig, type Config } from '../../src/config.ts';
import { strategies } from '../../strategies/index.ts';
import { moneyOf, rateCeil } from '../../src/core/index.ts';
import { runsOf, sized } from '../many.ts';

const folder = new URL('../../config/', import.meta.url);
const shipped = readdirSync(folder).filter(name => name.endsWith('.yaml') && !NO_CONFIGURATION.includes(name));
const textOf = (name: string): string => readFileSync(new URL(name, folder), 'utf8');

const VALID = `book: btc_mxn
instance: demo
exchange:
  kind: embedded
strategy:
  name: ladder
  halfSpreadBps: 11
  levels: 2
  amount: '0.004'
limits:
  positionMax: '0.1'
  orderValueMax: '50000'
  ordersMax: 12
  collarBps: 200
  drawdownMax: '100'
  dayLossMax: '100'
`;

const checked = (text: string): Config => {
  const loaded = loadConfig(text, 'a.yaml');
  if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
  return loaded.config;
};
const errorsOf = (text: string): readonly string[] => {
  const loaded = loadConfig(text, 'a.yaml');
  return loaded.ok ? [] : loaded.errors;
};
const withLine = (line: string): string => VALID + line;
const replaced = (what: string, by: string): string => {
  expect(VALID).toContain(what);
  return VALID.replace(what, by);
};

describe('a configuration that is shipped', () => {
  test.each(shipped)('%s passes every check and points editors to the schema', name => {
    const text = textOf(name);
    expect(loadConfig(text, name)).toMatchObject({ ok: true });
    expect(text).toMatch(/^# yaml-language-server: \$schema=\.\/schema\.json\n/);
  });

  test.each([
    ['sandbox.yaml', '0.001'],
    ['live.yaml', '0.006'],
    ['eth_usd.yaml', '0.0004'],
    ['btc_usd.yaml', '0.0004'],
  ])('%s earns something over two maker fees of %s', (name, rate) => {
    expect(edgeProblem(checked(textOf(name)), rateCeil(rate))).toBeNull();
  });

  test('sandbox.yaml trades on no other exchange than the embedded one', () => {
    expect(checked(textOf('sandbox.yaml')).exchange.kind).toBe('embedded');
  });
});

describe('defaults', () => {
  test('are filled in for every section that is left out', () => {
    expect(checked(VALID)).toMatchObject({
      exchange: {
        market: { kind: 'flow' },
        budgets: { publicPerMinute: 54, privatePerMinute: 270 },
        requestTimeoutMs: 5000,
        authentication: 'bitso',
        port: 0,
      },
      strategy: { reference: 'mid', skew: { priceBpsAtLimit: 0 }, optimization: { enabled: false }, pingPong: false },
      inventory: {},
      timing: {
        decideEveryMs: 1000,
        bookPollMs: 1250,
        requestDelayMaxMs: 50_000,
        tradeReportDelayMaxMs: 20_000,
        shutdownMs: 60_000,
      },
      metrics: { host: '127.0.0.1', port: 9464, allowedHosts: [] },
      state: { dir: './state' },
      log: { level: 'info' },
    });
  });

  test('never exist for a limit: each one that is missing is named, and that the book is then not traded', () => {
    for (const key of ['positionMax', 'orderValueMax', 'ordersMax', 'collarBps', 'drawdownMax', 'dayLossMax']) {
      const text = VALID.replace(new RegExp(`  ${key}: .*\n`), '');
      expect(errorsOf(text)).toEqual([
        expect.stringMatching(`^a\\.yaml:10:1 limits\\.${key}: missing; required to trade the book`),
      ]);
    }
    expect(errorsOf(VALID.replace(/limits:[^]*/, ''))).toEqual([
      'a.yaml:1:1 limits: missing; required to trade the book; expected the keys positionMax, orderValueMax, ordersMax, collarBps, drawdownMax, dayLossMax',
    ]);
  });
});

describe('an error', () => {
  test.each([
    ['a mistyped key', withLine('timeing: {}'), 'a.yaml:17:1 timeing: unknown key; did you mean timing?'],
    [
      'a key in the words of another bot',
      replaced('orderValueMax:', 'max_order_value:'),
      'a.yaml:12:3 limits.max_order_value: unknown key; did you mean orderValueMax?',
    ],
    [
      'a key of another section',
      withLine('bookPollMs: 100'),
      'a.yaml:17:1 bookPollMs: unknown key; did you mean timing.bookPollMs?',
    ],
    [
      'an unknown key like no other',
      withLine('log: {colour: red}'),
      'a.yaml:17:7 log.colour: unknown key; known keys: level',
    ],
    [
      'a number where money text is asked',
      replaced("'50000'", '50000'),
      'a.yaml:12:18 limits.orderValueMax: expected text in quotes, found 50000, an unquoted number; write orderValueMax: "50000"',
    ],
    [
      'quoted text where a number is asked',
      replaced('levels: 2', "levels: '2'"),
      "a.yaml:8:11 strategy.levels: expected a number, found '2', a quoted number; remove the quotes",
    ],
    [
      'a sign in money text',
      replaced("'0.1'", "'-0.1'"),
      `a.yaml:11:16 limits.positionMax: expected a decimal number in quotes, like "0.25", found '-0.1', below zero; amounts have no sign, so write positionMax: "0.1"`,
    ],
    ['a zero limit', replaced("'0.1'", "'0.0'"), "a.yaml:11:16 limits.positionMax: must be above zero, found '0.0'"],
    [
      'a number out of bounds',
      replaced('levels: 2', 'levels: 21'),
      'a.yaml:8:11 strategy.levels: expected at most 20, found 21',
    ],
    [
      'a word that is not one of a few',
      withLine('log: {level: wran}'),
      'a.yaml:17:14 log.level: expected one of debug, info, warn, error, found wran; did you mean warn?',
    ],
    [
      'an exchange of unknown kind',
      replaced('embedded', 'embeded'),
      'a.yaml:4:9 exchange.kind: expected one of embedded, remote, found embeded; did you mean embedded?',
    ],
    [
      'an unknown strategy',
      replaced('name: ladder', 'name: leader'),
      `a.yaml:6:9 strategy.name: expected one of ${Object.keys(strategies).join(', ')}, found leader; did you mean ladder?`,
    ],
    [
      'a key without a value',
      replaced('levels: 2', 'levels:'),
      'a.yaml:8:10 strategy.levels: expected a number, found nothing',
    ],
    [
      'an instance name that no order id may hold',
      replaced('instance: demo', 'instance: my_bot'),
      'a.yaml:2:11 instance: expected 1 to 12 letters and digits, like mm1, found my_bot',
    ],
    [
      'a book without a currency of its own',
      replaced('btc_mxn', 'btcmxn'),
      'a.yaml:1:7 book: expected <base>_<quote>, like btc_mxn, found btcmxn',
    ],
    [
      'text where keys are asked',
      withLine('metrics: yes please'),
      'a.yaml:17:10 metrics: expected keys and values, found yes please',
    ],
    [
      'a key given twice',
      withLine('book: eth_mxn'),
      'a.yaml:17:1 not valid YAML: this key occurs twice; remove one of the two',
    ],
    [
      'no spread at all',
      replaced('  halfSpreadBps: 11\n', ''),
      'a.yaml:5:1 strategy.halfSpreadBps: expected halfSpreadBps, or both bidSpreadBps and askSpreadBps',
    ],
    [
      'a floor above the ceiling',
      replaced('levels: 2', "priceFloor: '20'\n  priceCeiling: '3'"),
      `a.yaml:8:15 strategy.priceFloor: must be below priceCeiling "3", found '20'`,
    ],
  ])('%s is one line with the place, the key, what was expected and what was found', (_, text, line) => {
    expect(errorsOf(text)).toEqual([line]);
  });

  test('does not hide the others: all are told at once, in the order of the file', () => {
    const text = VALID.replace('btc_mxn', 'BTC')
      .replace("'0.004'", '0.004')
      .replace('collarBps: 200', 'collarBps: .nan');
    expect(errorsOf(text).map(line => line.split(' ')[1])).toEqual(['book:', 'strategy.amount:', 'limits.collarBps:']);
  });

  const placeless = (lines: readonly string[]) => lines.map(line => line.replace(/^\S+ /, ''));
  /** A file that breaks four checks across keys. */
  const BROKEN = replaced("'0.004'", "'0.06'").replace('ordersMax: 12', 'ordersMax: 3');
  const CROSSED = `${BROKEN}timing:\n  staleAfterMs: 1000\n  shutdownMs: 1000\n`;

  test('of an unknown key hides no check across keys, wherever the key is', () => {
    const across = placeless(errorsOf(CROSSED));
    expect(across).toHaveLength(4);
    const places = ['book:', '  kind:', '  name:', '  positionMax:', '  staleAfterMs:'];
    // Keys have few of these letters. A key that is similar to another, such as zzew to skew, counts as that one.
    const keys = fc.stringMatching(/^zz[qz]{1,20}$/);
    fc.assert(
      fc.property(fc.subarray(places, { minLength: 1 }), keys, (at, key) => {
        const text = at.reduce((all, line) => all.replace(line, `${line.match(/^ */)![0]}${key}: 1\n${line}`), CROSSED);
        const errors = placeless(errorsOf(text));
        expect(errors).toEqual(expect.arrayContaining(across));
        expect(errors).toHaveLength(across.length + at.length);
      }),
    );
  });

  test('of a key that is misspelled hides none either: its value counts as that of the key that was meant', () => {
    const text = CROSSED.replace('halfSpreadBps', 'half_spread_bps').replace('positionMax', 'positonMax');
    expect(placeless(errorsOf(text))).toEqual([
      'strategy.half_spread_bps: unknown key; did you mean halfSpreadBps?',
      ...placeless(errorsOf(CROSSED)).slice(0, 2),
      'limits.positonMax: unknown key; did you mean positionMax?',
      ...placeless(errorsOf(CROSSED)).slice(2),
    ]);
  });

  test('of a value hides only the checks that read it, and none is made with a default in its place', () => {
    const errors = placeless(errorsOf(`${BROKEN}timing:\n  bookPollMs: often\n  staleAfterMs: 1000\n`));
    expect(errors).toHaveLength(3);
    expect(errors).toEqual(expect.arrayContaining(placeless(errorsOf(BROKEN))));
    expect(errors.at(-1)).toMatch(/^timing\.bookPollMs: expected a number, found often/);
  });

  test('says of keys of another kind of the section that they go, and never refuses without a word', () => {
    const copied = textOf('sandbox.yaml').replace('kind: embedded', 'kind: remote\n  restUrl: https://api.bitso.com');
    const keys = ['seed', 'engineDelayMs', 'market', 'balances', 'volume30d'];
    const errors = errorsOf(copied).map(
      line => /exchange\.(\w+): unknown key for this kind of exchange; remove it/.exec(line)?.[1],
    );
    expect(errors.length).toBeGreaterThan(0);
    expect(keys).toEqual(expect.arrayContaining(errors));
  });

  test.each([
    ['broken syntax', 'book: [btc_mxn', /^a\.yaml:\d+:\d+ not valid YAML: /],
    ['two documents', `${VALID}---\n${VALID}`, /not valid YAML/],
    ['an unknown tag', replaced('levels: 2', 'levels: !evil 2'), /not valid YAML: Unresolved tag/],
    ['an empty file', '', /^a\.yaml:1:1 expected keys and values/],
    ['a list', '- 1', /^a\.yaml:1:1 expected keys and values/],
    ['aliases that unfold without end', bomb(), /too many aliases/],
    ['a file far too large', `book: ${'x'.repeat(300_000)}`, /larger than 65536 characters; shorten the file/],
    ['a key that is a list', withLine('[a, b]: 1'), /a key is not text/],
    ['a prototype key', withLine('__proto__: {}'), /__proto__: unknown key/],
  ])('%s is refused in words', (_, text, line) => {
    expect(errorsOf(text)[0]).toMatch(line);
  });

  test('names what an amount, a number of levels or a distance breaks the limits by', () => {
    expect(errorsOf(replaced("'0.004'", "'0.06'"))).toEqual([
      'a.yaml:9:11 strategy.amount: the amounts of 2 levels on one side add up to more than limits.positionMax "0.1"',
    ]);
    expect(errorsOf(replaced('ordersMax: 12', 'ordersMax: 3'))).toEqual([
      'a.yaml:8:11 strategy.levels: 2 levels per side need 4 orders, more than limits.ordersMax 3',
    ]);
    expect(errorsOf(replaced('collarBps: 200', 'collarBps: 20.5'))).toEqual([
      'a.yaml:5:1 strategy.levelSpacingBps: the last level can be 21 bps from the reference, beyond limits.collarBps 20.5',
    ]);
  });

  test.each([
    [
      'timing: {staleAfterMs: 1000}',
      /timing\.staleAfterMs: expected more than bookPollMs \(1250\), found 1000; every book/,
    ],
    [
      'timing: {bookPollMs: 900}',
      /timing\.bookPollMs: expected at least 1112, found 900; reads at this interval would exceed budgets\.publicPerMinute \(54\)/,
    ],
    [
      'timing: {privatePollMs: 300}',
      /timing\.privatePollMs: expected at least 445, found 300; .* budgets\.privatePerMinute \(270\)/,
    ],
    [
      'timing: {requestDelayMaxMs: 5000}',
      /timing\.requestDelayMaxMs: expected more than exchange\.requestTimeoutMs \(5000\), found 5000/,
    ],
    [
      'timing: {shutdownMs: 1000}',
      /timing\.shutdownMs: expected at least tradeReportDelayMaxMs \(20000\), found 1000; a stop/,
    ],
  ])('%s does not fit the rest and says so', (line, expected) => {
    expect(errorsOf(withLine(line))).toEqual([expect.stringMatching(expected)]);
  });

  test('a window of past prices that is not longer than a book stays fresh is refused', () => {
    const withWindow = (windowMs: number) =>
      errorsOf(
        `${replaced('  collarBps: 200', `  priceMove: {bps: 500, windowMs: ${windowMs}}\n  collarBps: 200`)}timing: {staleAfterMs: 120000}\n`,
      );
    expect(withWindow(120_000)).toEqual([
      expect.stringMatching(
        /limits\.priceMove\.windowMs: expected more than timing\.staleAfterMs \(120000\), found 120000; every mid price in this window/,
      ),
    ]);
    expect(withWindow(120_001)).toEqual([]);
  });

  test('a book whose currencies have no opening balance on the embedded exchange is refused', () => {
    expect(errorsOf(replaced('btc_mxn', 'eth_mxn'))).toEqual([
      'a.yaml:3:1 exchange.balances: expected an opening balance of eth for book eth_mxn',
    ]);
  });
});

describe('the name of a venue', () => {
  const remote = (venue: string) => textOf('live.yaml').replace('kind: remote', `kind: remote\n  venue: ${venue}`);
  const said = (venue: string, venues?: readonly string[]) => {
    const loaded = loadConfig(remote(venue), 'my.yaml', venues);
    return loaded.ok ? [] : loaded.errors.filter(line => line.includes('exchange.venue'));
  };

  test('that there is none of is told at its line', () => {
    expect(said('bitsoo', ['bitso', 'toy'])).toEqual([
      expect.stringMatching(/^my\.yaml:\d+:\d+ exchange\.venue: expected one of bitso, toy, found "bitsoo"$/),
    ]);
  });

  test('is taken where it is one of them, and where nobody says which there are', () => {
    expect([said('toy', ['bitso', 'toy']), said('toy')]).toEqual([[], []]);
  });
});

describe('an address', () => {
  const remote = (url: string) => replaced('kind: embedded', `kind: remote\n  restUrl: ${url}`);
  test.each(['https://api.bitso.com', 'http://127.0.0.1:8080', 'http://localhost:1', 'http://[::1]:1'])(
    '%s is taken',
    url => {
      expect(errorsOf(remote(url))).toEqual([]);
    },
  );
  test.each([
    'http://api.bitso.com',
    'https://user:word@api.bitso.com',
    'https://api.bitso.com/',
    'https://api.bitso.com?key=1',
    'ftp://api.bitso.com',
    'http://127.0.0.1.evil.example',
    'api.bitso.com',
  ])('%s is refused', url => {
    expect(errorsOf(remote(url))).toEqual([
      expect.stringMatching(/exchange\.restUrl: expected an (encrypted )?address/),
    ]);
  });
  test.each([
    ['http://api.bitso.com', 'an encrypted address, except on this machine', 'https://api.bitso.com'],
    ['https://api.bitso.com/', 'an address like https://api.example.com', 'https://api.bitso.com'],
    ['https://api.bitso.com/api/v3', 'the base address, without /api/v3', 'https://api.bitso.com'],
    ['http://127.0.0.1:8080/v3', 'the base address, without /v3', 'http://127.0.0.1:8080'],
  ])('%s is told what to write: %s', (url, expected, instead) => {
    const [error, ...more] = errorsOf(remote(url));
    expect(more).toEqual([]);
    expect(error).toContain(`exchange.restUrl: expected ${expected}`);
    expect(error).toContain(`; write ${instead}, found`);
    expect(errorsOf(remote(instead))).toEqual([]);
  });
});

test('the fill model fitted needs its file on paper', () => {
  expect(errorsOf(withLine('paper: { fills: fitted }'))).toEqual([
    expect.stringMatching(/ paper\.fittedFile: expected the file of puntas calibrate --fills, for fills: fitted$/),
  ]);
  expect(errorsOf(withLine('paper: { fills: fitted, fittedFile: fills.json }'))).toEqual([]);
});

describe('a value in another unit, or with a sign, is told what to write', () => {
  test.each([
    ['timing:\n  decideEveryMs: 5s', 'timing.decideEveryMs', 'decideEveryMs: 5000'],
    ['timing:\n  staleAfterMs: "1.5 s"', 'timing.staleAfterMs', 'staleAfterMs: 1500'],
    ['journal:\n  rollHours: 90m', 'journal.rollHours', 'rollHours: 1.5'],
    ['paper:\n  fees: { maker: 0.5%, taker: "0.006" }', 'paper.fees.maker', 'maker: "0.005"'],
    ['inventory:\n  target: "-0.25"', 'inventory.target', 'target: "0.25"'],
    ['inventory:\n  target: -0.25', 'inventory.target', 'target: "0.25"'],
  ])('%j', (line, at, instead) => {
    expect(errorsOf(withLine(line))).toEqual([expect.stringMatching(new RegExp(` ${at}: .*write ${instead}$`))]);
  });

  test('a spread in percent', () => {
    const errors = errorsOf(replaced('halfSpreadBps: 11', 'halfSpreadBps: 0.5%'));
    expect(errors).toEqual([expect.stringMatching(/halfSpreadBps: .*1% is 100 bps\): write halfSpreadBps: 50$/)]);
  });
});

describe('secrets', () => {
  test.each(['apiKey', 'api_secret', 'password', 'webhookToken', 'PUNTAS_API_SECRET', 'private-key'])(
    'under a key called %s are refused by name, and never repeated',
    key => {
      const errors = errorsOf(withLine(`log:\n  ${key}: hunter2canary`));
      expect(errors).toEqual([expect.stringContaining(`a.yaml:18:3 log.${key}: secrets do not belong in this file`)]);
      expect(errors.join()).not.toContain('hunter2canary');
    },
  );

  test('that stand behind a wrong key by mistake are not repeated in the error', () => {
    const errors = errorsOf(replaced('instance: demo', 'instance: 8f14e45fceea167a5a36dedd4bea2543'));
    expect(errors).toEqual([expect.stringMatching(/found text of 32 characters$/)]);
  });
});

describe('money text', () => {
  test('is kept digit for digit, and no YAML number of any spelling is taken for it', () => {
    const number = fc.oneof(
      fc.double().map(x => String(x)),
      fc.integer().map(x => String(x)),
      fc.constantFrom(
        '.inf',
        '-.inf',
        '.nan',
        '0x10',
        '0o17',
        '1e3',
        '1_000',
        '+1',
        '00.1.2',
        'null',
        '~',
        'true',
        '1,5',
      ),
      fc.bigInt({ min: 10n ** 20n, max: 10n ** 40n }).map(x => `0.${x}`),
    );
    fc.assert(
      fc.property(number, text => {
        expect(errorsOf(replaced("'0.1'", text))).not.toEqual([]);
      }),
    );
    const text = fc
      .tuple(fc.bigInt({ min: 1n, max: 10n ** 12n - 1n }), fc.stringMatching(/^\d{1,18}$/))
      .map(([whole, fraction]) => `${whole}.${fraction}`);
    fc.assert(
      fc.property(text, exact => {
        expect(checked(replaced("'50000'", `"${exact}"`)).limits.orderValueMax).toBe(exact);
      }),
    );
  });
});

describe('a hedge without a band', () => {
  const errorsOf = (hedge: string): string => {
    const loaded = loadConfig(`${textOf('sandbox.yaml')}hedge: ${hedge}\n`, 'a.yaml');
    return loaded.ok ? '' : loaded.errors.join('\n');
  };
  const flow = 'flow: { volatilityBps: 57, fillsPerMinute: 1, decayPerBps: 0.19 }';

  test('says its risk in the minor currency, and the flow', () => {
    expect(errorsOf(`{ risk: 100 mxn, ${flow} }`)).toBe('');
    expect(errorsOf('{ risk: 100 mxn }')).toMatch(/expected band, or risk and flow to compute the band/);
    expect(errorsOf(`{ ${flow} }`)).toMatch(/expected band, or risk and flow to compute the band/);
    expect(errorsOf(`{ risk: 100 btc, ${flow} }`)).toMatch(
      /expected a sum in mxn, the quote currency of btc_mxn, found 100 btc/,
    );
  });

  test('has no rest and no price of carrying by hand, and a band by hand wins', () => {
    expect(errorsOf(`{ risk: 100 mxn, ${flow}, residual: '0.01' }`)).toMatch(
      /residual.*is computed because hedge\.band is missing/,
    );
    expect(errorsOf(`{ risk: 100 mxn, ${flow}, carryBpsPerHour: 5 }`)).toMatch(
      /carryBpsPerHour.*is computed because hedge\.band is missing/,
    );
    expect(errorsOf(`{ band: '0.05', residual: '0.01', risk: 100 mxn, ${flow} }`)).toBe('');
    expect(errorsOf("{ band: '0.5' }")).toMatch(/expected less than limits.positionMax \(.*\), found 0\.5/);
  });
});

describe('a file that was cut off while it was written', () => {
  test('never weakens a limit: every beginning of it is refused, or is at least as strict', () => {
    for (const name of ['sandbox.yaml', 'live.yaml']) {
      const text = textOf(name);
      const whole = checked(text).limits;
      for (let length = 0; length < text.length; length += sized(1, 5)) {
        const loaded = loadConfig(text.slice(0, length), name);
        if (!loaded.ok) continue;
        const { limits } = loaded.config;
        expect(moneyOf(limits.positionMax)).toBeLessThanOrEqual(moneyOf(whole.positionMax));
        expect(moneyOf(limits.orderValueMax)).toBeLessThanOrEqual(moneyOf(whole.orderValueMax));
        expect(limits.ordersMax).toBeLessThanOrEqual(whole.ordersMax);
        expect(limits.collarBps).toBeLessThanOrEqual(whole.collarBps);
      }
    }
  });

  test('or garbled gives lines, never an exception', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.tuple(
            fc.nat(VALID.length),
            fc.constantFrom(':', '-', '{', '}', '"', "'", '\t', '\n', '&a', '*a', '!', '?', '%', '|', '\0', '0', '['),
          ),
          { minLength: 1, maxLength: 6 },
        ),
        edits => {
          let text = VALID;
          for (const [at, what] of edits) text = text.slice(0, at) + what + text.slice(at);
          const loaded = loadConfig(text, 'a.yaml');
          if (!loaded.ok) for (const line of loaded.errors) expect(line).toMatch(/^a\.yaml:\d+:\d+ [^\n]+$/);
        },
      ),
      runsOf(300, 100),
    );
  });
});

describe('the edge over the fees', () => {
  const of = (spread: number, minEdge: number, rate: string) =>
    edgeProblem(
      checked(replaced('halfSpreadBps: 11', `halfSpreadBps: ${spread}\n  minEdgeBps: ${minEdge}`)),
      rateCeil(rate),
    );

  test('is missing when both spreads together are below both maker fees and the minimum edge', () => {
    expect(of(10.1, 0.2, '0.001')).toBeNull();
    expect(of(10.1, 0.3, '0.001')).toBe(
      'strategy: the spread of 20.2 bps (bid 10.1 + ask 10.1) is below both maker fees (together 20 bps) plus minEdgeBps 0.3; widen the spread to at least 20.3 bps',
    );
    expect(of(11, 1, '0.006')).toContain('widen the spread to at least 121 bps');
  });

  test('is never found when the fee is not a number', () => {
    expect(edgeProblem(checked(VALID), Number.NaN)).not.toBeNull();
  });
});

test('a checked configuration is plain data: what is printed of it is what was checked', () => {
  const config = checked(VALID);
  expect(parse(JSON.stringify(config))).toEqual(config);
  expect(inspect(config, { depth: 9 })).not.toContain('redacted');
});

function bomb(): string {
  const line = (name: string, of: string) => `${name}: &${name} [${Array(9).fill(`*${of}`).join(', ')}]\n`;
  return `a: &a [x]\n${line('b', 'a')}${line('c', 'b')}${line('d', 'c')}${line('e', 'd')}${line('f', 'e')}`;
}
