/** Values of flags: what each parser accepts, up to its bounds, and what it refuses. */
import { InvalidArgumentError } from 'commander';
import { expect, test } from 'vitest';
import {
  dayFlag,
  decimalFlag,
  digestFlag,
  durationFlag,
  portFlag,
  recordedTime,
  seedNumber,
  several,
  speed,
  threadNumber,
  timeOrAgeFlag,
} from '../../src/cli/terminal/flags.ts';

const NOW = 1_700_000_000_000;
const HEX = '0123456789abcdefABCDEF0123456789';

test.each<readonly [string, (text: string) => unknown, Readonly<Record<string, unknown>>, readonly string[]]>([
  ['speed', speed, { 1: 1, 0.5: 0.5, 1000: 1000 }, ['0', '0.0', '1000.1', '1001', '-1', '+1', '1e2', '']],
  ['seed', seedNumber, { 0: 0, 42: 42, 2147483647: 2147483647 }, ['2147483648', '-1', '1.5', '1e3', '']],
  ['number of threads', threadNumber, { 1: 1, 64: 64 }, ['0', '65', '1.5', '-1', '']],
  ['port', portFlag, { 0: 0, 65535: 65535 }, ['65536', '-1', '80.5', '']],
  [
    'duration',
    durationFlag,
    { '0.5s': 500, '90s': 90_000, '10m': 600_000, '2h': 7_200_000, '2147483s': 2_147_483_000, '596h': 2_145_600_000 },
    ['0s', '2147484s', '597h', '5', '5d', '5ms', '-5m', ' 5m', ''],
  ],
  [
    'time, or an age at twice the speed',
    text => timeOrAgeFlag(text)(NOW, 2),
    { '2026-11-21': Date.UTC(2026, 10, 21), '5m': NOW - 600_000, '1.5h': NOW - 10_800_000 },
    ['0s', '597h', '5', 'yesterday'],
  ],
  [
    'recorded time',
    recordedTime,
    {
      '2026-11-21': Date.UTC(2026, 10, 21),
      '2026-11-21T12:30': Date.UTC(2026, 10, 21, 12, 30),
      '2026-11-21 12:30:15.25 UTC': Date.UTC(2026, 10, 21, 12, 30, 15, 250),
      '2026-11-21T12:30:15+02:30': Date.UTC(2026, 10, 21, 10, 0, 15),
    },
    ['5m', '2026-11-21T12', '2026-11-21Z', '2026-13-21', '2026-11-31', '2026-02-29T12:00Z', ''],
  ],
  [
    'day',
    dayFlag,
    { '2026-11-21': Date.UTC(2026, 10, 21), '2028-02-29': Date.UTC(2028, 1, 29) },
    ['2026-11-21T00:00', '2026-13-01', '26-11-21', '1d', '2026-02-29', '2026-11-31', '2026-11-00', ''],
  ],
  ['amount', decimalFlag, { '0.01': '0.01', '100': '100' }, ['0', '0.000', '-1', '1e2', '1,5', '']],
  [
    'digest',
    digestFlag,
    { ABCDEF12: 'abcdef12', [HEX + HEX]: (HEX + HEX).toLowerCase() },
    ['ABCDEF1', `${HEX}${HEX}0`, 'abcdefg1', ''],
  ],
])('a %s is read exactly up to its bounds', (_, parse, accepted, refused) => {
  for (const [text, value] of Object.entries(accepted)) expect([text, parse(text)]).toEqual([text, value]);
  for (const text of refused) expect(() => parse(text), text).toThrow(InvalidArgumentError);
});

test('a flag that is given several times keeps its values in order', () => {
  expect(['b', 'a', 'b'].reduce<readonly string[]>((before, text) => several(text, before), ['c'])).toEqual(['c', 'b', 'a', 'b']); // prettier-ignore
});
