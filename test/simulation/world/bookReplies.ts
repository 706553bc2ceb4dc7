/** Answers about several books of one account, each with faults of its own. */
import type { WireReply, WireRequest } from '../../../src/core/index.ts';
import type { Replies, ReplyFaults } from './replyFaults.ts';
import { symbolIn, type Topic } from './wire.ts';

export class BookReplies implements Replies {
  readonly #books: ReadonlyMap<string, ReplyFaults>;
  readonly #first: ReplyFaults;

  /** `books`: faults by symbol, those of what is not about one book with the first. */
  constructor(books: ReadonlyMap<string, ReplyFaults>) {
    this.#books = books;
    this.#first = [...books.values()][0]!;
  }

  isHidden(book?: string): boolean {
    return book !== undefined && this.#books.get(book)?.isHidden() === true;
  }

  instead(topic: Topic, request: WireRequest): WireReply | null {
    return this.#of(request, topic)?.instead(topic) ?? null;
  }

  changed(request: WireRequest, topic: Topic, reply: WireReply): WireReply {
    if (topic !== 'books') return (this.#of(request, topic) ?? this.#first).changed(request, topic, reply);
    return [...this.#books.values()].reduce((told, faults) => faults.changed(request, topic, told), reply);
  }

  #of(request: WireRequest, topic: Topic): ReplyFaults | undefined {
    const symbol = symbolIn(request, topic);
    return symbol === undefined ? undefined : this.#books.get(symbol);
  }
}
