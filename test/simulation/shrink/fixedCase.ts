/** Shrunk failures as files: each is a test from then on (`fixedCases.test.ts`). */
import { readFileSync, writeFileSync } from 'node:fs';
import type { Task } from '../campaign.ts';
import type { Shrunk } from './shrink.ts';

export type FixedCase = {
  /** The run as it is shown again. */
  readonly task: Task;
  /** Invariant that broke, in which event, and the event that made it inevitable. */
  readonly law: string;
  readonly brokeAt: number;
  readonly cause: number;
  /** Trace line of the cause, for people. */
  readonly line: string;
};

export function writeCase(file: string, { failure, cause }: Shrunk): void {
  const fixed: FixedCase = {
    ...{ task: failure.task, law: failure.law, brokeAt: failure.event },
    ...{ cause: cause.event, line: cause.line },
  };
  writeFileSync(file, `${JSON.stringify(fixed, null, 2)}\n`);
}

export const readCase = (file: string): FixedCase => JSON.parse(readFileSync(file, 'utf8')) as FixedCase;
