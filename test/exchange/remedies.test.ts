/** Remedies name the section whose client was answered, and only keys and variables that exist; those to wait may pass. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { localRemedy, TransportFailure, type ExchangeVenue, type VenueSection } from '../../src/core/index.ts';
import { BINANCE_CODES, binanceRemedy } from '../../src/exchange/binance/wire/errorCodes.ts';
import { meaningOf } from '../../src/exchange/bitso/wire/errorCodes.ts';
import { remedyOf } from '../../src/exchange/bitso/wire/remedies.ts';
import { isKrakenTransient, KRAKEN_CODES, krakenRemedy } from '../../src/exchange/kraken/wire/errorCodes.ts';
import { SECTION_NAMES, type SectionNames } from '../../src/exchange/wire/sectionNames.ts';
import { CannotStart, valueOrCannotStart } from '../../src/live/loop/opening.ts';
import { codeOf } from '../../src/messages/exits.ts';
import { VENUES } from '../../src/wiring/venueRegistry.ts';
import { clientOn, endOf, listAnswer } from './everyVenue.ts';

const numbered = Array.from({ length: 10_000 }, (_, n) => String(n).padStart(4, '0'));
const CODES: Readonly<Record<string, readonly string[]>> = {
  bitso: ['104', '20', ...numbered.filter(code => meaningOf(code) !== undefined)],
  binance: BINANCE_CODES.map(({ code }) => code),
  kraken: KRAKEN_CODES.map(({ code }) => code),
};
const REMEDIES: Readonly<Record<string, (code: string, names: SectionNames) => string | null>> = {
  bitso: remedyOf,
  binance: binanceRemedy,
  kraken: krakenRemedy,
};
const BODIES: Readonly<Record<string, (code: string) => { readonly status: number; readonly body: object }>> = {
  bitso: code => ({ status: 400, body: { success: false, error: { code, message: 'm' } } }),
  binance: code => ({ status: 400, body: { code: Number(code.split(':')[0]), msg: 'm' } }),
  kraken: code => ({ status: 200, body: { error: [code] } }),
};
const LOCAL = ['not-sent', 'budget', 'closed'];

type SchemaNode = {
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly anyOf?: readonly SchemaNode[];
  readonly oneOf?: readonly SchemaNode[];
};
const schema = JSON.parse(readFileSync('config/schema.json', 'utf8')) as SchemaNode;
const hasKey = (node: SchemaNode | undefined, path: readonly string[]): boolean => {
  if (node === undefined || path.length === 0) return node !== undefined;
  const inside = hasKey(node.properties?.[path[0]!], path.slice(1));
  return inside || [...(node.anyOf ?? []), ...(node.oneOf ?? [])].some(one => hasKey(one, path));
};
const variables = readFileSync('docs/environment.md', 'utf8');

/** Asserts that a remedy names only what exists in its section. */
function expectNames(remedy: string, section: VenueSection): void {
  const other = section === 'exchange' ? /PUNTAS_ELSEWHERE|\belsewhere\./ : /PUNTAS_API_|\bexchange\./;
  expect(remedy).not.toMatch(other);
  for (const [path] of remedy.matchAll(/\b(?:exchange|elsewhere)(?:\.\w+)+/g))
    expect(hasKey(schema, path.split('.')), path).toBe(true);
  for (const [name] of remedy.matchAll(/PUNTAS_\w+/g)) expect(variables).toContain(`\`${name}\``);
}

test('every exchange is here, and the schema has the keys that are known', () => {
  const names = VENUES.map(({ name }) => name).sort();
  for (const table of [CODES, REMEDIES, BODIES]) expect(Object.keys(table).sort()).toEqual(names);
  expect(hasKey(schema, ['elsewhere', 'restUrl'])).toBe(true);
  expect(hasKey(schema, ['elsewhere', 'budgets'])).toBe(false);
});

test.each(VENUES.map(({ name }) => name))('%s: every code, in each section', name => {
  for (const section of ['exchange', 'elsewhere'] as const) {
    const texts = CODES[name]!.map(code => REMEDIES[name]!(code, SECTION_NAMES[section]));
    const local = LOCAL.map(code => localRemedy(code, section));
    for (const text of [...texts, ...local]) if (text !== null) expectNames(text, section);
    expect(texts.some(text => text?.includes(SECTION_NAMES[section].apiKey))).toBe(true);
  }
});

test.each(VENUES.map(venue => [venue.name, venue] as const))(
  '%s: the client of section elsewhere gives no remedy of the other section',
  async (name, venue) => {
    const elsewhere = {
      ...venue,
      connect: (to: Parameters<typeof venue.connect>[0]) => venue.connect({ ...to, section: 'elsewhere' }),
    };
    const codes = CODES[name]!.filter(code =>
      /PUNTAS|exchange\./.test(REMEDIES[name]!(code, SECTION_NAMES.exchange) ?? ''),
    );
    expect(codes.length).toBeGreaterThan(1);
    for (const code of [...codes, 'unreachable']) {
      const { client, clock } = clientOn(elsewhere, request => {
        if (code === 'unreachable') return Promise.reject(new TransportFailure('connection refused', false));
        const { status, body } = BODIES[name]!(code);
        return Promise.resolve(listAnswer(request) ?? { status, headers: {}, body: JSON.stringify(body) });
      });
      const outcome = await endOf(clock, client.balances());
      expect(outcome).toMatchObject({
        kind: 'refused',
        remedy: expect.stringMatching(/ELSEWHERE|elsewhere/) as string,
      });
      expectNames((outcome as { readonly remedy: string }).remedy, 'elsewhere');
    }
  },
);

/** Returns how a start ends if every private read of the exchange has this answer. */
async function endOfStart(venue: ExchangeVenue, answer: { readonly status: number; readonly body: string }) {
  const { client, clock } = clientOn(venue, request =>
    Promise.resolve(listAnswer(request) ?? { ...answer, headers: {} }),
  );
  const outcome = await endOf(clock, client.balances());
  let error: unknown = null;
  try {
    valueOrCannotStart('read balance', outcome!);
  } catch (thrown) {
    error = thrown;
  }
  return { outcome: outcome!, error };
}

test.each(VENUES.map(venue => [venue.name, venue] as const))(
  '%s: a start may pass later after each code whose remedy is to wait, and ends with the code for it; never after one for the account owner',
  async (name, venue) => {
    const seen = { waits: 0, person: 0 };
    for (const code of CODES[name]!) {
      const { status, body } = BODIES[name]!(code);
      const { outcome, error } = await endOfStart(venue, { status, body: JSON.stringify(body) });
      if (outcome.kind !== 'refused' || !(error instanceof CannotStart))
        throw new Error(`${code}: expected a rejected read, found ${JSON.stringify(outcome)}`);
      const { meaning, remedy = '' } = outcome;
      const waits = /\b(?:wait|again later|fewer orders)\b/.test(remedy) && meaning !== 'person';
      if (waits) seen.waits++;
      if (meaning === 'person') seen.person++;
      const mayPass = waits || meaning === 'nonce';
      expect([code, error.mayPass, codeOf(error)]).toEqual([code, mayPass, mayPass ? 1 : 2]);
    }
    expect(Math.min(seen.waits, seen.person)).toBeGreaterThan(3);
  },
);

test('kraken: an unlisted text about the service or the database may pass later; one about the request does not', () => {
  expect(
    ['EService:New words', 'EDatabase:New words', 'EOrder:New words', 'EGeneral:New words'].map(isKrakenTransient),
  ).toEqual([true, true, false, false]);
});

test.each(VENUES.map(venue => [venue.name, venue] as const))(
  '%s: a start that ends with a rate limit or a failure of the exchange may pass later, whatever the text',
  async (name, venue) => {
    const { body } = BODIES[name]!('-1');
    for (const status of [429, ...(name === 'bitso' ? [420] : []), ...(name === 'binance' ? [418] : []), 500, 502, 503])
      for (const text of ['', '<html></html>', JSON.stringify(body)])
        expect([status, text, (await endOfStart(venue, { status, body: text })).error]).toMatchObject([
          status,
          text,
          { mayPass: true },
        ]);
  },
);
