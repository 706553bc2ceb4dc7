/** `puntas check-strategy`: tries the laws of all strategies on a strategy file, in a thread with a time limit. */
import { basename, dirname, resolve } from 'node:path';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { counted, textInSeconds, textOfError } from '../../core/index.ts';
import { parametersIn, strategyFileOf, type StrategyCode } from '../../../strategies/index.ts';
import { readConfig, strategyFilesIn } from '../../wiring/configFile.ts';
import { UsageError } from '../../wiring/usageError.ts';
import type { StrategyVerdict } from './strategyCheck.ts';
import type { CheckedStrategy, StrategyCheckResult } from './strategyCheckThread.ts';

export type StrategyReport = {
  /** Name of the strategy with the hash of its file. */
  readonly name: string;
  readonly verdicts: readonly StrategyVerdict[];
};

/** Time after which a check that has not ended says so, in ms. */
const WAITING_AFTER_MS = 2_000;

/**
 * Checks a strategy file with the parameters of a configuration, or with their defaults. `timeoutMs`: maximum time of
 * the check. `onWaiting` receives a line if the check takes long.
 * @throws UsageError if the file or the configuration cannot be used.
 */
export async function checkStrategy(
  file: string,
  configFile: string | undefined,
  timeoutMs: number,
  onWaiting: (line: string) => void = () => undefined,
): Promise<StrategyReport> {
  const of = strategyFileOf(file, textOf(file));
  const parameters = configFile === undefined ? null : parametersFrom(configFile, of);
  const thread = new Worker(new URL('./strategyCheckThread.js', import.meta.url), {
    workerData: { of, parameters } satisfies CheckedStrategy,
  });
  const waiting = setTimeout(
    () => onWaiting(`${of.name}: still running; the check ends after ${textInSeconds(timeoutMs)} (--timeout)`),
    WAITING_AFTER_MS,
  );
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const ended = once(thread, 'exit', { signal }).then(() => {
      throw new Error('the file ended the process');
    });
    const [result] = (await Promise.race([once(thread, 'message', { signal }), ended])) as [StrategyCheckResult];
    if ('fault' in result) throw new UsageError(result.fault);
    return { name: of.name, verdicts: result.verdicts };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const violation =
      (error as Error).name === 'AbortError'
        ? `did not end within ${textInSeconds(timeoutMs)}; look for a loop without an end, also in a promise`
        : `the thread of the check ended: ${textOfError(error)}`;
    return { name: of.name, verdicts: [{ law: 'ends each call', violation }] };
  } finally {
    clearTimeout(waiting);
    await thread.terminate();
  }
}

function textOf(file: string): string {
  try {
    return strategyFilesIn(dirname(resolve(file)))(basename(file));
  } catch (error) {
    throw new UsageError(`${file}: ${textOfError(error)}`);
  }
}

/** Returns a line for each law. Broken laws with one and the same violation share a line. */
export function verdictLines(verdicts: readonly StrategyVerdict[]): readonly string[] {
  return verdicts.flatMap(({ law, violation }, i) => {
    if (violation === null) return [`pass  ${law}`];
    const same = verdicts.filter(other => other.violation === violation);
    if (verdicts.findIndex(other => other.violation === violation) < i) return [];
    return [same.length === 1 ? `FAIL  ${law}: ${violation}` : `FAIL  ${counted(same.length, 'law')}: ${violation}`];
  });
}

/** Returns the parameters of a configuration that selects this strategy file, unchecked: the thread checks them. */
function parametersFrom(configFile: string, { name: wanted }: StrategyCode): CheckedStrategy['parameters'] {
  const { strategy } = readConfig(configFile);
  if (!('file' in strategy) || strategy.name !== wanted)
    throw new UsageError(
      `${configFile}: strategy: expected the strategy file ${wanted}, found ${strategy.name}; pass a configuration of this strategy with -c`,
    );
  return parametersIn(strategy);
}
