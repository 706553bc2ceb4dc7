/** Search space: parameters with bounds, and the mapping between its points and the unit cube. */
import type { Random } from '../../../src/core/index.ts';

/** Value of a parameter. */
export type ParameterValue = number | string | boolean;

/**
 * Condition under which a parameter exists: an earlier parameter of the space has the value `is`, or a value in the
 * list `is`.
 */
export type Condition = { readonly key: string; readonly is: ParameterValue | readonly ParameterValue[] };

/**
 * Parameter to vary. `linear` and `log` have inclusive bounds, and are uniform in the number or in its logarithm. A
 * `step` restricts the values to `low` plus multiples of the step. `integer` has steps of `step` (default: 1). `choice`
 * has one value of an unordered list.
 */
export type Parameter =
  | {
      readonly key: string;
      readonly kind: 'linear' | 'log' | 'integer';
      readonly low: number;
      readonly high: number;
      readonly step?: number;
      readonly when?: Condition;
    }
  | {
      readonly key: string;
      readonly kind: 'choice';
      readonly values: readonly ParameterValue[];
      readonly when?: Condition;
    };

/** Parameters in the order of the unit cube's coordinates. A condition must refer to an earlier parameter. */
export type Space = readonly Parameter[];

/** Values of exactly those parameters whose condition is true. */
export type Point = Readonly<Record<string, ParameterValue>>;

/** Returns the first flaw of a space in one line, with the expected and the found value; `null` for a valid space. */
export function flawOfSpace(space: Space): string | null {
  if (space.length === 0) return 'expected at least one parameter, found none';
  for (const [i, parameter] of space.entries()) {
    const before = space.slice(0, i);
    if (before.some(({ key }) => key === parameter.key))
      return `${parameter.key}: listed twice; expected each key once`;
    const flaw = flawOfParameter(parameter) ?? flawOfCondition(parameter, before);
    if (flaw !== null) return `${parameter.key}: ${flaw}`;
  }
  return null;
}

function flawOfParameter(parameter: Parameter): string | null {
  if (parameter.kind === 'choice') {
    if (parameter.values.length === 0) return 'expected at least one value, found none';
    if (new Set(parameter.values).size < parameter.values.length)
      return 'lists a value twice; expected each value once';
    return null;
  }
  const { kind, low, high, step } = parameter;
  if (!(Number.isFinite(low) && Number.isFinite(high) && low <= high))
    return `expected two numbers with low <= high, found low ${low} and high ${high}`;
  if (kind === 'log' && !(low > 0)) return `expected low above 0 on a logarithmic scale, found ${low}`;
  if (step !== undefined && !(Number.isFinite(step) && step > 0)) return `expected a step above 0, found ${step}`;
  if (kind === 'integer' && ![low, high, step ?? 1].every(Number.isSafeInteger))
    return `expected whole numbers, found low ${low}, high ${high} and step ${step ?? 1}`;
  return null;
}

function flawOfCondition({ when }: Parameter, before: Space): string | null {
  if (when === undefined) return null;
  const other = before.find(({ key }) => key === when.key);
  if (other === undefined) return `depends on ${when.key}; expected ${when.key} earlier in the list of parameters`;
  const never = wantedOf(when).find(value => !mayBe(other, value));
  return never === undefined
    ? null
    : `depends on ${when.key} = ${never}, but ${when.key} cannot have this value; expected a possible value`;
}

/** Whether the parameter has no condition, or its condition is true at the point. */
export const holdsAt = ({ when }: Parameter, point: Point): boolean =>
  when === undefined || (Object.hasOwn(point, when.key) && wantedOf(when).includes(point[when.key]!));

const wantedOf = ({ is }: Condition): readonly ParameterValue[] =>
  (Array.isArray(is) ? is : [is]) as readonly ParameterValue[];

/** Whether `value` is one of the parameter's possible values. */
export const mayBe = (parameter: Parameter, value: ParameterValue): boolean =>
  parameter.kind === 'choice'
    ? parameter.values.includes(value)
    : typeof value === 'number' &&
      value >= parameter.low &&
      value <= parameter.high &&
      nearest(parameter, value) === value;

/** Returns the number of values of a parameter; Infinity if it has no steps. */
export function countOf(parameter: Parameter): number {
  if (parameter.kind === 'choice') return parameter.values.length;
  const { kind, low, high, step } = parameter;
  if (low === high) return 1;
  if (step === undefined && kind !== 'integer') return Infinity;
  // The tolerance includes a last step that is too short only because of float rounding.
  return Math.floor((high - low) / (step ?? 1) + 1e-9) + 1;
}

/** Returns the point at coordinates of the unit cube. Coordinates outside the cube are clamped. */
export function pointAt(space: Space, cube: ArrayLike<number>): Point {
  const point: Record<string, ParameterValue> = {};
  for (const [i, parameter] of space.entries())
    if (holdsAt(parameter, point)) point[parameter.key] = valueAt(parameter, cube[i]!);
  return point;
}

/**
 * Returns the value of one parameter at a coordinate. Steps have equal shares of the range; on a logarithmic scale, the
 * nearest step is returned.
 */
export function valueAt(parameter: Parameter, coordinate: number): ParameterValue {
  const u = coordinate > 0 ? Math.min(1, coordinate) : 0;
  const count = countOf(parameter);
  if (parameter.kind === 'choice') return parameter.values[Math.min(count - 1, Math.floor(u * count))]!;
  const { kind, low, high } = parameter;
  if (kind === 'log') return nearest(parameter, low * Math.exp(u * Math.log(high / low)));
  if (count === Infinity) return Math.min(high, low + u * (high - low));
  return stepped(parameter, Math.min(count - 1, Math.floor(u * count)));
}

/**
 * Returns the coordinates (0 to 1) of a point; `null` for parameters whose condition is false. A listed or whole value
 * has an equal part of this range, and its coordinate is the center of the part. Throws a RangeError for a missing
 * value.
 */
export const cubeOf = (space: Space, point: Point): readonly (number | null)[] =>
  space.map(parameter => (holdsAt(parameter, point) ? coordinateOf(parameter, point[parameter.key]) : null));

/** Returns the coordinate of one value of a parameter. */
export function coordinateOf(parameter: Parameter, value: ParameterValue | undefined): number {
  if (value === undefined || !mayBe(parameter, value))
    throw new RangeError(`${parameter.key}: expected a value that the parameter can have, found ${value}`);
  const count = countOf(parameter);
  if (parameter.kind === 'choice') return (parameter.values.indexOf(value) + 0.5) / count;
  const { kind, low, high } = parameter;
  const at = Number(value);
  if (count === 1) return 0.5;
  if (kind === 'log') return Math.log(at / low) / Math.log(high / low);
  if (count === Infinity) return (at - low) / (high - low);
  return (stepOf(parameter, at) + 0.5) / count;
}

/** Returns a text that is equal for equal points, whatever the order of their keys. */
export const textOfPoint = (point: Point): string =>
  JSON.stringify(Object.entries(point).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));

/** Samples a point uniformly from the unit cube. Every parameter consumes a draw, even if its condition is false. */
export const randomPoint = (space: Space, random: Random): Point =>
  pointAt(
    space,
    space.map(() => random.next()),
  );

type Numeric = Exclude<Parameter, { kind: 'choice' }>;

const stepOf = ({ low, step }: Numeric, value: number): number => Math.round((value - low) / (step ?? 1));

/**
 * Returns the lower bound plus a number of steps, rounded to twelve digits, so that 0.1 plus two steps of 0.1 is 0.3.
 * The lower bound itself is exact.
 */
const stepped = ({ low, step }: Numeric, steps: number): number =>
  steps === 0 ? low : Number((low + steps * (step ?? 1)).toPrecision(12));

function nearest(parameter: Numeric, value: number): number {
  const { low, high } = parameter;
  const count = countOf(parameter);
  if (count === Infinity) return Math.min(high, Math.max(low, value));
  return stepped(parameter, Math.min(count - 1, Math.max(0, stepOf(parameter, value))));
}
