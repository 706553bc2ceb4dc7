/** Transport of the agent server: any bytes are read within bounds, and each line has at most one answer. */
import { PassThrough, Writable } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { IN_FLIGHT_MAX, LineTransport, MESSAGE_BYTES_MAX } from '../../../src/app/mcp/lineTransport.ts';
import { plainJson, boundedText } from '../../../src/app/mcp/plainJson.ts';
import { VirtualClock } from '../../../src/core/index.ts';
import { runsOf } from '../../many.ts';

const tick = () => new Promise(resolve => setImmediate(resolve));

async function transport(output: Writable = new PassThrough()) {
  const input = new PassThrough();
  const got: Readonly<Record<string, unknown>>[] = [];
  const told: string[] = [];
  output.on('data', (part: Buffer) => told.push(...part.toString().split('\n').slice(0, -1)));
  const made = new LineTransport({ input, output, clock: new VirtualClock() });
  made.onmessage = message => void got.push({ ...message });
  await made.start();
  return { input, made, got, told };
}
const ping = (id: unknown) => `${JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' })}\n`;

test('messages arrive in order, however their bytes are split', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ unit: 'grapheme', maxLength: 30 }), { minLength: 1, maxLength: 20 }),
      fc.infiniteStream(fc.integer({ min: 1, max: 40 })),
      async (names, sizes) => {
        const { input, got, made } = await transport();
        const bytes = Buffer.from(
          names.map((x, id) => `${JSON.stringify({ jsonrpc: '2.0', id, method: 'm', params: { x } })}\n`).join(''),
        );
        for (let at = 0; at < bytes.length;) {
          const size = sizes.next().value as number;
          input.write(bytes.subarray(at, at + size));
          at += size;
        }
        await tick();
        expect(got.map(message => (message as { params?: { x: string } }).params?.x)).toEqual(names);
        await made.close();
      },
    ),
    runsOf(300, 40),
  );
});

test('any bytes end nothing: each line is a message, an error or neither, and the next one is read', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 20 }), async lines => {
      const { input, got, told, made } = await transport();
      for (const line of lines) input.write(Buffer.concat([line, Buffer.from('\n')]));
      input.write(ping('last'));
      await tick();
      expect(got.at(-1)).toMatchObject({ id: 'last' });
      const count = Buffer.concat(lines.map(line => Buffer.concat([line, Buffer.from('\n')])))
        .toString('latin1')
        .split('\n').length;
      expect(told.length).toBeLessThan(count);
      await made.close();
    }),
    runsOf(500, 60),
  );
});

test('a line that is too long is dropped with one error, also in pieces, and the next one is read', async () => {
  const { input, got, told } = await transport();
  for (let at = 0; at < 40; at++) input.write('x'.repeat(MESSAGE_BYTES_MAX / 10));
  input.write(`\n${ping(1)}`);
  input.write(`"${'x'.repeat(MESSAGE_BYTES_MAX)}"\n${ping(2)}`);
  await tick();
  expect(told.map(line => JSON.parse(line) as unknown)).toEqual([
    { jsonrpc: '2.0', error: { code: -32_600, message: 'the message is larger than 262144 bytes' } },
    { jsonrpc: '2.0', error: { code: -32_600, message: 'the message is larger than 262144 bytes' } },
  ]);
  expect(got.map(({ id }) => id)).toEqual([1, 2]);
});

test.each<[string, string, number]>([
  ['no JSON', '{"jsonrpc"', -32_700],
  ['a batch', '[]', -32_600],
  ['deep lists', `${'['.repeat(40)}${']'.repeat(40)}`, -32_600],
  ['another version', '{"jsonrpc":"1.0","id":1,"method":"ping"}', -32_600],
  ['no method', '{"jsonrpc":"2.0","id":1}', -32_600],
  ['an id that is a list', '{"jsonrpc":"2.0","id":[1],"method":"ping"}', -32_600],
  ['params that are a list', '{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', -32_600],
])('%s is refused', async (_, line, code) => {
  const { input, got, told } = await transport();
  input.write(`${line}\n`);
  await tick();
  expect(told.map(each => (JSON.parse(each) as { error: { code: number } }).error.code)).toEqual([code]);
  expect(got).toEqual([]);
});

test('brackets in texts count for no depth', async () => {
  const { input, got } = await transport();
  input.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', params: { x: `\\"${'['.repeat(100)}` } })}\n`);
  await tick();
  expect(got).toHaveLength(1);
});

test('so many requests are under way at most; further ones are refused until one is answered or canceled, and so is a repeated id', async () => {
  const { input, got, told, made } = await transport();
  const messages = () => told.splice(0).map(line => JSON.parse(line) as unknown);
  input.write(ping('a') + ping('a'));
  for (let id = 1; id <= IN_FLIGHT_MAX; id++) input.write(ping(id));
  await tick();
  expect(got).toHaveLength(IN_FLIGHT_MAX);
  const busy = (id: number) => ({
    ...{ jsonrpc: '2.0', id },
    error: { code: -32_000, message: '32 requests are under way; try again when one has ended' },
  });
  expect(messages()).toEqual([
    { jsonrpc: '2.0', error: { code: -32_600, message: 'a request with this id is under way' } },
    busy(IN_FLIGHT_MAX),
  ]);
  await made.send({ jsonrpc: '2.0', id: 'a', result: {} });
  messages();
  input.write('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}\n');
  input.write(ping(100) + ping(101) + ping(102));
  await tick();
  // The notification, and the two requests in the places of a and 3.
  expect(got).toHaveLength(IN_FLIGHT_MAX + 3);
  expect(messages()).toEqual([busy(102)]);
});

test('a client that does not read is not served further', async () => {
  const slow = new Writable({ highWaterMark: 100, write: () => undefined });
  const { input, got } = await transport(slow);
  for (let at = 0; at < 10_000; at++) input.write('x\n');
  input.write(ping(1));
  await tick();
  expect(slow.writableLength).toBeLessThan(2_000);
  expect(got).toEqual([]);
});

test('texts are plain within their bounds, and numbers and flags stay', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string({ unit: 'binary', maxLength: 300 }), (value, text) => {
      const plain = JSON.stringify(plainJson({ value, [text]: text }));
      expect(plain).not.toMatch(/\\u00[01]|[\u200b-\u200f\u202a-\u202e\u2066-\u2069]/);
      expect(boundedText(text, 10).length).toBeLessThanOrEqual(17);
    }),
    runsOf(500, 80),
  );
  expect(plainJson({ a: [1, true, null, '1.50'] })).toEqual({ a: [1, true, null, '1.50'] });
  const items = plainJson(Array.from({ length: 2_000 }, () => 1)) as unknown[];
  expect([items.length, items.at(-1)]).toEqual([1_001, expect.stringContaining('1000 more')]);
});
