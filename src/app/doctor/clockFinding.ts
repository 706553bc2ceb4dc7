/** Finding of `puntas doctor` about this machine's clock. */
import { NEAR_MS, SET_CLOCK, type ClockGap } from '../../messages/clockGap.ts';
import { finding, type Finding } from './finding.ts';

const { pass, warn, fail } = finding;
const CHECK = 'clock';

/** Returns whether this machine's clock agrees with that of an exchange. */
export function clockFinding(gap: ClockGap): Finding {
  if (gap.isUnknown)
    return warn(
      CHECK,
      'no answer contained the time of the exchange, so the clocks could not be compared',
      'make sure that NTP sets the clock of this machine',
    );
  const says = gap.difference('the exchange clock');
  if (says === null)
    return pass(CHECK, `this machine's clock agrees with the exchange clock within ${NEAR_MS / 1_000} s`);
  return gap.isFar ? fail(CHECK, says, SET_CLOCK) : warn(CHECK, says, SET_CLOCK);
}
