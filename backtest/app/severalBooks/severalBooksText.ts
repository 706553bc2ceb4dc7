/** Terminal output of a backtest of several books. */
import { counted } from '../../../src/core/index.ts';
import { gainText, numberText, percent } from '../../../src/pages/index.ts';
import { mainOf, type SeveralBooksModel, type SeveralBooksReport, type SeveralBooksTotal } from '../../index.ts';
import { describeBacktest } from '../backtest/backtestText.ts';

/** Describes each book like a backtest of one book, then the books together by quote currency. */
export function describeSeveralBooks({ books, together }: SeveralBooksReport): string {
  const main = mainOf(together);
  return [
    ...books.map(describeBacktest),
    'all books together',
    ...together.flatMap(({ model, together: totals }) =>
      totals.map(total => `  ${model.padEnd(12)} ${totalText(total)}`),
    ),
    ...(main === null ? [] : [...skewLines(main), ...aloneLines(main)]),
  ].join('\n');
}

function totalText({ minor, pnl, fills, books }: SeveralBooksTotal): string {
  const gain = (text: string): string => gainText(text, minor);
  return `${gain(pnl.total)} ${minor} with ${counted(numberText(fills), 'fill')} in ${books.join(', ')}: spread ${gain(pnl.spread)}, inventory ${gain(pnl.inventory)}, fees ${gain(pnl.fees)}`;
}

const skewLines = ({ jointInventory = [] }: SeveralBooksModel): readonly string[] =>
  jointInventory.map(
    ({ book, share }) =>
      `  ${book}: ${share === null ? 'no inventory to skew by' : `${percent(share)} of the inventory by which it skews comes from the other books`}`,
  );

function aloneLines({ together, alone = [] }: SeveralBooksModel): readonly string[] {
  return alone.map(({ minor, pnl }, i) => {
    const worth = Number(together[i]!.pnl.total) - Number(pnl.total);
    return `  each book alone, with an even share of funds and requests: ${gainText(pnl.total, minor)} ${minor}; difference by sharing: ${gainText(worth, minor)} ${minor}`;
  });
}
