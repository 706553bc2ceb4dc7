/** Parser of stream frames. */
import { parseExactJson } from './json.ts';
import { fault } from './wire.ts';

/** Parses a frame of at most `partsMax` parts without loss of digits. Throws a WireFault if the text is not JSON. */
export function parsedFrame(text: string, partsMax?: number): unknown {
  try {
    return parseExactJson(text, partsMax);
  } catch (error) {
    if (error instanceof SyntaxError) throw fault('frame', 'JSON', text);
    // A hostile frame can nest deeper than the parser's stack.
    if (error instanceof RangeError) throw fault('frame', 'JSON with fewer nested levels', '');
    throw error;
  }
}
