/** Which of a report's models the words are about, and which are shown beside it: those that agree in everything are shown once. */
import type { ReplayReport } from './report.ts';

/** The model that the sentences are about: the expected one, or the first; null of none. */
export function mainOf<Model extends { readonly model: string }>(models: readonly Model[]): Model | null {
  return models.find(({ model }) => model === 'expected') ?? models[0] ?? null;
}

/** `label` names all models that it stands for. */
export type ShownModel = ReplayReport & { readonly label: string };

/** Models whose runs are the same fill for fill and order for order, by their hash, become one: the main one where it is among them, at the place of the first. */
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
