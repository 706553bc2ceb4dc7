import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseExactJson } from '../../../src/exchange/wire/json.ts';

const outcomeOf = (parse: () => unknown): { value: unknown } | 'SyntaxError' => {
  try {
    return { value: parse() };
  } catch (error) {
    if (error instanceof SyntaxError) return 'SyntaxError';
    throw error;
  }
};

describe('exact JSON', () => {
  it('keeps every digit of a number that a double would round', () => {
    expect(parseExactJson('{"tid":9007199254740993,"x":[-1234567890123456789 , 1.00000000000000000001]}')).toEqual({
      tid: '9007199254740993',
      x: ['-1234567890123456789', '1.00000000000000000001'],
    });
    expect(parseExactJson('12345678901234567890')).toBe('12345678901234567890');
  });

  it('leaves text alone, even text that looks like numbers or quotes', () => {
    const value = { a: 'x: 12345678901234567890, \\" [9007199254740993', n: 9007199254740991, '"': '\\' };
    const text = JSON.stringify(value);
    expect(parseExactJson(text)).toEqual({ ...value, n: '9007199254740991' });
  });

  it('reads what JSON.parse reads, long numbers apart', () => {
    const noLong = (value: unknown): unknown =>
      JSON.parse(JSON.stringify(value), (_, found: unknown) =>
        typeof found === 'number' && JSON.stringify(found).length > 15 ? JSON.stringify(found) : found,
      );
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(3), (value, spaces) => {
        expect(parseExactJson(JSON.stringify(value, null, spaces))).toEqual(noLong(value));
      }),
    );
  });

  it('refuses exactly what JSON.parse refuses', () => {
    const token = fc.constantFrom(
      ...['{', '}', '[', ']', ':', ',', '"', '\\', ' ', '\n', '-', '+', '.', 'e', '0', 'true', 'null', '"a"'],
      ...['12345678901234567890', '-00000000000000000001', '1e400000000000000000', '1.000000000000000000'],
    );
    fc.assert(
      fc.property(fc.array(token, { maxLength: 12 }), tokens => {
        const text = tokens.join('');
        const [exact, plain] = [outcomeOf(() => parseExactJson(text)), outcomeOf(() => JSON.parse(text) as unknown)];
        expect(exact === 'SyntaxError').toBe(plain === 'SyntaxError');
      }),
      { numRuns: 2_000 },
    );
  });

  it('does not turn a number into a key', () => {
    expect(() => parseExactJson('{12345678901234567890 :12345678901234567890}')).toThrow(SyntaxError);
  });

  it('takes more parts than by default only where the caller allows them', () => {
    const long = `[${'0,'.repeat(150_000)}0]`;
    expect(() => parseExactJson(long)).toThrow('more than 100000 parts');
    expect(parseExactJson(long, 200_000)).toHaveLength(150_001);
    expect(() => parseExactJson(long, 120_000)).toThrow('more than 120000 parts');
  });

  it('is quick on hostile text', () => {
    const long = ':1234567890123456789';
    const hostile = [
      `"${'\\"'.repeat(500_000)}${long}`,
      '1234567890123456'.repeat(60_000),
      '['.repeat(1_000_000) + long,
    ];
    const from = process.cpuUsage();
    for (const text of hostile) outcomeOf(() => parseExactJson(text));
    // Time of the processor: a busy machine changes little of it.
    expect(process.cpuUsage(from).user / 1_000).toBeLessThan(5_000);
  });
});
