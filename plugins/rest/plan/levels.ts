/** The levels of a select, each with the filters, trees, orders and ranges that address it. */
import type { Relation, Relationship, ResolvedOptions } from "../../../core/index.ts";
import { addressedPastAlias, notEmbedded } from "../errors.ts";
import type {
  Addressed,
  Condition,
  Extension,
  LogicTree,
  NodeRange,
  OrderTerm,
  ParsedQuery,
  SelectEmbed,
  SelectItem,
} from "../request.ts";

export interface Node {
  /** Undefined at the root. */
  readonly embed: SelectEmbed | undefined;
  readonly items: readonly SelectItem[];
  /** In `select` order. */
  readonly children: readonly Node[];
  readonly filters: Condition[];
  readonly logic: LogicTree[];
  orders: readonly OrderTerm[];
  range: NodeRange;
  /** Parameters of plugins; the root's are in the query. */
  readonly extensions: Extension[];
}

/** One level with its relation, and the embeds in it. */
export interface Level {
  readonly node: Node;
  readonly relation: Relation | undefined;
  /** What messages call the relation. */
  readonly name: string;
  /** 0 at the root. */
  readonly depth: number;
  readonly embeds: readonly EmbedLevel[];
}

export interface EmbedLevel extends Level {
  readonly embed: SelectEmbed;
  /** Target name. */
  readonly id: string;
  readonly relationship: Relationship;
}

/** What messages call the rows of an embed, seen from the level that has it. @rule R-NAM-1 R-EMB-12 */
export const joinedRow = ({ name, depth }: Pick<Level, "name" | "depth">, id: string): string =>
  `${name}_${id}_${depth + 1}`;

export interface LegacyName {
  readonly name: string;
  readonly alias: string;
}

export interface NodeTree {
  readonly root: Node;
  /** Names written that stood for aliased embeds. @rule R-EMB-7 */
  readonly legacyNames: readonly LegacyName[];
}

const ALL: readonly SelectItem[] = [{ kind: "all" }];

const buildNode = (embed: SelectEmbed | undefined, items: readonly SelectItem[]): Node => ({
  embed,
  items,
  children: items.filter((item) => item.kind === "embed").map((item) => buildNode(item, item.items)),
  filters: [],
  logic: [],
  orders: [],
  range: {},
  extensions: [],
});

/** What filters, orders and trees call an embed. @rule R-EMB-6 */
export const targetName = (embed: SelectEmbed): string => embed.alias ?? embed.name;

/** An embed that adds no key: an empty one, or one of only such. @rule R-EMB-13 */
export const isEmptyEmbed = (embed: SelectEmbed): boolean =>
  embed.items.every((item) => item.kind === "embed" && isEmptyEmbed(item));

/** Which parts of the query take effect. */
export interface Parts {
  /** Root filters and root trees. */
  readonly hasRootFilters: boolean;
  readonly hasRanges: boolean;
}

/** Sends each part of the query to its level. @throws RelApiError `not-embedded` @rule R-EMB-7 R-EMB-8 R-FLT-11 */
export const buildNodes = (query: ParsedQuery, parts: Parts, options: ResolvedOptions): NodeTree => {
  const root = buildNode(undefined, query.select ?? ALL);
  const legacyNames: LegacyName[] = [];
  const find = ({ path }: Addressed<unknown>): Node =>
    path.reduce((node, name) => findChild(node, name, options.urlUseLegacyTargetNames, legacyNames), root);
  for (const filter of query.filters)
    if (parts.hasRootFilters || filter.path.length > 0) find(filter).filters.push(filter.part);
  for (const order of query.orders) find(order).orders = order.part;
  if (parts.hasRanges) for (const range of query.ranges) find(range).range = range.part;
  for (const tree of query.logic) if (parts.hasRootFilters || tree.path.length > 0) find(tree).logic.push(tree.part);
  for (const extension of query.nestedExtensions) find(extension).extensions.push(extension.part);
  return { root, legacyNames };
};

const findChild = (node: Node, name: string, takesLegacy: boolean, legacyNames: LegacyName[]): Node => {
  const named = node.children.filter(
    (child) => child.embed !== undefined && (targetName(child.embed) === name || child.embed.name === name),
  );
  const found = takesLegacy
    ? named[0]
    : named.find((child) => child.embed !== undefined && targetName(child.embed) === name);
  const alias = (found ?? named[0])?.embed?.alias;
  if (found === undefined) throw alias === undefined ? notEmbedded(name) : addressedPastAlias(name, alias);
  if (
    alias !== undefined &&
    alias !== name &&
    !legacyNames.some((legacy) => legacy.name === name && legacy.alias === alias)
  )
    legacyNames.push({ name, alias });
  return found;
};
