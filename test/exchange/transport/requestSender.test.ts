/** A request on its way: what it waits for, what is asked again when its turn has come, what is said of its end. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  settle,
  TransportFailure,
  VirtualClock,
  type NewOrder,
  type Observation,
  type WireReply,
} from '../../../src/core/index.ts';
import { Budget } from '../../../src/exchange/transport/budget.ts';
import { buildAndSend, requestSender } from '../../../src/exchange/transport/requestSender.ts';
import {
  bitsoSender,
  EXCHANGE_RATE_LIMITS,
  type AskOptions,
  type BitsoRequest,
} from '../../../src/exchange/bitso/wire/protocol.ts';
import { conversionDesk } from '../../../src/exchange/bitso/rest/desk.ts';
import { WireFault } from '../../../src/exchange/wire/wire.ts';
import { runsOf } from '../../many.ts';
import { credentials, json, ok, ScriptedTransport, scriptedClient, type Answer } from '../bitso/fakes.ts';
import { between } from '../../draws.ts';

const order: NewOrder = {
  book: 'btc_mxn',
  side: 'buy',
  price: '100',
  major: '1',
  originId: 'a-1-1',
  timeInForce: 'post only',
};

describe('a request that waits for its turn', () => {
  it.each(['rfq', 'conversion'] as const)(
    'is not sent if it accepts an offer (%s) that is no longer wanted',
    async way => {
      const { client, transport } = scriptedClient(() => Promise.resolve(ok({ oid: 'x' })));
      expect(await conversionDesk(client).accept({ way, id: 'q-1' }, () => false)).toMatchObject({ code: 'not-sent' });
      expect(transport.requests).toEqual([]);
    },
  );

  it.each([true, false])('is asked then whether it is still wanted, and leaves only if so: %s', async isWantedThen => {
    const answers: ((reply: WireReply) => void)[] = [];
    const { client, transport } = scriptedClient(() => new Promise(resolve => answers.push(resolve)), {
      lanes: { concurrency: 1 },
    });
    const reading = client.openOrders();
    let isWanted = true;
    const placing = client.place(order, () => isWanted);
    await settle();
    expect(transport.requests.map(({ method }) => method)).toEqual(['GET']);
    isWanted = isWantedThen;
    answers.shift()!(ok([]));
    await reading;
    await settle();
    expect(transport.requests.map(({ method }) => method)).toEqual(isWantedThen ? ['GET', 'POST'] : ['GET']);
    answers.shift()?.(ok({ oid: 'x' }));
    expect(await placing).toMatchObject(
      isWantedThen ? { kind: 'done', value: { oid: 'x' } } : { kind: 'refused', code: 'not-sent' },
    );
  });
});

describe('the budget of a request', () => {
  it.each([
    [true, 'unknown', 1],
    [false, 'refused', 0],
  ] as const)('that failed on its way is used up exactly if it may have left (%s)', async (sent, kind, used) => {
    const { client } = scriptedClient(() => Promise.reject(new TransportFailure('reset', sent)));
    const before = client.budget().private;
    expect(await client.place(order)).toMatchObject({ kind });
    expect(before - client.budget().private).toBe(used);
  });

  it('is paused by a throttled order as by a throttled read, though its outcome is unknown', async () => {
    const { client } = scriptedClient(() => json({ success: false, error: { code: '0801', message: 'slow' } }, 420));
    expect(await client.place(order)).toMatchObject({ kind: 'unknown' });
    expect([client.budget().private, client.lockOuts().private]).toEqual([0, 1]);
  });
});

/** A sender over three transports, with nonces that count from 1. */
function sender(answer: Answer, options: Partial<AskOptions> = {}) {
  const clock = new VirtualClock();
  // The clock has run for weeks, so that a sum of two times is nothing like their difference.
  clock.after(3e9, () => undefined);
  clock.runNext();
  const [rest, rfq] = [new ScriptedTransport(answer), new ScriptedTransport(answer)];
  let nonce = 0;
  const seen: Observation[] = [];
  const apis = {
    rest: { transport: rest, basePath: '/api' },
    rfq: { transport: rfq, basePath: '/rfq' },
    webhooks: { transport: rest, basePath: '' },
  };
  const nonces = { ordered: false, last: () => BigInt(nonce), next: () => `${++nonce}` };
  const signer = { credentials, nonces };
  const sending = bitsoSender({ clock, apis, signer, onRequest: one => seen.push(one), ...options });
  return { ...sending, clock, rest, rfq, seen };
}
const question = (
  lane: BitsoRequest<unknown>['lane'],
  more: Partial<BitsoRequest<unknown>> = {},
): BitsoRequest<unknown> => ({
  ...{ endpoint: `a ${lane}`, lane, method: 'GET', path: '/v3/x?y=1', effect: 'read', envelope: 'payload' },
  read: payload => payload,
  ...more,
});
const refusedWith = (code: string, message: string) => ({ kind: 'refused', code, message });
const LANES = ['cancel', 'place', 'private read', 'public read'] as const;

describe('what is sent', () => {
  it('is the path after the base path of its interface, signed as it is sent, but for public reads', async () => {
    const { ask, rest, rfq } = sender(() => ok(null));
    await ask(question('public read'));
    expect(rest.requests).toEqual([
      { method: 'GET', target: '/api/v3/x?y=1', headers: { accept: 'application/json' }, body: '' },
    ]);
    await ask(question('place', { api: 'rfq', method: 'POST', body: { a: 1 } }));
    expect(rfq.requests).toEqual([
      {
        ...{ method: 'POST', target: '/rfq/v3/x?y=1', body: '{"a":1}' },
        headers: {
          ...{ accept: 'application/json', 'content-type': 'application/json' },
          authorization: expect.stringMatching(/^Bitso the-key:1:[0-9a-f]{64}$/) as string,
        },
      },
    ]);
    await ask(question('cancel', { api: 'webhooks' }));
    expect(rest.requests[1]).toMatchObject({
      ...{ target: '/v3/x?y=1', body: '' },
      headers: { authorization: expect.stringMatching(/^Bitso the-key:2:/) as string },
    });
    expect(Object.keys(rest.requests[1]!.headers)).toEqual(['accept', 'authorization']);
  });
});

describe('what is never sent', () => {
  it('says that a key is needed, and of a public read it is not', async () => {
    const { ask, rest } = sender(() => ok([]), { signer: undefined } as unknown as Partial<AskOptions>);
    for (const lane of LANES.slice(0, 3))
      expect(await ask(question(lane))).toStrictEqual(refusedWith('not-sent', `a ${lane} needs an API key`));
    expect(await ask(question('public read'))).toEqual({ kind: 'done', value: [] });
    expect(rest.requests).toHaveLength(1);
  });

  it('is a second request while one is under way, only where nonces must arrive in order', async () => {
    for (const [ordered, running] of [
      [undefined, 2],
      [false, 2],
      [true, 1],
    ] as const) {
      const nonces = { ordered: ordered === true, last: () => 0n, next: () => '1' };
      const signer = ordered === undefined ? undefined : { credentials, nonces };
      const unsigned = { signer } as unknown as Partial<AskOptions>;
      const { ask, rest } = sender(() => new Promise(() => undefined), unsigned);
      for (let n = 0; n < 2; n++) void ask(question('public read'));
      await settle();
      expect(rest.requests).toHaveLength(running);
    }
  });

  it.each([
    ['place', 1_000, undefined],
    ['private read', 5_000, undefined],
    ['public read', 5_000, undefined],
    ['place', 70, 70],
    ['private read', 80, 80],
    ['public read', 90, 90],
  ] as const)('of a %s that waited %i ms for the budget says so, no sooner and no later', async (lane, ms, set) => {
    const waitMs = set === undefined ? {} : { waitMs: { [lane]: set } };
    const { ask, clock, seen } = sender(() => ok(null), { budgets: { public: 1, private: 1 }, ...waitMs });
    await ask(question(lane));
    let end: unknown;
    void ask(question(lane)).then(outcome => (end = outcome));
    await clock.advance(ms - 1);
    expect(end).toBeUndefined();
    await clock.advance(1);
    expect(end).toStrictEqual(
      refusedWith('budget', `no free slot for a ${lane} in the request budget within ${ms} ms`),
    );
    expect(seen[1]).toStrictEqual({ endpoint: `a ${lane}`, outcome: 'refused', code: 'budget', ms });
  });

  it('of one that was no longer wanted says so; its slot is free again, and its transport was not asked', async () => {
    const { ask, budgets, rest } = sender(() => ok(null));
    expect(await ask(question('place', { isWanted: () => false }))).toEqual(
      refusedWith('not-sent', 'a place was not sent, because it was no longer needed'),
    );
    expect([budgets.private.left(), rest.requests]).toEqual([EXCHANGE_RATE_LIMITS.private, []]);
  });

  it('of one that found its lane full says that there is no slot; the budget is as before', async () => {
    const { ask, budgets } = sender(() => new Promise(() => undefined), {
      lanes: { concurrency: 1, cancelConcurrency: 1, waitingMax: 1 },
    });
    void ask(question('private read'));
    void ask(question('private read'));
    await settle();
    const full = await ask(question('place'));
    expect(full).toStrictEqual(refusedWith('budget', 'no free slot for a place in the request budget within 1000 ms'));
    expect(budgets.private.left()).toBe(EXCHANGE_RATE_LIMITS.private - 2);
    for (let n = 0; n < 2; n++) void ask(question('cancel'));
    await settle();
    expect(await ask(question('cancel'))).toStrictEqual(
      refusedWith('budget', 'no free slot for a cancel in the request budget within 60000 ms'),
    );
  });

  it('of one that waits for the budget when the client is closed says so at once', async () => {
    const { ask, budgets, close } = sender(() => ok(null), { budgets: { public: 1, private: 1 } });
    for (const lane of ['private read', 'public read'] as const) await ask(question(lane));
    const waits = (['private read', 'public read'] as const).map(lane => ask(question(lane)));
    await close();
    for (const one of waits) expect(await one).toStrictEqual(refusedWith('closed', 'the exchange client is closed'));
    expect([budgets.public.left(), budgets.private.left()]).toEqual([0, 0]);
  });

  it('is one that had to wait longer than its lane allows, for the budget and for its turn together', async () => {
    const most = { cancel: 60_000, place: 1_000, 'private read': 5_000, 'public read': 5_000 };
    const wait = fc.record({
      lane: fc.constantFrom(...LANES),
      set: fc.option(fc.integer({ min: 2, max: 9_000 })),
      part: between(0, 0.999_999),
      over: fc.oneof(fc.constantFrom(0, 1), fc.integer({ min: -9_000, max: 9_000 })),
    });
    await fc.assert(
      fc.asyncProperty(wait, async ({ lane, set, part, over }) => {
        const waitMs = set ?? most[lane];
        // A cancel needs no budget.
        const forBudget = lane === 'cancel' ? 0 : Math.floor(part * waitMs);
        const forTurn = Math.max(1, waitMs - forBudget + over);
        const answers: ((reply: WireReply) => void)[] = [];
        const { ask, budgets, clock, rest } = sender(() => new Promise(resolve => answers.push(resolve)), {
          budgets: { public: 2, private: 2 },
          lanes: { concurrency: 1, cancelConcurrency: 1 },
          ...(set === null ? {} : { waitMs: { [lane]: set } }),
        });
        void ask(question(lane));
        await settle();
        answers[0]!(ok(null));
        await clock.advance(60_000 - forBudget);
        void ask(question(lane));
        const waits = ask(question(lane));
        await clock.advance(forBudget + forTurn);
        answers[1]!(ok(null));
        await settle();
        const isSent = forBudget + forTurn <= waitMs;
        expect(rest.requests.length).toBe(isSent ? 3 : 2);
        if (lane !== 'cancel')
          expect(budgets[lane === 'public read' ? 'public' : 'private'].left()).toBe(isSent ? 0 : 1);
        if (!isSent)
          expect(await waits).toStrictEqual(
            refusedWith('budget', `no free slot for a ${lane} in the request budget within ${waitMs} ms`),
          );
      }),
      runsOf(300, 60),
    );
  });

  it('of one whose lane was closed meanwhile says that the client is closed', async () => {
    const answers: ((reply: WireReply) => void)[] = [];
    const { ask, close, rest } = sender(() => new Promise(resolve => answers.push(resolve)), {
      lanes: { concurrency: 1 },
    });
    void ask(question('private read'));
    const waits = ask(question('place'));
    await settle();
    const closing = close();
    expect(close()).toBe(closing);
    answers[0]!(ok(null));
    expect(await waits).toStrictEqual(refusedWith('closed', 'the exchange client is closed'));
    await closing;
    expect([rest.closed, rest.requests.length]).toEqual([true, 1]);
    expect(await ask(question('cancel'))).toStrictEqual(refusedWith('closed', 'the exchange client is closed'));
  });

  it('breaks the rules of the interface, or cannot be built: said in its words, and nothing was sent', async () => {
    const { ask, rest } = sender(() => ok(null));
    const build = (problem: Error) => () => {
      throw problem;
    };
    expect(await buildAndSend(ask, build(new WireFault('bad amount')))).toStrictEqual(
      refusedWith('not-sent', 'bad amount'),
    );
    expect(await buildAndSend(ask, build(new TypeError('a defect')))).toStrictEqual(
      refusedWith('not-sent', 'the request could not be built (TypeError)'),
    );
    expect(rest.requests).toEqual([]);
  });
});

/** Steps of a request at which the protocol, the transport or a reader can fail, in their order. */
const STEPS = [
  ...['charges', 'budget', 'isWanted', 'encode', 'send now', 'send later'],
  ...['usedWeights', 'classify', 'read', 'meaningOf', 'remedyOf', 'isTransient', 'onRequest'],
] as const;

describe('an error of any kind at any step', () => {
  it('is an outcome: certain before the request is sent, unknown after it; each slot is given back, and the next request is sent', async () => {
    const kinds = [
      () => new TypeError('a defect'),
      () => new WireFault('bad'),
      () => new RangeError('the-secret'),
      () => 'a text',
      () => undefined,
    ];
    const drawn = fc.record({
      step: fc.constantFrom(...STEPS),
      error: fc.constantFrom(...kinds),
      lane: fc.constantFrom(...LANES),
      isRefused: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(drawn, async ({ step, error, lane, isRefused }) => {
        let isBroken = true;
        const at = (of: (typeof STEPS)[number]): void => {
          if (isBroken && step === of) throw error() as Error;
        };
        const clock = new VirtualClock();
        const budgets = { a: new Budget(clock, { perMinute: 3 }), b: new Budget(clock, { perMinute: 3 }) };
        let sent = 0;
        const { ask } = requestSender<object, 'a' | 'b'>({
          clock,
          budgets,
          lanes: { concurrency: 1, cancelConcurrency: 1 },
          apis: {
            rest: {
              basePath: '',
              transport: {
                send: () => {
                  sent++;
                  at('send now');
                  return Promise.resolve().then(() => (at('send later'), json({})));
                },
                close: () => Promise.resolve(),
              },
            },
          },
          protocol: {
            encode: ({ method }) => (at('encode'), { method, target: '/', headers: {}, body: '' }),
            charges: () => {
              at('charges');
              const missing = isBroken && step === 'budget' ? [{ budget: 'none' }] : [];
              return [{ budget: 'a' }, { budget: 'b', as: 'counts' }, ...missing];
            },
            classify: (reply, { read }) => {
              at('classify');
              const value = read(reply.body, []);
              const refused = { kind: 'refused', code: 'E1', message: 'the-key' } as const;
              return { outcome: isRefused ? refused : { kind: 'done', value }, throttled: false };
            },
            usedWeights: () => (at('usedWeights'), {}),
            meaningOf: () => (at('meaningOf'), undefined),
            remedyOf: () => (at('remedyOf'), null),
            isTransient: () => (at('isTransient'), false),
            masked: ['the-key', 'the-secret'],
            ordered: false,
          },
          onRequest: () => at('onRequest'),
        });
        const one = {
          ...({ endpoint: 'POST order', lane, method: 'POST', path: '/', effect: 'write' } as const),
          isWanted: () => (at('isWanted'), true),
          read: () => (at('read'), 1),
        };
        const first = await ask(one);
        const whole = isRefused ? 'refused' : 'done';
        const isOfCode = ['meaningOf', 'remedyOf', 'isTransient'].includes(step);
        const isHarmless = step === 'onRequest' || (!isRefused && isOfCode);
        expect(first.kind).toBe(isHarmless ? whole : sent === 0 ? 'refused' : 'unknown');
        if (first.kind === 'refused') expect(first.code).toBe(sent === 0 ? 'not-sent' : 'E1');
        expect(JSON.stringify(first)).not.toMatch(/the-/);
        const used = sent;
        expect([budgets.a.left(), budgets.b.left()]).toEqual([3 - used, 3 - used]);
        isBroken = false;
        expect((await ask(one)).kind).toBe(whole);
        await clock.advance(60_000);
        expect([budgets.a.left(), budgets.b.left()]).toEqual([3, 3]);
      }),
      runsOf(3_000, 300),
    );
  });
});

describe('the end of a request that was sent', () => {
  it('without an answer is unknown, also after an error of any other kind, and uses up its slot', async () => {
    for (const [problem, end, used] of [
      [new TransportFailure('reset', true), { kind: 'unknown', reason: 'reset' }, 1],
      [new TransportFailure('refused', false), refusedWith('not-sent', 'refused'), 0],
      [new TypeError('odd'), { kind: 'unknown', reason: 'TypeError: odd' }, 1],
    ] as const) {
      const { ask, budgets, seen } = sender(() => Promise.reject(problem));
      expect(await ask(question('place'))).toEqual(end);
      expect(EXCHANGE_RATE_LIMITS.private - budgets.private.left()).toBe(used);
      expect(seen).toStrictEqual([
        { endpoint: 'a place', outcome: end.kind, ms: 0, ...(used === 0 ? { code: 'not-sent' } : {}) },
      ]);
    }
  });

  it('is shown with the time that the exchange wrote on its answer', async () => {
    const answer = { ...ok(null), headers: { date: 'Wed, 15 Nov 2023 06:13:20 GMT' } };
    const { ask, seen } = sender(() => answer);
    await ask(question('public read'));
    expect(seen).toStrictEqual([
      { endpoint: 'a public read', outcome: 'done', ms: 0, status: 200, answeredAt: 1_700_028_800_000 },
    ]);
  });

  it('has neither key nor secret in any of its texts, and no sign that a terminal obeys', async () => {
    const told = 'the-key and the-secret\u001b[2J\nend';
    const shown = '[redacted] and [redacted]\ufffd[2J end';
    const { ask } = sender(() => json({ success: false, error: { code: 'the-key', message: told } }, 400));
    // The text of a reply is made safe when it is read.
    const asRead = shown.replace('\ufffd', ' ');
    const refused = await ask(question('place'));
    expect(refused).toStrictEqual({ kind: 'refused', message: asRead, code: '[redacted]', status: 400 });
    const unknown = { kind: 'unknown', reason: expect.stringContaining(asRead) as string };
    expect(await ask(question('place', { effect: 'write' }))).toMatchObject(unknown);
    const rows = sender(() => ok(null));
    const read: BitsoRequest<unknown>['read'] = (_, unreadable) => {
      unreadable.push({ why: told, book: told, id: told }, { why: told });
      return [told];
    };
    const [whole, bare] = [{ why: shown, book: shown, id: shown }, { why: shown }];
    const done = await rows.ask(question('place', { read }));
    expect(done).toEqual({ kind: 'done', value: [told], unreadable: [whole, bare] });
    expect(Object.keys((done as unknown as { unreadable: object[] }).unreadable[1]!)).toEqual(['why']);
  });

  it('that was throttled is refused for a write where the exchange counts first, and unknown where that is not known', async () => {
    const slow = () => json({ success: false, error: { code: '0801', message: 'slow' } }, 420);
    const write = question('place', { effect: 'write' });
    expect((await sender(slow).ask(write)).kind).toBe('unknown');
    expect((await sender(slow, { throttleRefuses: true }).ask(write)).kind).toBe('refused');
    const { ask, budgets } = sender(slow);
    await ask(question('public read'));
    expect([budgets.public.left(), budgets.private.left()]).toEqual([0, EXCHANGE_RATE_LIMITS.private]);
  });

  it('of a cancel takes nothing from the budget', async () => {
    const { ask, budgets } = sender(() => ok([]));
    await ask(question('cancel'));
    expect([budgets.public.left(), budgets.private.left()]).toEqual([60, 300]);
  });
});
