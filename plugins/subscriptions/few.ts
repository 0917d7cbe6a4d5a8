/** A set that mostly has one item: an empty `Set` takes 200 bytes, and there is one for each live query. */
export class Few<Item extends object> implements Iterable<Item> {
  #only: Item | undefined;
  #more: Set<Item> | undefined;

  get size(): number {
    return this.#more?.size ?? (this.#only === undefined ? 0 : 1);
  }

  add(item: Item): void {
    if (this.#more !== undefined) this.#more.add(item);
    else if (this.#only === undefined) this.#only = item;
    else if (this.#only !== item) {
      this.#more = new Set([this.#only, item]);
      this.#only = undefined;
    }
  }

  /** Whether it was there. */
  delete(item: Item): boolean {
    if (this.#more !== undefined) return this.#more.delete(item);
    if (this.#only !== item) return false;
    this.#only = undefined;
    return true;
  }

  [Symbol.iterator](): Iterator<Item> {
    return (this.#more ?? (this.#only === undefined ? [] : [this.#only])).values();
  }
}
