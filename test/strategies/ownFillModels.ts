/** Texts of fill model files for tests. */

/** Returns a file whose definition has these members besides the contract, from line 3 on. */
export const ownFile = (members: string): string =>
  `import { defineFillModel } from 'puntas/strategy';\nexport default defineFillModel({ contract: 1,\n${members} });\n`;

/** File with the rule of the shipped model `expected`. */
export const EXPECTED_FILE = ownFile(`make: () => ({
  ahead: ({ displayed }) => displayed,
  canceledBehind: (ahead: number, behind: number) => (behind * behind) / (behind * behind + ahead * ahead),
})`);
