/**
 * Conversion of the bot's origin ids to Kraken's `cl_ord_id`, and back. A `cl_ord_id` is free text of at most 18
 * characters, or a UUID.
 *
 * An origin id of at most 18 characters is sent unchanged. A longer one, `<instance>-<run>-<counter>`, becomes a UUID
 * that contains all of its parts, so that it can be converted back without a table. Source:
 * docs.kraken.com/api/docs/guides/spot-clordid.
 */
import { counted, type OrderIdRule } from '../../../core/index.ts';
import { fault, WireFault } from '../../wire/wire.ts';

const FREE_TEXT = /^[A-Za-z0-9_-]{1,18}$/;
const PARTS = /^([A-Za-z0-9]{1,10})-(0|[1-9]\d{0,9})-([1-9]\d{0,7})$/;
/** Limits of the ids that become a UUID. An instance of 10 characters in base 62 fits into its 60 bits. */
export const KRAKEN_ORDER_IDS: OrderIdRule = { instanceMax: 10, runMax: 2 ** 31 - 1, counterMax: 2 ** 26 - 1 };
const UUID = /^([0-9a-f]{8})-([0-9a-f]{4})-4([0-9a-f]{3})-([89ab])([0-9a-f]{3})-([0-9a-f]{12})$/;
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** Numbers of bits of four fields that share the 122 free bits of a version 4 UUID. The instance is in base 62. */
const BITS = { mark: 5n, instance: 60n, run: 31n, counter: 26n } as const;
/** Value of the field `mark`, which distinguishes the bot's UUIDs from those of other programs. */
const MARK = 0b1_1001n;

/**
 * Returns the `cl_ord_id` of an origin id. Throws a WireFault if the id does not fit: an instance of over 10
 * characters in an id of over 18, a run of at least 2^31 or a counter of at least 2^26.
 */
export function krakenClientId(originId: string): string {
  if (FREE_TEXT.test(originId)) return originId;
  const parts = uuidPartsOf(originId);
  let bits = MARK;
  bits = (bits << BITS.instance) | base62Number(parts.instance);
  bits = (bits << BITS.run) | parts.run;
  bits = (bits << BITS.counter) | parts.counter;
  const hex = bits.toString(2).padStart(122, '0');
  return uuidOf(hex);
}

/**
 * Returns the `cl_ord_id` of an origin id; `undefined` if the id does not fit, in which case no order with it was ever
 * sent.
 */
export function clientIdIfFits(originId: string): string | undefined {
  try {
    return krakenClientId(originId);
  } catch (error) {
    if (error instanceof WireFault) return undefined;
    throw error;
  }
}

/** Returns the parts of an origin id as they are in the UUID. Throws a WireFault if they do not fit. */
function uuidPartsOf(originId: string): { readonly instance: string; readonly run: bigint; readonly counter: bigint } {
  const [, instance = '', run = '', counter = ''] = PARTS.exec(originId) ?? [];
  const { instanceMax, runMax, counterMax } = KRAKEN_ORDER_IDS;
  if (instance === '' || instance.length > instanceMax || Number(run) > runMax || Number(counter) > counterMax)
    throw fault(
      'origin id',
      `at most 18 characters, or <instance>-<run>-<counter> with an instance of at most ${counted(instanceMax, 'character')}, a run up to ${runMax} and a counter up to ${counterMax}`,
      originId,
    );
  return { instance, run: BigInt(run), counter: BigInt(counter) };
}

/**
 * Returns the origin id of a `cl_ord_id`. An id that another program chose is returned unchanged.
 */
export function originIdOf(clientId: string): string {
  const parts = UUID.exec(clientId);
  if (!parts) return clientId;
  const [, a = '', b = '', c = '', variant = '', d = '', e = ''] = parts;
  const top = BigInt(`0x${a}${b}${c}`);
  const low = BigInt(`0x${d}${e}`);
  const bits = (((top << 2n) | (BigInt(`0x${variant}`) & 3n)) << 60n) | low;
  const cut = (width: bigint, above: bigint): bigint => (bits >> above) & ((1n << width) - 1n);
  const counter = cut(BITS.counter, 0n);
  const run = cut(BITS.run, BITS.counter);
  const instance = base62Text(cut(BITS.instance, BITS.counter + BITS.run));
  const originId = `${instance}-${run}-${counter}`;
  const isOwn = cut(BITS.mark, BITS.counter + BITS.run + BITS.instance) === MARK && PARTS.test(originId);
  return isOwn && originId.length > 18 ? originId : clientId;
}

/**
 * Converts a text of letters and digits to a number. Different texts have different numbers, and every number above 0
 * has a text, so that `base62Text` can convert it back.
 */
const base62Number = (text: string): bigint =>
  [...text].reduce((sum, letter) => sum * 62n + BigInt(LETTERS.indexOf(letter) + 1), 0n);

function base62Text(number: bigint): string {
  let text = '';
  for (let rest = number; rest > 0n; rest = (rest - 1n) / 62n) text = LETTERS[Number((rest - 1n) % 62n)]! + text;
  return text;
}

/** Formats 122 bits as a UUID of version 4 and variant 1 (RFC 9562). */
function uuidOf(bits: string): string {
  const whole = `${bits.slice(0, 48)}0100${bits.slice(48, 60)}10${bits.slice(60)}`;
  const hex = BigInt(`0b${whole}`).toString(16).padStart(32, '0');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
