/**
 * Readers of HTTP answer bodies with a limit on the number of bytes. The abort signal of the request limits the time.
 */

/**
 * Returns a body as text. If the body has more than `bytesMax` bytes, stops reading and rejects with a one-clause
 * message.
 */
export async function readBody(body: AsyncIterable<Uint8Array>, bytesMax: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > bytesMax) throw new Error(`larger than ${bytesMax} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Yields the chunks of a body. Throws above `bytesMax` bytes. */
export async function* boundedBody(body: AsyncIterable<Uint8Array>, bytesMax: number): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > bytesMax) throw new Error(`larger than ${bytesMax} bytes`);
    yield chunk;
  }
}
