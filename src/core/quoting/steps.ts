/** Steps of a price or an amount, one by one. */

/** Them and one more, in a list of its very length: one that grows has room for sixteen more, and every decision makes several of these. */
export function withStep<Step>(steps: readonly Step[], step: Step): Step[] {
  const all = new Array<Step>(steps.length + 1);
  for (let i = 0; i < steps.length; i++) all[i] = steps[i]!;
  all[steps.length] = step;
  return all;
}
