/** Streamed lines of the console's answers. The last line may lack its line feed. */

/** Yields the lines as they arrive, without empty lines. */
export async function* answerLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    text += done ? decoder.decode() : decoder.decode(value, { stream: true });
    const lines = text.split('\n');
    text = done ? '' : (lines.pop() ?? '');
    for (const line of lines) if (line !== '') yield line;
    if (done) return;
  }
}
