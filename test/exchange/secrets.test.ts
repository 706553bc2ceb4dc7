/** Secrets of every registered exchange's client: whatever fails, no outcome and no observation tells one. */
import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  TransportFailure,
  type ExchangeVenue,
  type Observation,
  type Outcome,
  type VenueClient,
  type WireReply,
  type WireRequest,
} from '../../src/core/index.ts';
import { VENUES } from '../../src/wiring/venueRegistry.ts';
import { runsOf } from '../many.ts';
import { BOOKS, clientOn, endOf, listAnswer } from './everyVenue.ts';

const base64 = fc.uint8Array({ minLength: 24, maxLength: 64 }).map(bytes => Buffer.from(bytes).toString('base64'));
const hex = fc.uint8Array({ minLength: 16, maxLength: 32 }).map(bytes => Buffer.from(bytes).toString('hex'));
const PEM_KEYS = Array.from({ length: 3 }, () =>
  generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
);
/** Secrets of each form, also a private key that cannot be read. */
const secrets = fc.oneof(
  base64,
  hex,
  fc.constantFrom(...PEM_KEYS),
  base64.map(text => `-----BEGIN PRIVATE KEY-----\n${text}\n-----END PRIVATE KEY-----\n`),
);

/** Ways in which a request fails, with text that repeats the request. */
const failures = fc.constantFrom('lost', 'unsent', 'thrown', 'refused', 'malformed', 'strange rows', 'page', 'headers');
type Failure = typeof failures extends fc.Arbitrary<infer T> ? T : never;
const encodings = fc.constantFrom<(text: string) => string>(
  text => text,
  encodeURIComponent,
  text => JSON.stringify(text),
  text => text.replaceAll('/', '\\/'),
);

/** Returns the error of each exchange with a text. */
const errorBody: Readonly<Record<string, (text: string) => unknown>> = {
  bitso: text => ({ success: false, error: { code: '0303', message: text } }),
  binance: text => ({ code: -1102, msg: text }),
  kraken: text => ({ error: [`EGeneral:Invalid arguments:${text}`] }),
};
/** Returns a success of each exchange whose content is a text where none belongs, or a list of rows of texts. */
const resultBody: Readonly<Record<string, (content: unknown) => unknown>> = {
  bitso: payload => ({ success: true, payload }),
  binance: content => content,
  kraken: result => ({ error: [], result }),
};
const strangeRow = (text: string) => ({
  ...{ symbol: text, book: text, pair: text, oid: text, orderId: text, origin_id: text, clientOrderId: text },
  ...{ cl_ord_id: text, id: text, tid: text, currency: text, asset: text, status: text, descr: { pair: text } },
});

function answerOf(venue: string, failure: Failure, status: number, said: string): WireReply {
  const reply = (body: unknown, code = status): WireReply => ({
    ...{ status: code, headers: {}, body: JSON.stringify(body) },
  });
  switch (failure) {
    case 'lost':
      throw new TransportFailure(said, true);
    case 'unsent':
      throw new TransportFailure(said, false);
    case 'thrown':
      throw new TypeError(said);
    case 'refused':
      return reply(errorBody[venue]!(said));
    case 'malformed':
      return reply(resultBody[venue]!(said), 200);
    case 'strange rows': {
      const rows = [strangeRow(said)];
      const lists = { balances: rows, open: { [said]: rows[0] }, closed: { [said]: rows[0] }, count: 1 };
      return reply(resultBody[venue]!(venue === 'kraken' ? lists : rows), 200);
    }
    case 'page':
      return { status, headers: {}, body: said };
    case 'headers':
      return { status: 429, headers: { 'retry-after': said, date: said }, body: said };
  }
}

const calls = (book: string): Readonly<Record<string, (client: VenueClient) => Promise<Outcome<unknown>>>> => ({
  place: client =>
    client.place({ book, side: 'buy', price: '1', major: '1', originId: 'mm-1-1', timeInForce: 'post only' }),
  cancel: client => client.cancel({ originIds: ['mm-1-1'] }),
  lookUp: client => client.lookUp({ originIds: ['mm-1-1', 'mm-1-2', 'mm-1-3'] }),
  openOrders: client => client.openOrders({ book }),
  balances: client => client.balances(),
  userTrades: client => client.userTrades({ book }),
  orderTrades: client => client.orderTrades({ originId: 'mm-1-1' }),
  fees: client => client.fees(),
  orderBook: client => client.orderBook(book),
});

/** Returns every part of eight characters of the texts, which are long. */
const partsOf = (texts: Iterable<string>): ReadonlySet<string> =>
  new Set([...texts].flatMap(text => Array.from({ length: text.length - 7 }, (_, at) => text.slice(at, at + 8))));

/** Returns the secrets of a request: its key and its signature. */
function proofsOf({ headers, target, body }: WireRequest): readonly string[] {
  const signed = new URLSearchParams(`${target.split('?')[1] ?? ''}&${body}`).get('signature');
  const found = [headers['api-sign'], headers['signature'], headers['authorization']?.split(':')[2], signed];
  return found.filter(text => typeof text === 'string');
}

const texts = (outcome: Outcome<unknown>): unknown => (outcome.kind === 'done' ? outcome.unreadable : outcome);

describe.each(VENUES.map(venue => [venue.name, venue] as [string, ExchangeVenue]))('%s', (name, venue) => {
  test('tells no key, secret or signature, nor a part of one, in the outcome of any call that fails', async () => {
    const all = calls(BOOKS[name]!);
    const worlds = fc.record({
      key: hex,
      secret: secrets,
      failure: failures,
      call: fc.constantFrom(...Object.keys(all)),
      encoded: encodings,
      status: fc.constantFrom(200, 400, 403, 500),
    });
    await fc.assert(
      fc.asyncProperty(worlds, async ({ key, secret, failure, call, encoded, status }) => {
        const [sent, seen]: [WireRequest[], Observation[]] = [[], []];
        const { client, clock } = clientOn(
          venue,
          async request => {
            sent.push(request);
            const { headers, target, body } = request;
            const said = encoded([...proofsOf(request), secret, ...Object.values(headers), target, body].join(' '));
            return listAnswer(request) ?? answerOf(name, failure, status, said);
          },
          { key, secret, onRequest: one => void seen.push(one) },
        );
        const outcome = await endOf(clock, all[call]!(client));
        expect(outcome).not.toBeNull();
        const told = JSON.stringify([texts(outcome!), seen]);
        const hidden = partsOf([key, secret.replace(/-----[A-Z ]+-----/g, ''), ...sent.flatMap(proofsOf)]);
        const found = Array.from({ length: told.length }, (_, at) => told.slice(at, at + 8)).find(part =>
          hidden.has(part),
        );
        expect(found, told).toBeUndefined();
      }),
      runsOf(4_000, 300),
    );
  });
});

test('a secret that cannot sign is told by the step that failed, and nothing is sent', async () => {
  const secret = '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n';
  const sent: string[] = [];
  const { client, clock } = clientOn(
    VENUES.find(({ name }) => name === 'binance')!,
    async request => {
      sent.push(request.target);
      return listAnswer(request) ?? { status: 500, headers: {}, body: '' };
    },
    { secret },
  );
  const outcome = await endOf(clock, client.balances());
  const message = outcome?.kind === 'refused' && outcome.code === 'not-sent' ? outcome.message : '';
  expect(message).toMatch(/^GET account: the request could not be signed \(ERR_OSSL_[A-Z_]+\)$/);
  expect(sent).toEqual(['/api/v3/time']);
});
