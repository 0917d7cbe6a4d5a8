/** Replaces parts of objects and lists with structural sharing: what does not change remains the same object. */

export const mapOptional = <Value, Result>(part: Value | undefined, map: (part: Value) => Result): Result | undefined =>
  part === undefined ? undefined : map(part);

/** Maps the members of an object. Returns the same object if no member changed. */
export const mapRecord = <Member>(
  record: Readonly<Record<string, Member>>,
  map: (member: Member) => Member,
): Readonly<Record<string, Member>> => {
  const members = Object.entries(record).map(([name, member]) => [name, member, map(member)] as const);
  return members.every(([, before, after]) => before === after)
    ? record
    : Object.fromEntries(members.map(([name, , after]) => [name, after]));
};

/** Maps the items of a list. Returns the same list if no item changed. */
export const mapList = <Item>(list: readonly Item[], map: (item: Item) => Item): readonly Item[] => {
  let next: Item[] | undefined;
  list.forEach((item, i) => {
    const mappedItem = map(item);
    if (next === undefined && mappedItem !== item) next = list.slice(0, i);
    next?.push(mappedItem);
  });
  return next ?? list;
};

/** Returns the same node if no part changed. Otherwise returns a copy with the keys in their old order, on which cache
 *  keys of plans depend. */
export const withChanges = <Node extends object>(node: Node, parts: Partial<Node>): Node => {
  for (const name of Object.keys(parts) as (keyof Node)[])
    if (parts[name] !== node[name]) return withDifferentParts(node, parts);
  return node;
};

const withDifferentParts = <Node extends object>(node: Node, parts: Partial<Node>): Node => {
  const next = { ...node };
  for (const name of Object.keys(parts) as (keyof Node)[])
    // The value was compared with undefined.
    if (parts[name] !== undefined) next[name] = parts[name] as Node[typeof name];
  return next;
};
