/** Random choices that a seed reproduces. */
export interface Random {
  /** An integer of at least 0 and less than `below`. */
  int(below: number): number;
  chance(part: number): boolean;
  pick<Item>(list: readonly Item[]): Item;
  /** This number of different items, or all items if there are fewer. */
  sample<Item>(list: readonly Item[], count: number): Item[];
  shuffle<Item>(list: readonly Item[]): Item[];
}

/** The algorithm is mulberry32: its 32 bits of state are enough for tests. */
export const createRandom = (seed: number): Random => {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let hash = Math.imul(state ^ (state >>> 15), state | 1);
    hash ^= hash + Math.imul(hash ^ (hash >>> 7), hash | 61);
    return ((hash ^ (hash >>> 14)) >>> 0) / 4_294_967_296;
  };
  const int = (below: number): number => Math.floor(next() * below);
  const shuffle = <Item>(list: readonly Item[]): Item[] => {
    const items = [...list];
    for (let i = items.length - 1; i > 0; i--) {
      const j = int(i + 1);
      [items[i], items[j]] = [items[j]!, items[i]!];
    }
    return items;
  };
  return {
    int,
    chance: (part) => next() < part,
    pick: <Item>(list: readonly Item[]): Item => {
      if (list.length === 0) throw new Error("nothing to pick from");
      return list[int(list.length)]!;
    },
    sample: (list, count) => shuffle(list).slice(0, count),
    shuffle,
  };
};

/** The seed of every random test: SEED, or 1. It is printed, so that a run can be repeated. */
export const chosenSeed = (): number => {
  const seedText = process.env["SEED"] ?? "";
  const seed = seedText === "" ? 1 : Number(seedText);
  if (!Number.isSafeInteger(seed)) throw new Error(`SEED must be a whole number, and is ${seedText}`);
  console.log(`SEED=${seed}`);
  return seed;
};
