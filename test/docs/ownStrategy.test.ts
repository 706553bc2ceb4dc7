import { expect, test } from 'vitest';
import { strategyVerdicts } from '../../src/app/develop/strategyCheck.ts';
import { readConfig } from '../../src/wiring/configFile.ts';
import { strategyFileOf } from '../../strategies/index.ts';
import { folderWith } from '../strategies/ownFile.ts';
import { ownStrategyOnPage } from './ownStrategy.ts';

test('the strategy file of docs/strategies.md obeys every law, and a configuration selects it', () => {
  const code = ownStrategyOnPage();
  const verdicts = strategyVerdicts(strategyFileOf('my-strategy.ts', code), null);
  expect(verdicts.filter(({ violation }) => violation !== null)).toEqual([]);
  expect(readConfig(folderWith(code, { halfSpreadBps: 16, amount: '0.006' }).yaml).strategy).toMatchObject({ code });
});
