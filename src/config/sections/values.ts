/** Value types shared by several YAML keys, with their error messages. */
import { HOUR_MS, trimmedEnd } from '../../core/index.ts';
import { z } from 'zod';
import { decimalText } from '../../../strategies/index.ts';

/** Currency in lower case. */
export const CURRENCY = /^[a-z0-9]{2,12}$/;
/** Host name or address, without a scheme. */
export const HOST_NAME = /^[A-Za-z0-9.:-]{1,253}$/;

/** Fee as a fraction; negative for a rebate. */
export const signedRate = z
  .string()
  .regex(/^-?0(?:\.\d{1,8})?$/, 'expected a fraction in quotation marks, like "0.0005", or "-0.0001" for a rebate');

export const rate = z.string().regex(/^0(?:\.\d{1,8})?$/, 'expected a fraction in quotation marks, like "0.0065"');
export const balances = z.record(z.string().regex(CURRENCY, 'expected a currency like "mxn"'), decimalText);
/** Schema of whole milliseconds between `from` and `to`, both included. */
export const millis = (from: number, to: number) => z.int().min(from).max(to);
/**
 * URL whose protocol (with colon, as `https:`) matches `protocols`. Rejects unencrypted URLs except to this machine,
 * and a user, query, fragment or trailing slash.
 */
export const address = (protocols: RegExp, example: string) =>
  z.string().superRefine((text, context) => {
    const message = plainAddressProblem(text, protocols, example);
    if (message !== null) context.addIssue({ code: 'custom', message });
  });

/** Returns what is wrong with an address, and what to write instead; `null` if nothing is wrong. */
export const plainAddressProblem = (text: string, protocols: RegExp, example: string): string | null =>
  isPlainAddress(text, protocols) ? null : refusal(text, protocols, example);

export const httpAddress = address(/^https?:$/, 'https://api.example.com');
/** Base URL of the REST interface. Contains no version, because Puntas selects the version. */
export const baseAddress = httpAddress.superRefine((text, context) => {
  const [base, version] = [text.replace(/(\/api)?\/v\d+$/, ''), /(?:\/api)?\/v\d+$/.exec(text)?.[0]];
  if (version !== undefined)
    context.addIssue({ code: 'custom', message: `expected the base address, without ${version}; write ${base}` });
});
export const addressRange = z
  .string()
  .refine(isAddressRange, 'expected an IP address or a range of addresses, like 52.15.91.227 or 10.0.0.0/8');
export const port = z.int().min(0).max(65_535);

/** Whether the host of a URL is this machine. */
export const isOnThisMachine = ({ hostname }: URL): boolean => /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname);

/** Whether a URL is encrypted or on loopback, without credentials, query, fragment or trailing slash. */
function isPlainAddress(text: string, protocols: RegExp): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  const encrypted = url.protocol === 'https:' || url.protocol === 'wss:';
  return (
    protocols.test(url.protocol) &&
    (encrypted || isOnThisMachine(url)) &&
    url.username === '' &&
    url.password === '' &&
    !/[?#]|\/$/.test(text)
  );
}

/** Returns what is wrong with a URL, and what to write instead if the intended URL is clear. */
function refusal(text: string, protocols: RegExp, example: string): string {
  const expected = `expected an address like ${example}, without user, query or trailing slash`;
  if (!URL.canParse(text)) return expected;
  const url = new URL(text);
  if (url.username !== '' || url.password !== '' || /[?#]/.test(text) || !protocols.test(url.protocol)) return expected;
  if (url.protocol === 'https:' || url.protocol === 'wss:') return `${expected}; write ${trimmedEnd(text, '/')}`;
  const encrypted = trimmedEnd(text.replace(/^(http|ws):/i, '$1s:'), '/');
  return `expected an encrypted address, except on this machine (127.0.0.1, localhost, [::1]); write ${encrypted}`;
}

/** Whether the text is an IP address, optionally with a prefix length. */
function isAddressRange(text: string): boolean {
  const [ip = '', bits, ...more] = text.split('/');
  const v4 = z.ipv4().safeParse(ip).success;
  if (!(v4 || z.ipv6().safeParse(ip).success) || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (v4 ? 32 : 128));
}

export const nextTierCounts = z
  .boolean()
  .default(false)
  .describe(
    'Whether quotes subtract from the maker fee the value that traded volume has for reaching the next fee tier.',
  );

export const fillSamples = z
  .strictObject({
    perHour: z.int().min(1).max(120).default(12).describe('Orders of the minimum amount per hour.'),
    lifeMs: millis(1_000, HOUR_MS).default(60_000).describe('Time for which such an order stays, unless it fills.'),
    withinBps: z
      .number()
      .min(0)
      .max(500)
      .default(5)
      .describe('Maximum distance of such an order from the best price of its side; the distance is uniformly random.'),
  })
  .refine(({ perHour, lifeMs }) => perHour * lifeMs <= HOUR_MS, {
    path: ['lifeMs'],
    error: 'expected perHour times lifeMs of at most one hour (3600000); decrease one of them',
  })
  .describe('Small orders at random times and distances, from which puntas calibrate --fills learns.');
