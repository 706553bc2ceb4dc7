/** Measures what the shipped configurations earn on the built-in market, and says so in their head comments: `npm run shipped:earnings`. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { readConfig } from '../../src/wiring/configFile.ts';
import { UsageError } from '../../src/wiring/usageError.ts';
import { earnedOfAll, recordedEarnings, sentenceOf, shippedNames, withSentence, type Earned } from './earnings.ts';

const FOLDER = 'config';
const RECORD = 'test/config/earnings.json';

const program = new Command('shipped-earnings')
  .description(
    'what each file of config/ earns on the built-in market, into its head comment and the record of the test',
  )
  .option('--only <name>', 'one file, without its ending')
  .action(async ({ only }: { readonly only?: string }) => {
    if (!existsSync(FOLDER)) throw new UsageError('run it in a checkout: there is no config/ here');
    const earned: Record<string, Earned> = existsSync(RECORD) ? { ...recordedEarnings(RECORD) } : {};
    for (const name of shippedNames(FOLDER).filter(each => only === undefined || each === only)) {
      const file = join(FOLDER, `${name}.yaml`);
      earned[name] = await earnedOfAll(FOLDER, name);
      const sentence = sentenceOf(earned[name], readConfig(file));
      writeFileSync(file, withSentence(readFileSync(file, 'utf8'), sentence));
      console.log(`${name}: ${sentence.trim()}`);
      const byName = Object.entries(earned).toSorted(([a], [b]) => (a < b ? -1 : 1));
      writeFileSync(RECORD, `{\n${byName.map(([key, of]) => `  "${key}": ${JSON.stringify(of)}`).join(',\n')}\n}\n`);
    }
  });

program.parseAsync().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
});
