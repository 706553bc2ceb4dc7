/** Webhooks, rule by rule: registration in process and over HTTP, and deliveries to a callback. */
import { createPublicKey, createVerify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { moneyOf } from '../../src/core/index.ts';
import { withOperator, type Switches } from '../../src/sandbox/index.ts';
import { CALLBACK, conserved, deskArena, type Transacted } from '../sandbox/desk.ts';
import { everyWay, done, fieldsOf, refusal, type Fields } from './driver.ts';
import type { Row } from './rules/index.ts';

const BODY = { callback_url: CALLBACK, events: ['TRANSACTION'] };
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const MILLISECONDS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const HASH = /^0x[0-9a-f]{64}$/;
const ADDRESS = /^0x[0-9a-f]{40}$/;
const TOKEN = 'a-token-for-the-operator';

/** ann listens; `make` is an operator's call. */
function listening(switches: Partial<Switches> = {}) {
  const arena = deskArena(switches);
  const respond = withOperator(arena.exchange, TOKEN);
  if (!arena.register(arena.ann).text.includes('webhooks')) throw new Error('not registered');
  const make = (what: string, fields: Fields): Fields => {
    const headers = { authorization: `Bearer ${TOKEN}` };
    const body = JSON.stringify(fields);
    const reply = respond({ method: 'POST', target: `/operator/${what}`, headers, body }, '127.0.0.1');
    if (reply.status !== 200) throw new Error(reply.body);
    return JSON.parse(reply.body) as Fields;
  };
  return { ...arena, make };
}

const statuses = (payloads: readonly Transacted[]): string[] => payloads.map(payload => payload.status);

everyWay(open => {
  const register = (stage: ReturnType<typeof open>, body: unknown = BODY) =>
    stage.ann.call('POST', '/v4/webhooks', body);

  it('webhooks 4.7 a registration answers message and webhooks of id, callback_url and event', async () => {
    const answer = await register(open());
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      message: expect.stringMatching(/./) as string,
      webhooks: [{ id: 1, callback_url: CALLBACK, event: 'TRANSACTION' }],
    });
  });

  it('webhooks 4.7 the client registers, whatever the case of the event in the answer', async () => {
    for (const webhookEventCase of ['upper', 'lower'] as const) {
      const { ann } = open({ webhookEventCase });
      expect(done(await ann.client.registerWebhook(CALLBACK))).toEqual({
        message: 'Webhook registered',
        webhooks: [{ id: '1', callbackUrl: CALLBACK, event: 'TRANSACTION' }],
      });
    }
  });

  it('webhooks 4.7 a second registration of an account is refused, in words that name the event types', async () => {
    for (const webhookRefusalStatus of ['400', '409', '200'] as const) {
      const stage = open({ webhookRefusalStatus });
      await register(stage);
      const again = await register(stage, { ...BODY, callback_url: `${CALLBACK}/2` });
      expect(again.status).toBe(Number(webhookRefusalStatus));
      expect(again.body).toEqual({ success: false, error: expect.stringContaining('TRANSACTION') as string });
      const told = await stage.ann.client.registerWebhook(CALLBACK);
      expect(told).toMatchObject({ kind: 'refused', message: expect.stringContaining('TRANSACTION') as string });
      expect(done(await stage.bob.client.registerWebhook(CALLBACK)).webhooks).toHaveLength(1);
    }
  });

  it.each([
    ['no callback_url', { events: ['TRANSACTION'] }],
    ['a callback_url that is none', { ...BODY, callback_url: 'somewhere' }],
    ['a callback_url that is no text', { ...BODY, callback_url: 7 }],
    ['another protocol', { ...BODY, callback_url: 'ftp://127.0.0.1/x' }],
    ['credentials in the URL', { ...BODY, callback_url: 'http://a:b@127.0.0.1/x' }],
    ['no events', { callback_url: CALLBACK }],
    ['an empty list of events', { ...BODY, events: [] }],
    ['an event beside TRANSACTION', { ...BODY, events: ['TRANSACTION', 'TRADE'] }],
    ['an event in lower case', { ...BODY, events: ['transaction'] }],
    ['a body that is no object', '[]'],
  ])('webhooks 4.7 %s is refused', async (_, body) => {
    const stage = open();
    const answer = await register(stage, body);
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({ success: false, error: expect.stringMatching(/./) as string });
    expect((await register(stage)).status).toBe(200);
  });

  it.each([
    'http://example.com/x',
    'https://10.0.0.1/x',
    'http://127.0.0.1.example.com/x',
    'http://localhost.example.com/',
    'http://[::2]/x',
    'http://3232235777/x',
  ])('webhooks 4.7 a callback that is not on this machine is refused: %s', async url => {
    const stage = open();
    expect((await register(stage, { ...BODY, callback_url: url })).body['error']).toContain('loopback');
    const free = open({ webhookHosts: 'any' });
    expect((await register(free, { ...BODY, callback_url: url })).status).toBe(200);
  });

  it('webhooks 5 the caller is identified before anything is registered', async () => {
    const stage = open();
    expect((await stage.send('POST', '/v4/webhooks', {}, JSON.stringify(BODY))).code).toBe('0208');
    expect(refusal(await stage.client(stage.ann.key, 'wrong').registerWebhook(CALLBACK))).toBe('0215');
    expect(stage.exchange.webhooks.registrations()).toEqual([]);
  });

  it('webhooks 5 the client reads the keys that deliveries are signed with, after a rotation too', async () => {
    const { stranger, exchange } = open();
    const [first] = done(await stranger.webhookKeys());
    exchange.webhooks.keys.rotate();
    const keys = done(await stranger.webhookKeys());
    expect(keys[0]).toEqual(first);
    const listed = exchange.webhooks.keys.list();
    expect(listed).toHaveLength(2);
    expect(keys).toEqual(listed.map(({ key_id, public_key }) => ({ id: key_id, key: public_key })));
    for (const { key } of keys)
      expect(createPublicKey({ key: Buffer.from(key, 'base64'), format: 'der', type: 'spki' }).asymmetricKeyType).toBe(
        'rsa',
      );
  });

  it('webhooks 4.7 the list of public keys needs no key', async () => {
    const answer = await open().send('GET', '/v4/webhooks/public-key');
    expect(JSON.parse(answer.text)).toEqual([
      {
        key_id: expect.stringMatching(UUID) as string,
        public_key: expect.stringMatching(/^[A-Za-z0-9+/]+=*$/) as string,
        created_at: expect.stringMatching(MILLISECONDS) as string,
      },
    ]);
  });
});

/** Payloads of every kind of transaction, in every state, with refunds of either end. */
async function everyKind(): Promise<readonly Transacted[]> {
  const { make, callback, clock, ann } = listening({ webhookSkipPips: 0 });
  make('deposits', { asset: 'brl', amount: '5000' });
  await clock.advance(5000);
  for (const more of [{}, { outcome: 'FAILED', failure_reason: 'too small', refund: {} }]) {
    make('issuances', { amount: '1000', sender_name: 'Ana', sender_clabe: '032180000118359719', ...more });
    make('issuances', { amount: '1000', method: 'PLATFORM_TRANSFER', ...more });
    make('redemptions', { amount: '1000', clabe: '032180000118359719', ...more });
    make('redemptions', { amount: '1000', method: 'PLATFORM_TRANSFER', ...more });
  }
  make('redemptions', { amount: '1', refund: { steps: ['TOKEN_DEPOSIT'], outcome: 'FAILED' } });
  for (const more of [{ external_ref: 'mine' }, { outcome: 'FAILED', failure_reason: 'lost' }]) {
    make('deposits', { asset: 'btc', amount: '1', ...more });
    make('withdrawals', { asset: 'btc', amount: '1', ...more });
  }
  const ask = { source: 'MXN', target: 'USD', source_amount: '5200' };
  const quote = ann.call('POST', '/rfq/v1/quotes', ask).body as unknown as Fields;
  ann.call('POST', '/rfq/v1/conversions', { quote_id: quote['id'] });
  await clock.advance(30_000);
  return callback.payloads;
}

/** Every time that a field is told it has its form, and it is told. */
function fits(of: readonly Fields[], { name, shape }: Pick<Row, 'name' | 'shape'>): void {
  const told = of.filter(fields => name in fields);
  expect(told.length, name).toBeGreaterThan(0);
  for (const fields of told) expect(shape!.fits(fields[name]), `${name} of ${JSON.stringify(fields)}`).toBe(true);
}

describe('deliveries', () => {
  const inside = async (...kinds: readonly string[]): Promise<readonly Fields[]> =>
    (await everyKind()).flatMap(payload =>
      kinds.flatMap(kind => (payload[kind] === undefined ? [] : [payload[kind] as Fields])),
    );

  it.each(fieldsOf('rfq-and-webhooks', '2.5'))('webhooks 2.5 $name is $word', async row => {
    fits(
      (await everyKind()).flatMap(payload => [{ event: 'TRANSACTION', payload }, payload]),
      row,
    );
  });

  it.each(fieldsOf('rfq-and-webhooks', '2.5.1'))('webhooks 2.5 $name of an issuance is $word', async row => {
    fits(await inside('issuance'), row);
  });

  it.each(fieldsOf('rfq-and-webhooks', '2.5.2'))('webhooks 2.5 $name of a redemption is $word', async row => {
    fits(await inside('redemption'), row);
  });

  it.each(fieldsOf('rfq-and-webhooks', '2.5.3'))('webhooks 2.5 $name of a crypto transfer is $word', async row => {
    fits(await inside('crypto_deposit', 'crypto_withdrawal'), row);
  });

  it.each(fieldsOf('rfq-and-webhooks', '2.5.4'))('webhooks 2.5 $name of a conversion is $word', async row => {
    fits(await inside('conversion'), row);
  });

  it.each(fieldsOf('rfq-and-webhooks', '2.6'))('webhooks 2.6 $name of a refund step is $word', async row => {
    const refunds = (await inside('issuance', 'redemption')).filter(told => 'refund_steps' in told);
    fits(
      refunds.flatMap(told => told['refund_steps'] as Fields[]),
      row,
    );
  });

  it('webhooks 2.6 the list of steps is in the order in which they were created: each joins at its end and none moves, whatever the plan', async () => {
    for (const steps of [
      ['PLATFORM_TRANSFER', 'TOKEN_MINT', 'TOKEN_TRANSFER', 'TOKEN_DEPOSIT'],
      ['TOKEN_DEPOSIT', 'TOKEN_TRANSFER', 'TOKEN_MINT', 'PLATFORM_TRANSFER'],
      ['TOKEN_MINT', 'PLATFORM_TRANSFER'],
    ])
      for (const outcome of ['COMPLETE', 'FAILED']) {
        const { make, callback, clock } = listening({ webhookSkipPips: 0 });
        make('redemptions', { amount: '1', refund: { steps, outcome } });
        await clock.advance(30_000);
        const lists = callback
          .told('redemption')
          .flatMap(told => ('refund_steps' in told ? [told['refund_steps'] as Fields[]] : []));
        const names = lists.map(list => list.map(({ step }) => step));
        expect(names.at(-1)).toEqual(steps);
        for (const list of names) expect(list).toEqual(steps.slice(0, list.length));
        expect(names.map(list => list.length)).toEqual([...names.map(list => list.length)].sort((a, b) => a - b));
      }
  });

  it('webhooks 2.5 a delivery is a POST of event and payload with the common fields', async () => {
    const { make, callback, clock } = listening();
    make('deposits', { asset: 'BTC', amount: '0.5', external_ref: 'mine' });
    await clock.advance(2000);
    expect(callback.urls).toEqual([CALLBACK, CALLBACK, CALLBACK]);
    expect(callback.headers[0]).toEqual({ 'content-type': 'application/json' });
    const body = JSON.parse(callback.bodies[0]!) as Fields;
    expect(Object.keys(body)).toEqual(['event', 'payload']);
    expect(body['event']).toBe('TRANSACTION');
    expect(body['payload']).toEqual({
      id: expect.stringMatching(UUID) as string,
      type: 'CRYPTO_DEPOSIT',
      status: 'PENDING',
      created_at: expect.stringMatching(MILLISECONDS) as string,
      updated_at: expect.stringMatching(MILLISECONDS) as string,
      external_ref: 'mine',
      crypto_deposit: expect.any(Object) as object,
    });
  });

  it.each([
    ['deposits', 'crypto_deposit', '10.5'],
    ['withdrawals', 'crypto_withdrawal', '9.5'],
  ])('webhooks 2.5 %s tell every field, the hash only when COMPLETE, and move the money', async (what, type, left) => {
    const { make, callback, clock, ann, exchange } = listening();
    make(what, { asset: 'btc', amount: '0.5', network: 'POLYGON' });
    await clock.advance(2000);
    expect(statuses(callback.payloads)).toEqual(['PENDING', 'IN_PROGRESS', 'COMPLETE']);
    const pending = {
      network: 'POLYGON',
      amount: '0.5',
      asset: 'BTC',
      crypto_source_address: expect.stringMatching(ADDRESS) as string,
      crypto_destination_address: expect.stringMatching(ADDRESS) as string,
    };
    const complete = { ...pending, crypto_tx_hash: expect.stringMatching(HASH) as string };
    expect(callback.told(type)).toEqual([pending, pending, complete]);
    expect(ann.balance('btc').total).toBe(`${left}0000000`.padEnd(left.length + 7, '0'));
    expect(conserved(exchange)).toBe(true);
  });

  it.each(['deposits', 'withdrawals'])('webhooks 2.5 failed %s tell their reason and move nothing', async what => {
    const { make, callback, clock, ann, exchange } = listening();
    make(what, { asset: 'btc', amount: '0.5', outcome: 'FAILED', failure_reason: 'the chain is down' });
    await clock.advance(2000);
    const last = callback.payloads.at(-1)!;
    expect(last.status).toBe('FAILED');
    const told = last[last.type.toLowerCase()] as Fields;
    expect(told['failure_reason']).toBe('the chain is down');
    expect(told).not.toHaveProperty('crypto_tx_hash');
    expect(ann.balance('btc')).toMatchObject({ total: '10.00000000', locked: '0.00000000' });
    expect(conserved(exchange)).toBe(true);
  });

  it('webhooks 2.5 a SPEI issuance tells every field, destination and hash only when COMPLETE', async () => {
    const { make, callback, clock, ann } = listening();
    make('issuances', { amount: '1000', sender_name: 'Ana', sender_clabe: '032180000118359719' });
    await clock.advance(2000);
    const [pending, , complete] = callback.told('issuance');
    expect(pending).toEqual({
      network: 'ARBITRUM',
      amount: '1000',
      method: 'SPEI',
      asset: 'MXN',
      deposit_sender_clabe: '032180000118359719',
      deposit_sender_name: 'Ana',
      deposit_receiver_clabe: expect.stringMatching(/^\d{18}$/) as string,
      refunded: false,
      crypto_source_address: expect.stringMatching(ADDRESS) as string,
      external_fiat_id: expect.stringMatching(UUID) as string,
    });
    expect(complete).toEqual({
      ...pending,
      crypto_destination_address: expect.stringMatching(ADDRESS) as string,
      crypto_tx_hash: expect.stringMatching(HASH) as string,
    });
    expect(ann.balance('mxn').total).toBe('10001000.00000000');
  });

  it('webhooks 2.5 a platform transfer is in BRL, has no bank fields and a null external_fiat_id', async () => {
    const { make, callback, clock } = listening();
    make('issuances', { amount: '1000', method: 'PLATFORM_TRANSFER' });
    await clock.advance(2000);
    const [told] = callback.told('issuance');
    expect(told).toMatchObject({ method: 'PLATFORM_TRANSFER', asset: 'BRL', external_fiat_id: null });
    expect(Object.keys(told!).filter(key => key.startsWith('deposit_'))).toEqual([]);
  });

  it('webhooks 2.5 a failed issuance tells failure_reason and error', async () => {
    const { make, callback, clock, ann } = listening();
    make('issuances', { amount: '1', outcome: 'FAILED', failure_reason: 'too small' });
    await clock.advance(2000);
    expect(callback.told('issuance').at(-1)).toMatchObject({
      failure_reason: 'too small',
      error: { code: 'insufficient_deposit_amount_for_issuance', message: 'too small' },
    });
    expect(ann.balance('mxn').total).toBe('10000000.00000000');
  });

  it('webhooks 2.5 a redemption tells every field, with the receiver’s account by method', async () => {
    const { make, callback, clock, ann } = listening();
    make('redemptions', { amount: '1000', clabe: '032180000118359719' });
    await clock.advance(2000);
    expect(callback.told('redemption').at(-1)).toEqual({
      network: 'ARBITRUM',
      amount: '1000',
      method: 'SPEI',
      asset: 'MXN',
      refunded: false,
      receiver_account: {
        type: 'MEXICAN_BANK_ACCOUNT',
        mexican_bank_account: { clabe: '032180000118359719', external_fiat_id: null },
      },
    });
    expect(ann.balance('mxn').total).toBe('9999000.00000000');
    make('redemptions', { amount: '1', method: 'PLATFORM_TRANSFER', asset: 'usd', outcome: 'FAILED' });
    await clock.advance(2000);
    const failed = callback.told('redemption').at(-1)!;
    expect(failed['receiver_account']).toEqual({ type: 'PLATFORM_TRANSFER' });
    expect(failed['error']).toMatchObject({ code: 'transaction_failed' });
    expect(ann.balance('usd').total).toBe('100000.00000000');
  });

  it('webhooks 2.5 an RFQ conversion tells its quote, amounts, assets and rate when taken and when it ended', async () => {
    const { callback, clock, ann } = listening();
    const ask = { source: 'MXN', target: 'USD', source_amount: '5200' };
    const quote = ann.call('POST', '/rfq/v1/quotes', ask).body as unknown as Fields;
    const conversion = ann.call('POST', '/rfq/v1/conversions', { quote_id: quote['id'] }).body as unknown as Fields;
    await clock.advance(3000);
    expect(callback.payloads.map(p => [p.id, p.type, p.status])).toEqual([
      [conversion['id'], 'CONVERSION', 'PENDING'],
      [conversion['id'], 'CONVERSION', 'COMPLETE'],
    ]);
    expect(callback.told('conversion')[1]).toEqual({
      quote_id: quote['id'],
      amount_from: '5200',
      amount_to: quote['target_amount'],
      asset_from: 'MXN',
      asset_to: 'USD',
      exchange_rate: quote['rate'],
    });
  });

  it('webhooks 2.6 a refunded issuance goes through its steps, whose ids come with a later webhook', async () => {
    const { make, callback, clock, ann, exchange } = listening();
    make('issuances', { amount: '1000', refund: {} });
    await clock.advance(10_000);
    const refunds = callback.told('issuance').filter(told => 'refund_status' in told);
    const id = expect.stringMatching(UUID) as string;
    const [transfer, spei] = ['PLATFORM_TRANSFER', 'SPEI_WITHDRAWAL'];
    expect(refunds.map(told => [told['refund_status'], told['refunded'], told['refund_steps']])).toEqual([
      ['PENDING', false, []],
      ['IN_PROGRESS', false, [{ step: transfer, status: 'IN_PROGRESS' }]],
      [
        'IN_PROGRESS',
        false,
        [
          { step: transfer, status: 'COMPLETE' },
          { step: spei, status: 'IN_PROGRESS' },
        ],
      ],
      [
        'COMPLETE',
        true,
        [
          { step: transfer, status: 'COMPLETE', id },
          { step: spei, status: 'COMPLETE' },
        ],
      ],
      [
        'COMPLETE',
        true,
        [
          { step: transfer, status: 'COMPLETE', id },
          { step: spei, status: 'COMPLETE', id },
        ],
      ],
    ]);
    expect(statuses(callback.payloads).slice(2)).toEqual(Array(6).fill('COMPLETE'));
    expect(ann.balance('mxn').total).toBe('10000000.00000000');
    expect(conserved(exchange)).toBe(true);
  });

  it('webhooks 2.6 a refunded redemption mixes fiat and crypto steps, and gives the money back at its end', async () => {
    const { make, callback, clock, ann } = listening({ refundStepId: 'with the status' });
    make('redemptions', { amount: '1000', outcome: 'FAILED', refund: {} });
    await clock.advance(1600);
    expect(ann.balance('mxn').total).toBe('9999000.00000000');
    await clock.advance(10_000);
    const last = callback.told('redemption').at(-1)!;
    expect(last).toMatchObject({ refunded: true, refund_status: 'COMPLETE' });
    expect(last['refund_steps']).toEqual([
      { step: 'PLATFORM_TRANSFER', status: 'COMPLETE', id: expect.stringMatching(UUID) as string },
      { step: 'TOKEN_MINT', status: 'COMPLETE', id: expect.stringMatching(HASH) as string },
      { step: 'TOKEN_TRANSFER', status: 'COMPLETE', id: expect.stringMatching(HASH) as string },
    ]);
    expect(ann.balance('mxn').total).toBe('10000000.00000000');
  });

  it('webhooks 2.6 in a refund that fails, some steps are COMPLETE and the failed one never gets an id', async () => {
    const { make, callback, clock, exchange } = listening();
    const steps = ['PLATFORM_TRANSFER', 'TOKEN_MINT', 'TOKEN_DEPOSIT'];
    make('redemptions', { amount: '1000', refund: { steps, outcome: 'FAILED' } });
    await clock.advance(10_000);
    const last = callback.payloads.at(-1)!;
    expect(last.status).toBe('COMPLETE');
    const told = last['redemption'] as Fields;
    expect(told).toMatchObject({ refund_status: 'FAILED', refunded: false });
    expect((told['refund_steps'] as Fields[]).map(s => [s['step'], s['status'], 'id' in s])).toEqual([
      ['PLATFORM_TRANSFER', 'COMPLETE', true],
      ['TOKEN_MINT', 'COMPLETE', true],
      ['TOKEN_DEPOSIT', 'FAILED', false],
    ]);
    expect(conserved(exchange)).toBe(true);
  });

  it('webhooks 3 an issuance whose money is no longer there has a FAILED refund', async () => {
    const { make, callback, clock, ann, exchange } = listening();
    const { id } = make('issuances', { amount: '1000' });
    await clock.advance(2000);
    exchange.venue.withdraw(exchange.venue.accounts.get(ann.id)!, 'mxn', moneyOf('10000500'));
    make(`transactions/${String(id)}/refund`, {});
    await clock.advance(2000);
    const refunds = callback.told('issuance').flatMap(told => told['refund_status'] ?? []);
    expect(refunds).toEqual(['PENDING', 'FAILED']);
    expect(conserved(exchange)).toBe(true);
  });

  it('webhooks 6.1 an answer later than five seconds counts as none, and the delivery is made again', async () => {
    const { make, callback, clock } = listening();
    let calls = 0;
    callback.answer = () => (calls++ === 0 ? -1 : 200);
    make('deposits', { asset: 'btc', amount: '1' });
    await clock.advance(4999);
    const pendings = () => callback.payloads.filter(p => p.status === 'PENDING').length;
    expect(pendings()).toBe(1);
    await clock.advance(1001);
    expect(pendings()).toBe(2);
    await clock.advance(60_000);
    expect(pendings()).toBe(2);
  });

  it('webhooks 6.2 events arrive out of order, and updated_at tells the order', async () => {
    const { make, callback, clock } = listening({ webhookDelayMaxMs: 3000 });
    for (let i = 0; i < 20; i++) make('deposits', { asset: 'btc', amount: '1' });
    await clock.advance(10_000);
    const arrived = callback.payloads;
    expect(arrived).toHaveLength(60);
    expect(statuses(arrived)).not.toEqual(
      statuses([...arrived].sort((a, b) => (a.updated_at < b.updated_at ? -1 : 1))),
    );
    for (const { id } of arrived) {
      const own = arrived.filter(p => p.id === id).sort((a, b) => (a.updated_at < b.updated_at ? -1 : 1));
      expect(statuses(own)).toEqual(['PENDING', 'IN_PROGRESS', 'COMPLETE']);
    }
  });

  it('webhooks 6.3 the same event may come twice, byte for byte', async () => {
    const { make, callback, clock } = listening({ webhookRepeatPips: 10_000 });
    make('deposits', { asset: 'btc', amount: '1' });
    await clock.advance(2000);
    expect(callback.bodies).toHaveLength(6);
    expect(new Set(callback.bodies).size).toBe(3);
  });

  it('webhooks 6.4 intermediate statuses may be left out, changes of a refund never are', async () => {
    const { make, callback, clock } = listening({ webhookSkipPips: 10_000 });
    make('issuances', { amount: '1000', refund: {} });
    await clock.advance(10_000);
    const told = callback.told('issuance').map(each => each['refund_status']);
    expect(statuses(callback.payloads)).toEqual(Array(told.length).fill('COMPLETE'));
    expect([...new Set(told)]).toEqual([undefined, 'PENDING', 'IN_PROGRESS', 'COMPLETE']);
    const steps = callback.told('issuance').at(-1)!['refund_steps'] as Fields[];
    expect(steps.map(step => typeof step['id'])).toEqual(['string', 'string']);
  });

  it('webhooks 6.5 after errors and broken connections a delivery is tried again with growing waits, and ends after enough', async () => {
    const { make, callback, clock, exchange } = listening({ webhookAttemptsMax: 5, webhookSkipPips: 10_000 });
    let calls = 0;
    const at: number[] = [];
    callback.answer = () => (at.push(clock.elapsed()), [500, 0][calls++ % 2]!);
    make('deposits', { asset: 'btc', amount: '1' });
    await clock.advance(120_000);
    expect(at.map(ms => ms - at[0]!)).toEqual([0, 1000, 3000, 7000, 15_000]);
    expect(exchange.webhooks.counts).toMatchObject({ givenUp: 1, waiting: 0 });
  });

  it('webhooks 6 a delivery answered with 4xx or 3xx is over, or tried again, as a switch says', async () => {
    for (const webhookRefused of ['final', 'retried'] as const) {
      const { make, callback, clock } = listening({ webhookRefused, webhookSkipPips: 10_000 });
      const answers = [404, 302, 200];
      callback.answer = () => answers[Math.min(callback.bodies.length - 1, 2)]!;
      make('deposits', { asset: 'btc', amount: '1' });
      await clock.advance(60_000);
      expect(callback.bodies).toHaveLength(webhookRefused === 'final' ? 1 : 3);
    }
  });

  it('webhooks 6 a callback that became forbidden gets nothing more', async () => {
    const { callback, clock, exchange, bob, register, make } = listening({ webhookHosts: 'any' });
    register(bob, 'https://example.com/x');
    exchange.venue.set({ webhookHosts: 'loopback' });
    make('deposits', { asset: 'btc', amount: '1', account: bob.id });
    await clock.advance(5000);
    expect(callback.bodies).toEqual([]);
    expect(exchange.webhooks.counts.refused).toBe(3);
  });

  it('webhooks 2.5 by a switch times are whole seconds, so that states share one', async () => {
    const { make, callback, clock } = listening({ webhookTimeForm: 'seconds', transactionStepMs: 10 });
    make('deposits', { asset: 'btc', amount: '1' });
    await clock.advance(1000);
    expect(new Set(callback.payloads.map(p => p.updated_at))).toEqual(new Set(['2026-09-21T14:13:20Z']));
  });

  it('webhooks 5 with signatures on, the payload’s own bytes verify with a listed key, also after a rotation', async () => {
    const { make, callback, clock, exchange } = listening({ webhookSignature: 'rsa' });
    make('deposits', { asset: 'btc', amount: '1' });
    exchange.webhooks.keys.rotate();
    await clock.advance(2000);
    const keys = exchange.webhooks.keys.list();
    expect(keys).toHaveLength(2);
    expect(new Set(callback.headers.map(h => h['x-bitso-key-id']))).toEqual(new Set(keys.map(k => k.key_id)));
    callback.bodies.forEach((body, i) => {
      const headers = callback.headers[i]!;
      const key = keys.find(k => k.key_id === headers['x-bitso-key-id'])!;
      const payload = JSON.stringify((JSON.parse(body) as { payload: unknown }).payload);
      const verify = (text: string) =>
        createVerify('sha256')
          .update(text)
          .verify(
            { key: Buffer.from(key.public_key, 'base64'), format: 'der', type: 'spki' },
            headers['x-bitso-webhook-event-signature']!,
            'base64',
          );
      expect(verify(payload)).toBe(true);
      expect(verify(payload.replace('btc', 'eth').replace('1', '2'))).toBe(false);
    });
  });
});
