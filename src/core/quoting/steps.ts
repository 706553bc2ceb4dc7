/** Steps that add up to a price or an amount. */

/**
 * Returns a copy with a step appended. The array has its exact length from the start, because a growing array reserves
 * space for sixteen more steps, and every decision makes several arrays.
 */
export function withStep<Step>(steps: readonly Step[], step: Step): Step[] {
  const all = new Array<Step>(steps.length + 1);
  for (let i = 0; i < steps.length; i++) all[i] = steps[i]!;
  all[steps.length] = step;
  return all;
}
