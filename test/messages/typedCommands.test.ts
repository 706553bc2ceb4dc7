/** An action that a message tells a person to run can be typed as it stands: with its file or folder, and a reason. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ownCommand } from '../../src/messages/ownCommand.ts';

const ROOT = new URL('../../src/', import.meta.url).pathname;
const sources = readdirSync(ROOT, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.ts'));

/** An action in the text of a message, not in a comment. */
const ACTION = /puntas (?:halt|pause|resume|reduce|cancel|flatten|reload)\b/;
const COMMENT = /^\s*(?:\*|\/\/|\/\*\*)/;
/** Texts about the commands in general: descriptions of keys and routes, examples, and the words of the chat. */
const GENERAL: Readonly<Record<string, string>> = {
  'cli/terminal/examples.ts': 'examples',
  'app/remote/remoteControl.ts': 'for the chat, whose reader is not at the machine',
  'app/remote/remote.ts': 'for the chat',
  'console/runHistory.ts': 'replaced by the command of the bot',
  'app/console/runHistory.ts': 'words of a past event, which the console shows',
  'app/actions/botStatusText.ts': 'for the chat',
};
const isDescription = (line: string): boolean => /\.describe\(|\bsays: |\bsummary: |^\s*'[^']*'[,)]*$/.test(line);

test('every action in a message names its file or folder', () => {
  const bare = sources.flatMap(name =>
    readFileSync(join(ROOT, name), 'utf8')
      .split('\n')
      .filter(line => ACTION.test(line) && !COMMENT.test(line) && !isDescription(line))
      .filter(line => !/ -c | --state /.test(line) && GENERAL[name] === undefined)
      .map(line => `${name}: ${line.trim()}`),
  );
  expect(bare).toEqual([]);
});

test('the command of a message names what it needs, and quotes a folder with a space', () => {
  const stateDir = '/home/me/my bot/state';
  expect(ownCommand('halt --cancel', { stateDir })).toBe(
    `puntas halt --cancel --state '/home/me/my bot/state' --reason "..."`,
  );
  expect(ownCommand('resume', { configFile: '/home/me/my.yaml', stateDir, book: 'btc_mxn' })).toBe(
    'puntas resume -c /home/me/my.yaml --book btc_mxn --reason "..."',
  );
});
