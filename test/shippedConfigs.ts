/** Files in the folder of shipped configurations that are none: a study, criteria of a promotion, and a fleet. */
export const NO_CONFIGURATION: readonly string[] = ['tune.yaml', 'promote.yaml', 'fleet.yaml'];
