/** Latency between the bot and the exchange: constant, random, or recorded. */
import { counted, normal, type Random } from '../../src/core/index.ts';

/** Latency as plain data, so that it can be sent to another thread. Times are in the unit of the rows, usually ms. */
export type LatencySpec =
  | { readonly kind: 'constant'; readonly ms: number }
  /** Sum of a constant minimum time `least` and an exponential time; `mean` is the mean of the sum. */
  | { readonly kind: 'exponential'; readonly least: number; readonly mean: number }
  /** Lognormal time; `sigma` is the standard deviation of its logarithm. */
  | { readonly kind: 'lognormal'; readonly median: number; readonly sigma: number }
  /** Sending times of requests, ascending, with their round-trip times. Each direction takes half of the round trip. */
  | { readonly kind: 'recorded'; readonly sent: Float64Array; readonly took: Float64Array };

/** Returns the transit time of a message sent at `at`. */
export type Travel = (at: number) => number;

export interface Latency {
  /** Transit time of a placement or query sent at `at`. */
  there(at: number): number;
  /** Transit time of a cancel sent at `at`. */
  cancel(at: number): number;
  /** Transit time of an answer sent at `at`. */
  back(at: number): number;
}

/**
 * Returns a function that computes transit times. Random times use `random` in the order of the calls. Throws a
 * RangeError for an invalid latency.
 */
export function travel(spec: LatencySpec, random: Random): Travel {
  switch (spec.kind) {
    case 'constant': {
      const { ms } = spec;
      if (!(ms >= 0 && ms < Infinity)) throw new RangeError(`latency must be at least 0 ms, found ${ms}`);
      return () => ms;
    }
    case 'exponential': {
      const { least, mean } = spec;
      if (!(least >= 0 && mean >= least && mean < Infinity)) {
        throw new RangeError(`latency needs 0 <= minimum <= mean, found minimum ${least} and mean ${mean}`);
      }
      return () => least - (mean - least) * Math.log(1 - random.next());
    }
    case 'lognormal': {
      const { median, sigma } = spec;
      if (!(median >= 0 && median < Infinity && sigma >= 0 && sigma <= 5)) {
        throw new RangeError(
          `latency needs a median of at least 0 and a sigma from 0 to 5, found median ${median} and sigma ${sigma}`,
        );
      }
      return () => median * Math.exp(sigma * normal(random));
    }
    case 'recorded':
      return recorded(spec.sent, spec.took);
  }
}

/**
 * Interpolates one-way times linearly between recorded requests. Outside the recorded time, the recording is repeated.
 */
function recorded(sent: Float64Array, took: Float64Array): Travel {
  const n = sent.length;
  const first = sent[0];
  const last = sent[n - 1];
  if (first === undefined || last === undefined || took.length !== n) {
    throw new RangeError(
      `recorded latencies need a round-trip time for each request and at least one request, found ${counted(n, 'request')} and ${counted(took.length, 'round-trip time')}`,
    );
  }
  for (let i = 0; i < n; i++) {
    if (!(took[i]! >= 0 && took[i]! < Infinity && sent[i]! >= (sent[i - 1] ?? -Infinity) && sent[i]! < Infinity)) {
      throw new RangeError(`recorded latency ${i} is out of order or negative: sent ${sent[i]}, took ${took[i]}`);
    }
  }
  const span = last - first;
  return at => {
    const into = span > 0 ? (at - first) % span : 0;
    const time = first + (into < 0 ? into + span : into);
    let low = 0;
    let high = n - 1;
    // Finds the last request sent at or before `time`.
    while (low < high) {
      const pivot = (low + high + 1) >> 1;
      if (sent[pivot]! <= time) low = pivot;
      else high = pivot - 1;
    }
    const next = Math.min(low + 1, n - 1);
    const apart = sent[next]! - sent[low]!;
    const share = apart > 0 ? (time - sent[low]!) / apart : 0;
    return (took[low]! + share * (took[next]! - took[low]!)) / 2;
  };
}

/** Combines the transit times of placements and queries (`there`), of answers, and of cancels. */
export const latencyOf = (there: Travel, back: Travel, cancel: Travel): Latency => ({ there, back, cancel });

/**
 * Returns a constant latency in ms each way. By default, a cancel takes as long as a placement. Throws a RangeError for
 * negative or infinite values.
 */
export function constantLatency(there: number, back: number, cancel = there): Latency {
  const [go, come, out] = [there, back, cancel].map(ms => travel({ kind: 'constant', ms }, NO_RANDOM)) as [
    Travel,
    Travel,
    Travel,
  ];
  return latencyOf(go, come, out);
}

const NO_RANDOM: Random = { next: () => 0, integer: from => from };

/**
 * Parses a latency flag, in ms: `25`, `exponential:5,20` (minimum and mean), `lognormal:20,0.5` (median, and standard
 * deviation of the logarithm), or a file of recorded requests. Throws an Error with a one-line message.
 */
export function latencySpecOf(text: string, read: (path: string) => LatencySpec): LatencySpec {
  const drawn = /^(exponential|lognormal):([\d.]+),([\d.]+)$/.exec(text);
  const spec: LatencySpec = /^\d+(\.\d+)?$/.test(text)
    ? { kind: 'constant', ms: Number(text) }
    : drawn?.[1] === 'exponential'
      ? { kind: 'exponential', least: Number(drawn[2]), mean: Number(drawn[3]) }
      : drawn
        ? { kind: 'lognormal', median: Number(drawn[2]), sigma: Number(drawn[3]) }
        : read(text);
  travel(spec, NO_RANDOM);
  return spec;
}

/**
 * Parses a CSV file with the header `sent,answered` and times in epoch ms, in any order. Throws an Error that names the
 * invalid line.
 */
export function recordedLatencies(csv: string, source: string): LatencySpec {
  const [head, ...lines] = csv.split(/\r?\n/).filter(line => line.trim() !== '');
  if (head?.trim() !== 'sent,answered') {
    throw new Error(`${source}: expected the header "sent,answered", found ${JSON.stringify(head ?? '')}`);
  }
  return requestsTook(
    lines.map((line, i) => {
      const [sent, answered] = line.split(',').map(Number);
      if (!(sent !== undefined && answered !== undefined && answered >= sent)) {
        throw new Error(
          `${source}: line ${i + 2}: expected a send time and an answer time that is not earlier, found ${JSON.stringify(line)}`,
        );
      }
      return { sent, answered };
    }),
    source,
  );
}

/**
 * Converts recorded requests, in any order and with times in epoch ms, to a latency. Throws an Error with a one-line
 * message if there are no requests.
 */
export function requestsTook(
  requests: readonly { readonly sent: number; readonly answered: number }[],
  source: string,
): LatencySpec {
  if (requests.length === 0) throw new Error(`${source}: contains no answered request`);
  const sorted = [...requests].sort((a, b) => a.sent - b.sent);
  return {
    kind: 'recorded',
    sent: Float64Array.from(sorted, ({ sent }) => sent),
    took: Float64Array.from(sorted, ({ sent, answered }) => answered - sent),
  };
}
