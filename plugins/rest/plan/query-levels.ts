/** Builds the levels of a select, each with its filters, trees, orders and ranges. */
import type { Relation, Relationship, ResolvedOptions } from "../../../core/index.ts";
import { aliasRequired, targetNotEmbedded } from "../errors.ts";
import type {
  AddressedPart,
  Condition,
  PluginParameter,
  LogicTree,
  NodeRange,
  OrderTerm,
  ParsedQuery,
  SelectEmbed,
  SelectItem,
} from "../request.ts";

export interface QueryNode {
  /** The embed of the level. Undefined at the root. */
  readonly embed: SelectEmbed | undefined;
  readonly items: readonly SelectItem[];
  /** The embeds in `select` order. */
  readonly children: readonly QueryNode[];
  readonly filters: Condition[];
  readonly logic: LogicTree[];
  orders: readonly OrderTerm[];
  range: NodeRange;
  readonly pluginParameters: PluginParameter[];
}

/** A level with its relation and its embeds. */
export interface QueryLevel {
  readonly node: QueryNode;
  readonly relation: Relation | undefined;
  /** The name of the relation in messages. */
  readonly name: string;
  /** The depth, 0 at the root. */
  readonly depth: number;
  readonly embeds: readonly EmbedLevel[];
}

export interface EmbedLevel extends QueryLevel {
  readonly embed: SelectEmbed;
  /** The target name. */
  readonly id: string;
  readonly relationship: Relationship;
}

/** Returns the name in messages for the rows of an embed, seen from the outer level. @rule R-NAM-1 R-EMB-12 */
export const buildJoinedRowName = ({ name, depth }: Pick<QueryLevel, "name" | "depth">, id: string): string =>
  `${name}_${id}_${depth + 1}`;

interface LegacyName {
  readonly name: string;
  readonly alias: string;
}

interface QueryTree {
  readonly root: QueryNode;
  /** Names in the query that mean aliased embeds. @rule R-EMB-7 */
  readonly legacyNames: readonly LegacyName[];
}

const ALL_COLUMNS: readonly SelectItem[] = [{ kind: "all" }];

const buildNode = (embed: SelectEmbed | undefined, items: readonly SelectItem[]): QueryNode => ({
  embed,
  items,
  children: items.filter((item) => item.kind === "embed").map((item) => buildNode(item, item.items)),
  filters: [],
  logic: [],
  orders: [],
  range: {},
  pluginParameters: [],
});

/** Returns the name by which filters, orders and trees refer to an embed. @rule R-EMB-6 */
export const getTargetName = (embed: SelectEmbed): string => embed.alias ?? embed.name;

/** Returns whether an embed adds no key, because it is empty or contains only empty embeds. @rule R-EMB-13 */
export const isEmptyEmbed = (embed: SelectEmbed): boolean =>
  embed.items.every((item) => item.kind === "embed" && isEmptyEmbed(item));

/** Selects the parts of the query that take effect. */
interface EffectiveParts {
  /** True if root filters and root trees take effect. */
  readonly hasRootFilters: boolean;
  readonly hasRanges: boolean;
}

/** Assigns each part of the query to its level. @throws RelApiError `not-embedded` @rule R-EMB-7 R-EMB-8 R-FLT-11 */
export const buildNodes = (query: ParsedQuery, parts: EffectiveParts, options: ResolvedOptions): QueryTree => {
  const root = buildNode(undefined, query.select ?? ALL_COLUMNS);
  const legacyNames: LegacyName[] = [];
  const findNode = ({ path }: AddressedPart<unknown>): QueryNode =>
    path.reduce((node, name) => findChild(node, name, options.urlUseLegacyTargetNames, legacyNames), root);
  for (const filter of query.filters)
    if (parts.hasRootFilters || filter.path.length > 0) findNode(filter).filters.push(filter.part);
  for (const order of query.orders) findNode(order).orders = order.part;
  if (parts.hasRanges) for (const range of query.ranges) findNode(range).range = range.part;
  for (const tree of query.logic)
    if (parts.hasRootFilters || tree.path.length > 0) findNode(tree).logic.push(tree.part);
  for (const parameter of query.pluginParameters) findNode(parameter).pluginParameters.push(parameter.part);
  return { root, legacyNames };
};

const findChild = (node: QueryNode, name: string, takesLegacy: boolean, legacyNames: LegacyName[]): QueryNode => {
  const candidates = node.children.filter(
    (child) => child.embed !== undefined && (getTargetName(child.embed) === name || child.embed.name === name),
  );
  const namedChild = takesLegacy
    ? candidates[0]
    : candidates.find((child) => child.embed !== undefined && getTargetName(child.embed) === name);
  const alias = (namedChild ?? candidates[0])?.embed?.alias;
  if (namedChild === undefined) throw alias === undefined ? targetNotEmbedded(name) : aliasRequired(name, alias);
  if (
    alias !== undefined &&
    alias !== name &&
    !legacyNames.some((legacy) => legacy.name === name && legacy.alias === alias)
  )
    legacyNames.push({ name, alias });
  return namedChild;
};
