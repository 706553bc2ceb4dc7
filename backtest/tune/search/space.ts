/** What a search may vary: parameters with their bounds, and the way between a point of them and the unit cube that searches work in. */
import type { Random } from '../../../src/core/index.ts';

/** What a parameter may be set to. */
export type ParameterValue = number | string | boolean;

/** The parameter is there only while another one, named before it, has this value or one of these. */
export type Condition = { readonly key: string; readonly is: ParameterValue | readonly ParameterValue[] };

/**
 * One thing that is varied. `linear` and `log` are between bounds, both included, evenly or evenly in the logarithm; with a `step` only at `low` and whole steps above it. `integer` is
 * whole numbers, each `step` (1 without it). `choice` is one of a list without an order.
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

/** In the order of the coordinates of the unit cube. A condition names a parameter before its own. */
export type Space = readonly Parameter[];

/** A value for each parameter whose condition holds, and for no other. */
export type Point = Readonly<Record<string, ParameterValue>>;

/** The first thing that is wrong with a space, as one line: what was expected and what was found; null for a good one. */
export function flawOfSpace(space: Space): string | null {
  if (space.length === 0) return 'no parameter: expected at least one that may vary';
  for (const [i, parameter] of space.entries()) {
    const before = space.slice(0, i);
    if (before.some(({ key }) => key === parameter.key)) return `${parameter.key}: named twice; expected each key once`;
    const flaw = flawOfParameter(parameter) ?? flawOfCondition(parameter, before);
    if (flaw !== null) return `${parameter.key}: ${flaw}`;
  }
  return null;
}

function flawOfParameter(parameter: Parameter): string | null {
  if (parameter.kind === 'choice') {
    if (parameter.values.length === 0) return 'no values; expected at least one';
    if (new Set(parameter.values).size < parameter.values.length) return 'a value twice; expected each once';
    return null;
  }
  const { kind, low, high, step } = parameter;
  if (!(Number.isFinite(low) && Number.isFinite(high) && low <= high))
    return `low ${low} and high ${high}; expected two numbers, low not above high`;
  if (kind === 'log' && !(low > 0)) return `low ${low}; expected above 0 on a logarithmic scale`;
  if (step !== undefined && !(Number.isFinite(step) && step > 0)) return `step ${step}; expected above 0`;
  if (kind === 'integer' && ![low, high, step ?? 1].every(Number.isSafeInteger))
    return `low ${low}, high ${high}, step ${step ?? 1}; expected whole numbers`;
  return null;
}

function flawOfCondition({ when }: Parameter, before: Space): string | null {
  if (when === undefined) return null;
  const other = before.find(({ key }) => key === when.key);
  if (other === undefined) return `only when ${when.key} has a value; expected a parameter that is named before it`;
  const never = wantedOf(when).find(value => !mayBe(other, value));
  return never === undefined ? null : `only when ${when.key} is ${never}; expected a value that it can have`;
}

/** Whether the parameter's condition, if it has one, holds at the point. */
export const holdsAt = ({ when }: Parameter, point: Point): boolean =>
  when === undefined || (Object.hasOwn(point, when.key) && wantedOf(when).includes(point[when.key]!));

const wantedOf = ({ is }: Condition): readonly ParameterValue[] =>
  (Array.isArray(is) ? is : [is]) as readonly ParameterValue[];

/** Whether a parameter can be set to the value. */
export const mayBe = (parameter: Parameter, value: ParameterValue): boolean =>
  parameter.kind === 'choice'
    ? parameter.values.includes(value)
    : typeof value === 'number' &&
      value >= parameter.low &&
      value <= parameter.high &&
      nearest(parameter, value) === value;

/** How many values a parameter has; Infinity between bounds without a step. */
export function countOf(parameter: Parameter): number {
  if (parameter.kind === 'choice') return parameter.values.length;
  const { kind, low, high, step } = parameter;
  if (low === high) return 1;
  if (step === undefined && kind !== 'integer') return Infinity;
  // A last step that is short by rounding alone is whole.
  return Math.floor((high - low) / (step ?? 1) + 1e-9) + 1;
}

/** The point at a place of the unit cube; coordinates outside of it are taken at its face. */
export function pointAt(space: Space, cube: ArrayLike<number>): Point {
  const point: Record<string, ParameterValue> = {};
  for (const [i, parameter] of space.entries())
    if (holdsAt(parameter, point)) point[parameter.key] = valueAt(parameter, cube[i]!);
  return point;
}

/** The value of one parameter at a coordinate: values in steps have equal shares of the way, those of a logarithm what is nearest. */
export function valueAt(parameter: Parameter, coordinate: number): ParameterValue {
  const u = coordinate > 0 ? Math.min(1, coordinate) : 0;
  const count = countOf(parameter);
  if (parameter.kind === 'choice') return parameter.values[Math.min(count - 1, Math.floor(u * count))]!;
  const { kind, low, high } = parameter;
  if (kind === 'log') return nearest(parameter, low * Math.exp(u * Math.log(high / low)));
  if (count === Infinity) return Math.min(high, low + u * (high - low));
  return stepped(parameter, Math.min(count - 1, Math.floor(u * count)));
}

/** The coordinates of a point, each in the centre of its value's share; null for parameters that are not there. Undefined values are told by a RangeError. */
export const cubeOf = (space: Space, point: Point): readonly (number | null)[] =>
  space.map(parameter => (holdsAt(parameter, point) ? coordinateOf(parameter, point[parameter.key]) : null));

/** The coordinate of one value. */
export function coordinateOf(parameter: Parameter, value: ParameterValue | undefined): number {
  if (value === undefined || !mayBe(parameter, value))
    throw new RangeError(`${parameter.key}: ${value}; expected a value that the parameter can have`);
  const count = countOf(parameter);
  if (parameter.kind === 'choice') return (parameter.values.indexOf(value) + 0.5) / count;
  const { kind, low, high } = parameter;
  const at = Number(value);
  if (count === 1) return 0.5;
  if (kind === 'log') return Math.log(at / low) / Math.log(high / low);
  if (count === Infinity) return (at - low) / (high - low);
  return (stepOf(parameter, at) + 0.5) / count;
}

/** A text that two points share exactly when they are equal, whatever the order of their keys. */
export const textOfPoint = (point: Point): string =>
  JSON.stringify(Object.entries(point).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));

/** A point drawn evenly from the unit cube: every parameter takes its draw, whether its condition holds or not. */
export const randomPoint = (space: Space, random: Random): Point =>
  pointAt(
    space,
    space.map(() => random.next()),
  );

type Numeric = Exclude<Parameter, { kind: 'choice' }>;

const stepOf = ({ low, step }: Numeric, value: number): number => Math.round((value - low) / (step ?? 1));

/** Twelve digits: 0.1 and two steps of 0.1 are 0.3. The lower bound is as it was written. */
const stepped = ({ low, step }: Numeric, steps: number): number =>
  steps === 0 ? low : Number((low + steps * (step ?? 1)).toPrecision(12));

function nearest(parameter: Numeric, value: number): number {
  const { low, high } = parameter;
  const count = countOf(parameter);
  if (count === Infinity) return Math.min(high, Math.max(low, value));
  return stepped(parameter, Math.min(count - 1, Math.max(0, stepOf(parameter, value))));
}
