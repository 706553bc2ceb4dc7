/** Choice of the main model of a report, and of the models shown next to it: equal ones appear once. */
import type { ReplayReport } from './report.ts';

/** Returns the main model: the expected one, or the first; `null` if there are none. */
export function mainOf<Model extends { readonly model: string }>(models: readonly Model[]): Model | null {
  return models.find(({ model }) => model === 'expected') ?? models[0] ?? null;
}

/** `label` names all models that it represents. */
export type ShownModel = ReplayReport & { readonly label: string };

/**
 * Merges models whose runs have equal fills and orders, by hash. The main one represents its group, at the position of
 * the first.
 */
export function shownModels<Model extends { readonly model: string; readonly hash: string }>(
  models: readonly Model[],
): readonly (Model & { readonly label: string })[] {
  const groups = new Map<string, Model[]>();
  for (const model of models) groups.set(model.hash, [...(groups.get(model.hash) ?? []), model]);
  return [...groups.values()].flatMap(group => {
    const main = mainOf(group);
    return main === null ? [] : [{ ...main, label: group.map(({ model }) => model).join(' = ') }];
  });
}
