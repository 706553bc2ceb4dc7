/**
 * Bounded set of connections or streams. If the set is full, a new member replaces another: the longest idle member of
 * the sender that has the most members.
 */

type Member = { readonly sender: string; readonly close: () => void; isBusy: boolean };

export type PoolLimits = {
  readonly all: number;
  /** Maximum number of members of one sender. If omitted, a sender can use all slots that no other sender needs. */
  readonly sender?: number;
  /** Whether a busy member keeps its slot, so that a new member is rejected instead. */
  readonly keepsBusy?: boolean;
};

export class Pool<Key> {
  readonly #limits: PoolLimits;
  /** Members, longest idle first. */
  readonly #members = new Map<Key, Member>();
  readonly #held = new Map<string, number>();

  constructor(limits: PoolLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#members.size;
  }

  /**
   * Adds a member, and closes another if the pool is full. `isShared`: many clients share the sender, which then has no
   * limit of its own. Returns false, without effect, if every other member is busy and keeps its slot.
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

  /** Marks a member as busy or idle, and as the most recently active. */
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

  /**
   * Closes a member of the sender, or of any sender if `null`: the longest idle member, otherwise the longest busy
   * member. Returns `false` if no member can be closed.
   */
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

  /** Returns the sender with the most members; `own` if no sender has more members than `own`. */
  #largest(own: string): string {
    let [found, most] = [own, this.#held.get(own) ?? 0];
    for (const [sender, held] of this.#held) if (held > most) [found, most] = [sender, held];
    return found;
  }
}
