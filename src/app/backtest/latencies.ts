/** The latencies of a backtest, from the flags: a number, a distribution, a file of requests, or the state directory of a run. */
import { readFileSync, statSync } from 'node:fs';
import { latencySpecOf, recordedLatencies, requestsTook } from '../../../backtest/index.ts';
import type { LatencySpec } from '../../../backtest/index.ts';
import { answeredRequests } from '../../live/replay/answeredRequests.ts';
import type { Latencies } from './backtestModel.ts';
import { UsageError } from '../wiring/usageError.ts';

export type LatencyFlags = {
  readonly latencyMs: string;
  readonly cancelLatencyMs?: string;
  readonly feedLatencyMs: string;
};

/** Throws `UsageError` with the flag's name. */
export function latenciesOf({ latencyMs, cancelLatencyMs, feedLatencyMs }: LatencyFlags): Latencies {
  const orders = specOf('--latency-ms', latencyMs);
  const cancels = cancelLatencyMs === undefined ? orders : specOf('--cancel-latency-ms', cancelLatencyMs);
  return { orders, cancels, answers: orders, feed: specOf('--feed-latency-ms', feedLatencyMs) };
}

function specOf(flag: string, text: string): LatencySpec {
  try {
    return latencySpecOf(text, recordedIn);
  } catch (error) {
    throw new UsageError(`${flag}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function recordedIn(path: string): LatencySpec {
  let isFolder: boolean;
  try {
    isFolder = statSync(path).isDirectory();
  } catch {
    throw new Error(
      `expected ms, exponential:LEAST,MEAN, lognormal:MEDIAN,SIGMA, a CSV file or a state directory, found ${JSON.stringify(path)}`,
    );
  }
  return isFolder ? requestsTook(answeredRequests(path), path) : recordedLatencies(readFileSync(path, 'utf8'), path);
}
