/** `puntas reload`: checks the file, leaves a request in the bot's state directory, and waits for the bot's answer. */
import type { Clock } from '../../core/index.ts';
import { reloadsIn } from '../../live/state/reloads.ts';
import type { ReloadAnswer } from '../../live/state/reloads.ts';
import { askBot } from './askBot.ts';
import { readConfigText } from '../wiring/configFile.ts';
import { digestOf } from '../run/reloading.ts';

export type ReloadCommand = {
  readonly config: string;
  /** Instead of the one in the file. */
  readonly state?: string;
  /** Of a run --paper, which has a state directory of its own. */
  readonly paper: boolean;
  readonly preview: boolean;
  readonly reason: string;
  readonly by: string;
  /** Never used before. */
  readonly id: string;
};

/** Resolves to the bot's answer. Rejects with `UsageError` on a file with errors, on no bot that runs there, and on one that says nothing. */
export async function askReload(command: ReloadCommand, clock: Clock): Promise<ReloadAnswer> {
  const { config: file, preview: isPreview, reason, by, id } = command;
  const { config, text } = readConfigText(file);
  const dir = command.state ?? (command.paper ? config.paper.stateDir : config.state.dir);
  const request = { id, at: clock.now(), by, reason, digest: digestOf(text), isPreview };
  return askBot(dir, reloadsIn(dir), request, clock, 'One that is started reads the file anyway');
}
