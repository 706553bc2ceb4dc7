/** Panel of the proposals of agents; only operators have the button that opens a proposal. */
import { h, small, type Node } from './elements.ts';
import { clockOf, shownCount } from './texts.ts';
import type { ConsoleView, ShownProposal } from './view.ts';

/** Lists the proposals. `review` opens a proposal; `null` if this page cannot act. */
export function proposalsPanel(
  { proposals = [] }: Pick<ConsoleView, 'proposals'>,
  review: ((proposal: ShownProposal) => void) | null,
): Node {
  return h(
    'ul',
    { class: 'lines' },
    ...proposals.map(proposal => {
      const { id, agent, at, action, book, minutes, reason, state, by } = proposal;
      const what = `${action}${book === undefined ? '' : ` ${book}`}${minutes === null ? '' : ` for ${shownCount(minutes, 'minute')}`}`;
      return h(
        'li',
        { key: id },
        small('soft', `${clockOf(at)} ${agent}: `),
        `${what}: ${reason} `,
        small(state === 'open' ? 'fair' : 'soft', `${state}${by === null ? '' : ` by ${by}`} `),
        state === 'open' && review !== null
          ? h('button', { type: 'button', 'data-proposal': id, onClick: () => review(proposal) }, 'Review')
          : null,
      );
    }),
  );
}
