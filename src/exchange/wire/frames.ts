/** Parser of stream frames. */
import { parseExactJson } from './json.ts';
import { fault, WireFault } from './wire.ts';

/**
 * Parses a frame of at most `partsMax` JSON parts without loss of digits. Throws a WireFault if the text is not JSON.
 */
export function parsedFrame(text: string, partsMax?: number): unknown {
  try {
    return parseExactJson(text, partsMax);
  } catch (error) {
    if (error instanceof SyntaxError) throw fault('frame', 'JSON', text);
    // A hostile frame can nest deeper than the parser's stack.
    if (error instanceof RangeError) throw new WireFault('frame: the JSON has too many nested levels');
    throw error;
  }
}
