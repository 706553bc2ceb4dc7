/** Kinds of values that several keys of the YAML have, with what is said when one is wrong. */
import { z } from 'zod';

export const decimalText = z.string().regex(/^\d{1,20}(?:\.\d{1,18})?$/, 'expected quoted decimal text like "0.25"');
export const rate = z.string().regex(/^0(?:\.\d{1,8})?$/, 'expected a quoted fraction like "0.0065"');
export const balances = z.record(z.string().regex(/^[a-z0-9]{2,12}$/, 'expected a currency like "mxn"'), decimalText);
export const aboveZero = decimalText.refine(text => /[1-9]/.test(text), 'must be above zero');
export const millis = (from: number, to: number) => z.int().min(from).max(to);
export const address = (protocols: RegExp, example: string) =>
  z
    .string()
    .refine(
      text => isPlainAddress(text, protocols),
      `expected an address like ${example}, without user, query or trailing slash`,
    );
export const httpAddress = address(/^https?:$/, 'https://api.example.com');
export const addressRange = z
  .string()
  .refine(isAddressRange, 'expected an address or a range, like 52.15.91.227 or 10.0.0.0/8');
export const port = z.int().min(0).max(65_535);

/** Plain text only over loopback; no credentials, query, fragment or trailing slash. */
function isPlainAddress(text: string, protocols: RegExp): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  const encrypted = url.protocol === 'https:' || url.protocol === 'wss:';
  return (
    protocols.test(url.protocol) &&
    (encrypted || /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(url.hostname)) &&
    url.username === '' &&
    url.password === '' &&
    !/[?#]|\/$/.test(text)
  );
}

/** An IP address, or one with a number of leading bits. */
function isAddressRange(text: string): boolean {
  const [ip = '', bits, ...more] = text.split('/');
  const v4 = z.ipv4().safeParse(ip).success;
  if (!(v4 || z.ipv6().safeParse(ip).success) || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (v4 ? 32 : 128));
}
