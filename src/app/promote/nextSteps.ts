/** Next commands for the operator in a promotion. The program only prints them. */
import type { Millis } from '../../core/index.ts';
import { lifeOf } from '../inspect/botLife.ts';
import { shellWord } from '../../messages/ownCommand.ts';
import { paperFile } from './candidate.ts';
import { readableConfig } from './runningBot.ts';
import { inPlace, type PromotionState } from './promotionState.ts';

export type Steps = {
  readonly liveFile: string;
  readonly dir: string;
  readonly standing: PromotionState;
  readonly now: Millis;
  /** Whether the configuration of the running bot differs from the file. */
  readonly isBehind?: boolean;
};

/** Returns the next commands, in order. */
export function nextSteps(steps: Steps): readonly string[] {
  const { liveFile, dir, standing, isBehind = false } = steps;
  const { open } = standing;
  const file = shellWord(liveFile);
  if (open === null)
    return [...(isBehind ? placedSteps(steps) : []), `puntas promote start CANDIDATE -c ${file} --reason "..."`];
  const { stage, checked, started } = open;
  const approve = `puntas promote approve ${stage} -c ${file} --reason "..."`;
  if (checked?.result === 'failed') return [`puntas promote back -c ${file} --reason "..."`];
  const look = checked?.result === 'passed' ? approve : `puntas promote check -c ${file}`;
  if (stage === 'replay') return [look];
  if (stage === 'smallest') return [...placedSteps(steps), look];
  const paper = paperFile(dir, started.promotion);
  const config = readableConfig(paper);
  if (config === 'broken') return [`puntas check -c ${shellWord(paper)}`];
  const isFollowed = config?.exchange.kind === 'remote';
  return [
    ...(checked?.result === 'passed' ? [] : [`puntas run ${isFollowed ? '--paper ' : ''}-c ${shellWord(paper)}`]),
    look,
  ];
}

/**
 * Returns the commands after the live file has changed: a running bot needs a reload, otherwise the next start reads
 * the file.
 */
export function placedSteps({ liveFile, standing, now }: Steps): readonly string[] {
  const config = readableConfig(liveFile);
  if (config === null) return [];
  const file = shellWord(liveFile);
  if (config === 'broken')
    return [
      `puntas check -c ${file}`,
      ...(inPlace(standing) === null ? [] : [`puntas promote back -c ${file} --reason "..."`]),
    ];
  if (lifeOf(config.state.dir, now).state === 'runs')
    return [`puntas reload -c ${file} --preview`, `puntas reload -c ${file} --reason "..."`];
  return [`puntas check -c ${file}`, `puntas run -c ${file}`];
}
