/** Fill model files: the queue in the text of a file, with every result checked. */
import type { Instrument } from '../src/core/index.ts';
import * as contractModule from './contract.ts';
import { CONTRACT, type OwnArrival, type OwnFillModel, type OwnQueue } from './contract.ts';
import { assertNoPromise, errorPlace, foundText, oneLine, StrategyFileError } from './ownFiles/fileErrors.ts';
import { compiledFile } from './ownFiles/ownCode.ts';

/**
 * Returns a function that makes the queue of one backtest from the text of a fill model file. Functions of the queue
 * throw StrategyFileError if the file throws or returns a value that is not allowed.
 * @throws StrategyFileError if the text is not a fill model of this contract.
 */
export function fillModelIn(file: string, code: string): (instrument: Instrument, random: () => number) => OwnQueue {
  const evaluate = compiledFile(file, code, {
    ...{ noun: 'fill model', define: 'defineFillModel', module: contractModule },
    given: 'use only what its functions receive, such as random',
  });
  fillModelOf(file, evaluate());
  return (instrument, random) => {
    const { make } = fillModelOf(file, evaluate());
    const { ahead, canceledBehind } = called(file, 'make', () => queueOf(make({ instrument, random })));
    return {
      ahead: (arrival: OwnArrival) =>
        called(file, 'ahead', () => numberIn(ahead(arrival), Number.MAX_SAFE_INTEGER, 'a number of at least 0')),
      canceledBehind: (front: number, back: number) =>
        called(file, 'canceledBehind', () => numberIn(canceledBehind(front, back), 1, 'a number from 0 to 1')),
    };
  };
}

function called<T>(file: string, name: string, call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw new StrategyFileError(`${file}${errorPlace(error, file)}: ${name}: ${oneLine(error)}; correct the file`);
  }
}

function numberIn(found: unknown, max: number, expected: string): number {
  if (typeof found === 'number' && found >= 0 && found <= max) return found;
  assertNoPromise('it', found);
  throw new Error(`expected ${expected}, found ${foundText(found)}`);
}

function queueOf(made: unknown): OwnQueue {
  assertNoPromise('it', made);
  const functions = (typeof made === 'object' && made !== null ? made : {}) as Readonly<Record<string, unknown>>;
  for (const name of ['ahead', 'canceledBehind'])
    if (typeof functions[name] !== 'function')
      throw new Error(`expected a queue with the function ${name}, found ${foundText(functions[name])}`);
  return functions as OwnQueue;
}

function fillModelOf(file: string, found: unknown): OwnFillModel {
  const fail = (expected: string, was: unknown, remedy: string) =>
    new StrategyFileError(`${file}: ${expected}, found ${foundText(was)}; ${remedy}`);
  if (typeof found !== 'object' || found === null)
    throw fail('expected a fill model as the default export', found, 'write export default defineFillModel({ … })');
  const { contract, make } = found as Readonly<Record<string, unknown>>;
  if (contract !== CONTRACT)
    throw fail(`expected contract: ${CONTRACT}`, contract, `this Puntas runs files of contract ${CONTRACT} only`);
  if (typeof make !== 'function')
    throw fail(
      'make: expected a function',
      make,
      'write a function that returns a queue with ahead() and canceledBehind()',
    );
  return found as OwnFillModel;
}
