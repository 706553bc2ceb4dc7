/** A market of the test under a shadow. */
import { newMemory, type ShadowAlarm, type ShadowMemory } from '../../../backtest/shadow/memory.ts';
import type { LifeObserver } from '../../../backtest/shadow/orderLife.ts';
import { Shadow } from '../../../backtest/shadow/shadow.ts';
import { levelModel } from '../../../src/fills/index.ts';
import { INSTRUMENT, runShadowWorld, type ShadowWorldOptions } from './world.ts';

export function shadowed(
  options: Omit<ShadowWorldOptions, 'see'>,
  memory = newMemory(),
  through: (see: ShadowWorldOptions['see']) => ShadowWorldOptions['see'] = see => see,
  observer?: LifeObserver,
): { readonly memory: ShadowMemory; readonly alarms: readonly ShadowAlarm[] } {
  const alarms: ShadowAlarm[] = [];
  const shadow = new Shadow({
    ...{ run: 1, instrument: INSTRUMENT, model: levelModel('expected'), memory },
    onAlarm: alarm => alarms.push(alarm),
    ...(observer && { observer }),
  });
  runShadowWorld({ ...options, see: through((event, commands) => shadow.see(event, commands)) });
  shadow.end();
  return { memory, alarms };
}
