/**
 * Latencies of a backtest from flags: a number, a distribution, a file of requests, or the state directory of a run.
 */
import { textOfError } from '../../../src/core/index.ts';
import { LARGE_FILE } from '../../../src/guard/index.ts';
import { statSync } from 'node:fs';
import { latencySpecOf, recordedLatencies, requestsTook, type LatencySpec } from '../../index.ts';
import { answeredRequests } from '../../../src/live/replay/answeredRequests.ts';
import type { Latencies } from './backtestModel.ts';
import { readGivenFile, UsageError } from '../../../src/wiring/usageError.ts';

export type LatencyFlags = {
  readonly latencyMs: string;
  readonly cancelLatencyMs?: string;
  readonly feedLatencyMs: string;
  readonly fillLatencyMs?: string;
};

/** Parses the flags. Throws `UsageError` with the flag's name. */
export function latenciesOf({ latencyMs, cancelLatencyMs, feedLatencyMs, fillLatencyMs }: LatencyFlags): Latencies {
  const orders = specOf('--latency-ms', latencyMs);
  const cancels = cancelLatencyMs === undefined ? orders : specOf('--cancel-latency-ms', cancelLatencyMs);
  const feed = specOf('--feed-latency-ms', feedLatencyMs);
  const fills = fillLatencyMs === undefined ? {} : { fills: specOf('--fill-latency-ms', fillLatencyMs) };
  return { orders, cancels, answers: orders, feed, ...fills };
}

/** Returns only the latency flags, as the operator entered them, for a report. */
export const latencyText = ({
  latencyMs,
  cancelLatencyMs,
  feedLatencyMs,
  fillLatencyMs,
}: LatencyFlags): LatencyFlags => ({
  latencyMs,
  ...(cancelLatencyMs === undefined ? {} : { cancelLatencyMs }),
  feedLatencyMs,
  ...(fillLatencyMs === undefined ? {} : { fillLatencyMs }),
});

/**
 * Returns the latencies with requests and answers of a constant `ms` each way; market data and fill notices are
 * unchanged.
 */
export function withRequests(latencies: Latencies, ms: number): Latencies {
  const constant: LatencySpec = { kind: 'constant', ms };
  return { ...latencies, orders: constant, cancels: constant, answers: constant };
}

function specOf(flag: string, text: string): LatencySpec {
  try {
    return latencySpecOf(text, recordedIn);
  } catch (error) {
    throw new UsageError(`${flag}: ${textOfError(error)}`);
  }
}

function recordedIn(path: string): LatencySpec {
  let isFolder: boolean;
  try {
    isFolder = statSync(path).isDirectory();
  } catch {
    throw new Error(
      `expected a number of ms, exponential:MIN,MEAN, lognormal:MEDIAN,SIGMA, or an existing CSV file or state directory, found ${JSON.stringify(path)}`,
    );
  }
  return isFolder
    ? requestsTook(answeredRequests(path), path)
    : recordedLatencies(readGivenFile(path, LARGE_FILE, 'pass a CSV file or a state directory'), path);
}
