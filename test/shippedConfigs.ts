/** What lies in the folder of configurations that ship and is none: a study, criteria of a promotion, and a fleet. */
export const NO_CONFIGURATION: readonly string[] = ['tune.yaml', 'promote.yaml', 'fleet.yaml'];
