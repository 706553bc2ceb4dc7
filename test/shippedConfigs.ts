/** What lies in the folder of configurations that ship and is none: a study, and criteria of a promotion. */
export const NO_CONFIGURATION: readonly string[] = ['tune.yaml', 'promote.yaml'];
