import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { moneyOf } from '../../../src/core/index.ts';
import * as wire from '../../../src/exchange/wire/wire.ts';

const fails = (read: () => unknown, what: unknown) => expect(read, JSON.stringify(what)).toThrow(wire.WireFault);

describe('a time', () => {
  const at = (created_at: unknown) => wire.time({ created_at }, 'created_at');

  it.each([
    ['2026-02-11T16:05:09+0000', 0],
    ['2026-02-11T16:05:09+00:00', 0],
    ['2026-02-11T16:05:09.000+00:00', 0],
    ['2026-02-11T16:05:09Z', 0],
    ['2026-02-11T16:05:09.123456789Z', 123],
    ['2026-02-11T16:05:09.5Z', 500],
    ['2026-02-11T10:05:09-0600', 0],
    ['2026-02-11T21:35:09+05:30', 0],
  ])('%s is read as UTC milliseconds', (text, ms) => {
    expect(at(text)).toBe(Date.UTC(2026, 1, 11, 16, 5, 9, ms));
  });

  it('survives the way to text and back, in every spelling and offset', () => {
    const spelled = fc.record({
      ms: fc.integer({ min: 0, max: 4_102_444_800_000 }),
      hours: fc.integer({ min: -12, max: 14 }),
      colon: fc.constantFrom(':', ''),
    });
    fc.assert(
      fc.property(spelled, ({ ms, hours, colon }) => {
        fc.pre(ms + hours * 3_600_000 >= 0);
        const local = new Date(ms + hours * 3_600_000).toISOString().slice(0, -1);
        const offset = `${hours < 0 ? '-' : '+'}${String(Math.abs(hours)).padStart(2, '0')}${colon}00`;
        expect(at(local + offset)).toBe(ms);
      }),
    );
  });

  it('is refused in any other form, and when it does not exist', () => {
    const bad = [
      '',
      'now',
      5,
      null,
      '2026-02-11',
      '2026-02-11T16:05:09',
      '2026-02-11 16:05:09Z',
      '2026-02-30T00:00:00Z',
    ];
    bad.push(
      '2026-13-01T00:00:00Z',
      '2026-01-01T24:00:00Z',
      '2026-01-01T00:60:00Z',
      '2026-01-01T00:00:60Z',
      '0026-01-01T00:00:00Z',
    );
    bad.push(
      '2026-01-01T00:00:00+24:00',
      '2026-01-01T00:00:00+00:60',
      ' 2026-01-01T00:00:00Z',
      '2026-01-01T00:00:00Z\n',
    );
    for (const text of bad) fails(() => at(text), text);
  });
});

describe('a decimal', () => {
  it('is the text that came, whatever the text, or nothing at all', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[-+0-9.eExXaN_ ]{0,12}$/)), value => {
        const plain = /^\d{1,20}(\.\d{1,18})?$/.test(value);
        if (plain) expect(wire.decimal({ value }, 'value')).toBe(value);
        else fails(() => wire.decimal({ value }, 'value'), value);
      }),
    );
  });

  it('is not a number, exponent, hex, sign, separator or word', () => {
    for (const value of [
      1,
      0.1,
      null,
      undefined,
      '',
      '1e5',
      '1E-8',
      '0x10',
      '+1',
      '-1',
      '1_000',
      '1,0',
      '.5',
      '5.',
      'NaN',
      'Infinity',
      '٣',
      ['1'],
    ]) {
      fails(() => wire.decimal({ value }, 'value'), value);
    }
  });

  it('loses its sign, and nothing else, where trades are signed', () => {
    expect(wire.magnitude({ major: '-0.00250000' }, 'major')).toBe('0.00250000');
    expect(wire.magnitude({ major: '12' }, 'major')).toBe('12');
    for (const value of ['--1', '+1', '-', '-1e5', 1, -1]) fails(() => wire.magnitude({ value }, 'value'), value);
  });

  it('is something that money can be made of', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^\d{1,20}(\.\d{1,18})?$/), value => {
        expect(() => moneyOf(wire.decimal({ value }, 'value'))).not.toThrow();
      }),
    );
  });
});

describe('a whole number', () => {
  it('keeps every digit, as text or as number', () => {
    expect(wire.integer({ n: '9007199254740993' }, 'n')).toBe(9007199254740993n);
    expect(wire.integer({ n: 201566590 }, 'n')).toBe(201566590n);
    expect(wire.identifier({ id: 7 }, 'id')).toBe('7');
    expect(wire.identifier({ id: 'quote-123' }, 'id')).toBe('quote-123');
    expect(wire.count({ n: '8' }, 'n')).toBe(8);
  });

  it('is refused when digits were lost or never whole', () => {
    for (const n of [2 ** 53, -1, 1.5, NaN, Infinity, '', '-1', '1.0', '1e3', '99999999999999999999', true])
      fails(() => wire.integer({ n }, 'n'), n);
    fails(() => wire.count({ n: '9007199254740993' }, 'n'), 'past 2^53');
  });
});

describe('a fault', () => {
  it('names the field, what was expected and what was found, shortly and without going deep', () => {
    const deep: unknown = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000));
    expect(wire.fault('price', 'decimal digits', 'x'.repeat(1_000)).message).toMatch(
      /^price: expected decimal digits, found "x{60}"$/,
    );
    expect(wire.fault('price', 'text', deep).message).toBe('price: expected text, found an array');
    expect(wire.fault('price', 'text', {}).message).toContain('an object');
    expect(wire.fault('price', 'text', undefined).message).toContain('nothing');
  });
});
