/** Metrics of the remote control: chat updates by outcome. */
import { total } from './entry.ts';

export const REMOTE = [
  total({
    name: 'puntas_remote_updates_total',
    help: 'Telegram updates of the remote control by outcome: accepted, foreign (a chat or user that is not listed), old (sent over a minute ago), repeated, too many (above the limit of a user), ignored (no command). Absent without a remote control.',
    labels: ['book', 'outcome'],
    read: ({ remote }) =>
      remote === null ? [] : Object.entries(remote).map(([outcome, count]) => [{ outcome }, count]),
  }),
];
