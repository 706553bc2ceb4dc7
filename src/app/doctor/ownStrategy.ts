/** Doctor checks of a strategy file, without running it. */
import { readRegularFile, TEXT_FILE } from '../../guard/index.ts';
import { strategyHashIn, strategyPinIn, type Config } from '../../config.ts';
import { assertStrategyApproved } from '../run/strategyApproval.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { checkAborted, finding, type Finding } from './finding.ts';

const { warn, fail } = finding;
const CHECK = 'strategy file';

/**
 * Returns the findings about the strategy file of a configuration: whether a start would accept its text, and what is
 * not checked. `configFile`: path of the configuration, which may pin the text; `undefined` if it is unknown. `entry`:
 * index of the book in `books`.
 */
export function strategyFileFindings(config: Config, configFile: string | undefined, entry = 0): readonly Finding[] {
  try {
    return findingsOf(config, configFile, entry);
  } catch (error) {
    return [checkAborted(CHECK, error)];
  }
}

function findingsOf(config: Config, configFile: string | undefined, entry: number): readonly Finding[] {
  const { strategy, state } = config;
  if (!('file' in strategy)) return [];
  const { file, name } = strategy;
  const sha256 = strategyHashIn(config);
  if (sha256 === undefined) return [fail(CHECK, `${file} cannot be read`, 'restore the file, or change strategy.file')];
  const pin = configFile === undefined ? null : strategyPinIn(readRegularFile(configFile, TEXT_FILE), entry);
  if (pin !== null && pin !== sha256)
    return [
      fail(
        CHECK,
        `${name} is not the approved text, whose SHA-256 is ${pin}`,
        'restore the file, or change strategy.sha256',
      ),
    ];
  const isReal = config.exchange.kind === 'remote';
  const refusals: Finding[] = [];
  try {
    const place = { stateDir: state.dir, isReal, warn: () => undefined };
    assertStrategyApproved({ file, name, sha256, isPinned: pin !== null }, place, `set strategy.sha256: ${sha256}`);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const [says = '', ...todo] = error.message.split('; ');
    refusals.push(fail(CHECK, says, todo.join('; ')));
  }
  return [
    ...refusals,
    warn(
      CHECK,
      `not checked: parameters, quotes, money and request budget of ${name}, because doctor runs no strategy file`,
      'run puntas check, which runs the file',
    ),
  ];
}
