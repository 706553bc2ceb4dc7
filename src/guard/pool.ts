/** A bounded set of what callers hold, connections or streams: a new member takes the place of the longest silent one of the caller that holds most. */

type Member = { readonly sender: string; readonly close: () => void; isBusy: boolean };

export type PoolLimits = {
  /** Members at most. */
  readonly all: number;
  /** Members of one sender at most. If omitted, a sender can have all while nobody else wants one. */
  readonly sender?: number;
  /** Whether a member at work keeps its place, and a new one is refused instead. */
  readonly keepsBusy?: boolean;
};

export class Pool<Key> {
  readonly #limits: PoolLimits;
  /** The longest silent first. */
  readonly #members = new Map<Key, Member>();
  readonly #held = new Map<string, number>();

  constructor(limits: PoolLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#members.size;
  }

  /**
   * Adds a member, and closes another one if there is no room. `isShared`: many callers share the sender, which has no limit of its own. False if
   * every other one is at work and keeps its place; then nothing changes.
   */
  add(key: Key, sender: string, close: () => void, isShared = false): boolean {
    const { all, sender: own = all } = this.#limits;
    const hasAll = !isShared && (this.#held.get(sender) ?? 0) >= own;
    if (hasAll && !this.#makeRoom(sender)) return false;
    if (this.#members.size >= all && !this.#makeRoom(this.#largest(sender)) && !this.#makeRoom(null)) return false;
    this.#members.set(key, { sender, close, isBusy: false });
    this.#held.set(sender, (this.#held.get(sender) ?? 0) + 1);
    return true;
  }

  /** Marks a member as at work or not. It becomes the one that was silent for the shortest time. */
  mark(key: Key, isBusy: boolean): void {
    const member = this.#members.get(key);
    if (member === undefined) return;
    this.#members.delete(key);
    this.#members.set(key, { ...member, isBusy });
  }

  delete(key: Key): void {
    const member = this.#members.get(key);
    if (member === undefined) return;
    this.#members.delete(key);
    const left = this.#held.get(member.sender)! - 1;
    if (left === 0) this.#held.delete(member.sender);
    else this.#held.set(member.sender, left);
  }

  /** Closes a member of the sender, or of anyone if null: the longest silent, else the one that has been at work for longest. */
  #makeRoom(sender: string | null): boolean {
    let found: Key | undefined;
    for (const [key, member] of this.#members) {
      if ((sender !== null && member.sender !== sender) || (member.isBusy && this.#limits.keepsBusy)) continue;
      if (member.isBusy && found !== undefined) continue;
      found = key;
      if (!member.isBusy) break;
    }
    if (found === undefined) return false;
    const { close } = this.#members.get(found)!;
    this.delete(found);
    close();
    return true;
  }

  /** The sender that holds most; the given one where another holds as many. */
  #largest(own: string): string {
    let [found, most] = [own, this.#held.get(own) ?? 0];
    for (const [sender, held] of this.#held) if (held > most) [found, most] = [sender, held];
    return found;
  }
}
