/**
 * Choice of the main model of a report, and of the models in its columns and plots. Models with equal results appear
 * once.
 */
import type { ReplayReport } from './report.ts';

/** Returns the main model: `expected`, or the first model if `expected` was not run; `null` without models. */
export function mainOf<Model extends { readonly model: string }>(models: readonly Model[]): Model | null {
  return models.find(({ model }) => model === 'expected') ?? models[0] ?? null;
}

/** Model with a label that names all models with equal results. */
export type ShownModel = ReplayReport & { readonly label: string };

/**
 * Merges models whose runs have equal hashes, and therefore equal fills and orders. The main model of a group
 * represents the group, at the position of the group's first model.
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
