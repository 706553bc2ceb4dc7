/** Steps that add up to a price or an amount. */

/**
 * Returns a copy with a step appended, of exact length. A growing list would reserve space for sixteen more steps, and
 * every decision makes several lists.
 */
export function withStep<Step>(steps: readonly Step[], step: Step): Step[] {
  const all = new Array<Step>(steps.length + 1);
  for (let i = 0; i < steps.length; i++) all[i] = steps[i]!;
  all[steps.length] = step;
  return all;
}
