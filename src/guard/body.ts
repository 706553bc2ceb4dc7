/** Bodies of HTTP answers, read up to a maximum of bytes. Their time is bounded by the signal of the request. */

/** Text of a body. Rejects with one clause if it has more than `bytesMax` bytes, and reads no further. */
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

/** The chunks of a body, ended with an error behind `bytesMax` bytes. */
export async function* boundedBody(body: AsyncIterable<Uint8Array>, bytesMax: number): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > bytesMax) throw new Error(`larger than ${bytesMax} bytes`);
    yield chunk;
  }
}
