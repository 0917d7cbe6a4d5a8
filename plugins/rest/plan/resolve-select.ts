/**
 * Resolves the select tree against the model: names become relationships, and the tree becomes the `Read` of a plan.
 */
import {
  findColumn,
  findComputedField,
  findRelation,
  type BoundValue,
  type Embed,
  type Expression,
  type Model,
  type Output,
  type Predicate,
  type Read,
  type Relation,
  type ReadFrom,
} from "../../../core/index.ts";
import {
  spreadAggregateUnsupported,
  aggregatesDisabled,
  checkDepth,
  embedRepeated,
  nameTooLong,
  targetNotEmbedded,
  relatedOrderImpossible,
} from "../errors.ts";
import { readParametersHook } from "../api.ts";
import type {
  PluginParameter,
  Grammar,
  OrderTerm,
  ReadInput,
  ResolvedRead,
  RestSurface,
  SelectEmbed,
  SelectItem,
} from "../request.ts";
import { parseOperation } from "../syntax/filter.ts";
import { buildSyntaxError } from "../syntax/lex.ts";
import { isWholeRow } from "../syntax/select.ts";
import { bind, buildField, buildOperation, buildWhere, type RowScope } from "./conditions.ts";
import {
  buildNodes,
  isEmptyEmbed,
  buildJoinedRowName,
  getTargetName,
  type EmbedLevel,
  type QueryLevel,
  type QueryNode,
} from "./query-levels.ts";
import { buildOrder, orderGroups } from "./order.ts";
import type { PlanInput } from "./planning.ts";
import { resolveRelationship, type RelationshipSearch } from "./relationship.ts";

interface ReadContext {
  readonly rest: RestSurface;
  readonly model: Model;
  readonly searchPath: readonly string[];
  /** True if a bare `count` may mean the number of rows. */
  readonly takesBareCount: boolean;
  /** True if keys are truncated as in PostgREST, which can make two keys equal. @rule R-SEL-11 */
  readonly truncatesKeys: boolean;
  readonly grammar: Grammar;
  readonly values: BoundValue[];
  /** `dbMaxRows`, if it applies. @rule R-RNG-5 */
  readonly cap: number | undefined;
}

/**
 * Returns the read of a request, of a function's result or of written rows. Checks are made in the order of R-PIPE-1
 * step 10. The slots of the root's limit and offset are the last values. @throws RelApiError `not-embedded`,
 * `relationship-not-found`, `relationship-ambiguous`, `related-order-impossible`, `aggregates-disabled`,
 * `not-implemented` @rule R-SEL-1 R-SEL-9 R-EMB-4
 */
export const resolveRead = (input: ReadInput): ResolvedRead => {
  const { model, schema, relation, name, query, window } = input;
  const { grammar, context } = input.rest;
  const { options } = context;
  const { root, legacyNames } = buildNodes(
    query,
    { hasRootFilters: input.hasRootFilters, hasRanges: window !== undefined },
    options,
  );
  const level = resolveLevel(root, { rest: input.rest, model, schema, source: relation, sourceName: name });
  checkRelatedOrders(level);
  checkAggregates(level, grammar.flatModes, options.dbAggregatesEnabled);
  const readContext: ReadContext = {
    rest: input.rest,
    model,
    searchPath: buildSearchPath(input.rest, schema),
    // Metadata permissions grant counting separately from reading.
    takesBareCount:
      grammar.aggregates.has("count") && (options.dbAggregatesEnabled || !options.metadataPermissionsForRest),
    truncatesKeys: options.compatMode,
    grammar,
    values: input.values,
    cap: window === undefined ? undefined : options.dbMaxRows,
  };
  const read = buildRead(readContext, level, input.from, {
    ...DEFAULT_OUTPUT,
    columns: input.columns,
    rowType: input.rowType,
    rowName: input.rowName,
  });
  const limit = window?.hasLimit === true ? bind(readContext.values, null) : undefined;
  const offset = window?.hasOffset === true ? bind(readContext.values, null) : undefined;
  return {
    read: { ...read, limit, offset },
    isWholeRow: isWholeRow(query.select),
    legacyNames,
  };
};

/** Applies the parameters of plugins to the read. @rule X-PAR-1 */
const applyPluginParameters = (
  { rest, model, searchPath, values, grammar }: ReadContext,
  relation: Relation | undefined,
  pluginParameters: readonly PluginParameter[],
  read: Read,
): Read => {
  if (pluginParameters.length === 0 || relation === undefined) return read;
  const { options, use } = rest.context;
  const taps = use(readParametersHook);
  let current = read;
  for (const { hook, name, text } of pluginParameters) {
    const source = { text, name, raw: text, facts: { parameter: name, value: text } };
    current = taps.for(hook).call(current, {
      text,
      model,
      relation,
      field: (column) => buildField({ model, relation, searchPath, values }, { name: column, path: [] }),
      condition: (leftOperand, operation) =>
        buildOperation(values, leftOperand, parseOperation(grammar, { ...source, text: operation })),
      aggregate: (fn) => {
        if (!options.dbAggregatesEnabled) throw aggregatesDisabled();
        return grammar.aggregates.get(fn);
      },
      checkDepth: (depth) => checkDepth(grammar.limits, depth),
      buildSyntaxError: (at, ...expecting) => buildSyntaxError(source, { at, expecting }),
    });
  }
  return current;
};

const buildSearchPath = ({ context }: RestSurface, schema: string): readonly string[] => [
  schema,
  ...context.options.dbExtraSearchPath,
];

/**
 * Returns the root filters and trees as the condition of a write, in which the name of an embed means a column. @rule
 * R-FLT-1 R-LOG-5
 */
export const resolveWhere = (
  { rest, model, schema, query }: Pick<PlanInput, "rest" | "model" | "schema" | "query">,
  relation: Relation,
  values: BoundValue[],
): Predicate | undefined => {
  const selectRootParts = <Part>(parts: readonly { readonly path: readonly string[]; readonly part: Part }[]): Part[] =>
    parts.filter(({ path }) => path.length === 0).map(({ part }) => part);
  return buildWhere(
    { model, relation, searchPath: buildSearchPath(rest, schema), values, findEmbed: () => undefined },
    selectRootParts(query.filters),
    selectRootParts(query.logic),
  );
};

const resolveLevel = (node: QueryNode, search: RelationshipSearch, depth = 0): QueryLevel => ({
  node,
  relation: search.source,
  name: search.sourceName,
  depth,
  embeds: node.children.flatMap((child) =>
    child.embed === undefined ? [] : [resolveEmbed(child, child.embed, search, depth + 1)],
  ),
});

const resolveEmbed = (node: QueryNode, embed: SelectEmbed, search: RelationshipSearch, depth: number): EmbedLevel => {
  const relationship = resolveRelationship(search, embed);
  const target = findRelation(search.model, relationship.target);
  const level = resolveLevel(node, { ...search, source: target, sourceName: relationship.target.name }, depth);
  return { ...level, embed, id: getTargetName(embed), relationship };
};

/** Rejects orders by embeds that are missing or to-many. @throws RelApiError `not-embedded`, `related-order-impossible`
 *  @rule R-ORD-3 */
const checkRelatedOrders = (level: QueryLevel): void => {
  for (const { embed } of level.node.orders) {
    if (embed === undefined) continue;
    const relatedEmbed = level.embeds.find(({ id }) => id === embed);
    if (relatedEmbed === undefined) throw targetNotEmbedded(embed);
    if (!relatedEmbed.relationship.isToOne) throw relatedOrderImpossible(level.name, embed);
  }
  level.embeds.forEach(checkRelatedOrders);
};

const isAggregate = (item: SelectItem): boolean =>
  item.kind === "count" || (item.kind === "field" && item.aggregate !== undefined);

/** Returns whether the level has aggregates, including the aggregates of to-one spreads inside the level. @rule
 *  R-AGG-6 */
const hasAggregates = (level: QueryLevel, flatModes: Grammar["flatModes"]): boolean =>
  level.node.items.some(isAggregate) ||
  level.embeds.some(
    (embed) => flatModes.has(embed.embed.mode) && embed.relationship.isToOne && hasAggregates(embed, flatModes),
  );

/** Rejects aggregates that are disabled, or inside a to-many spread. @rule R-AGG-1 R-SPR-7 */
const checkAggregates = (root: QueryLevel, flatModes: Grammar["flatModes"], isEnabled: boolean): void => {
  const levels: QueryLevel[] = [root];
  // The list grows during the loop, which visits every level from the top.
  for (const level of levels) levels.push(...level.embeds);
  if (!isEnabled && levels.some((level) => level.node.items.some(isAggregate))) throw aggregatesDisabled();
  for (const level of levels) {
    const flatLists = level.embeds.filter(
      ({ embed, relationship }) => flatModes.has(embed.mode) && !relationship.isToOne,
    );
    if (flatLists.some((embed) => hasAggregates(embed, flatModes))) throw spreadAggregateUnsupported();
  }
};

const MAX_NAME_BYTES = 63;

const DEFAULT_OUTPUT: OutputOptions = { isHidden: false, isSortedByParent: false };

interface OutputOptions {
  readonly isHidden: boolean;
  /** True if the parent sorts by this embed. */
  readonly isSortedByParent: boolean;
  /** The names of the columns, if the rows belong to no relation. */
  readonly columns?: readonly string[];
  /** The composite type of rows that belong to no relation, if they have one. */
  readonly rowType?: number;
  /** The name of the rows in messages, if it differs from the name of their relation. */
  readonly rowName?: string;
}

/**
 * Returns the name in messages for an embed's rows, seen from inside, because two levels may have the same relation.
 * @rule R-NAM-1
 */
const buildEmbedRowName = ({ relationship: { target, junction }, depth }: EmbedLevel): string | undefined =>
  junction === undefined ? `${target.name}_${depth}` : undefined;

const buildRead = (context: ReadContext, level: QueryLevel, from: ReadFrom, options: OutputOptions): Read => {
  const { node, relation } = level;
  const { model, searchPath, values, cap } = context;
  const ids = new Set<string>();
  for (const { id } of level.embeds) {
    if (ids.has(id)) throw embedRepeated(buildJoinedRowName(level, id));
    ids.add(id);
  }
  const { columns = [], rowType } = options;
  const composite = rowType === undefined ? undefined : { rowType, columns };
  const row: RowScope = {
    model,
    relation,
    composite,
    searchPath,
    values,
    findEmbed: (name) => (ids.has(name) ? name : undefined),
  };
  const output: Output[] = [
    // An empty embed has no keys, but an order may use any of its columns (R-ORD-4).
    ...(options.isHidden
      ? options.isSortedByParent
        ? [{ kind: "all" } as const]
        : []
      : (findBareCount(context, level, options.columns) ?? node.items).flatMap((item) =>
          buildOutput(row, item, context.grammar.aggregates),
        )),
    ...level.embeds.map((embed) => buildEmbed(context, embed, node.orders)),
  ];
  if (!context.truncatesKeys)
    for (const item of output)
      if ("as" in item && Buffer.byteLength(item.as) > MAX_NAME_BYTES) throw nameTooLong(item.as);
  const where = buildWhere(row, node.filters, node.logic);
  const terms = node.orders.map((term) => buildOrder(row, level, term, context.grammar.orderings));
  const orderBy = terms.length === 0 ? undefined : terms;
  const ungroupedRead: Read = { kind: "read", from, row: options.rowName, shape: "rows", output, where, orderBy, cap };
  const { flatModes } = context.grammar;
  // The aggregates of a flat embed group the rows of the outer level.
  const isFlatEmbed = node.embed !== undefined && flatModes.has(node.embed.mode);
  const read = applyPluginParameters(context, relation, node.pluginParameters, ungroupedRead);
  const isGrouped = hasAggregates(level, flatModes) || read.groupBy !== undefined;
  return !isFlatEmbed && isGrouped ? orderGroups(read, values, level, flatModes) : read;
};

const buildEmbed = (context: ReadContext, level: EmbedLevel, parentOrders: readonly OrderTerm[]): Embed => {
  const { embed, id, relationship, node } = level;
  const isHidden = isEmptyEmbed(embed);
  const read = buildRead(
    context,
    level,
    { relation: relationship.target },
    { isHidden, isSortedByParent: parentOrders.some((term) => term.embed === id), rowName: buildEmbedRowName(level) },
  );
  const { limit, offset } = node.range;
  return {
    kind: "embed",
    as: id,
    id,
    mode: embed.mode,
    via: { relationship: relationship.id },
    join: embed.join ?? "left",
    isHidden: isHidden ? true : undefined,
    read: {
      ...read,
      limit: limit === undefined ? undefined : bind(context.values, String(limit)),
      offset: offset === undefined ? undefined : bind(context.values, String(offset)),
    },
  };
};

/** Returns the count that `select=count` and `vessels(count)` mean. Returns undefined if the row has a column or
 *  computed field of that name, or if `count` cannot mean the number of rows. @rule R-AGG-7 */
const findBareCount = (
  { model, searchPath, takesBareCount, grammar }: ReadContext,
  { node, relation }: QueryLevel,
  columns: readonly string[] | undefined,
): readonly SelectItem[] | undefined => {
  const [item, ...otherItems] = node.items;
  if (
    !takesBareCount ||
    otherItems.length > 0 ||
    item?.kind !== "field" ||
    item.field.name !== "count" ||
    item.field.path.length > 0 ||
    item.aggregate !== undefined ||
    (node.embed !== undefined && grammar.flatModes.has(node.embed.mode))
  )
    return undefined;
  const isTaken =
    relation === undefined
      ? columns?.includes("count") === true
      : findColumn(relation, "count") !== undefined ||
        findComputedField(model, relation, "count", searchPath) !== undefined;
  return isTaken ? undefined : [{ kind: "count", alias: item.alias, cast: item.cast }];
};

/**
 * Returns the output of a selected field. Embeds come after the fields. @rule R-SEL-2 R-SEL-3 R-SEL-4 R-SEL-5 R-SEL-8
 * R-AGG-3
 */
const buildOutput = (row: RowScope, item: SelectItem, aggregates: Grammar["aggregates"]): readonly Output[] => {
  switch (item.kind) {
    case "all":
      return [{ kind: "all" }];
    case "count":
      return [{ kind: "aggregate", as: item.alias ?? "count", fn: "count", cast: item.cast }];
    case "embed":
      return [];
    case "field": {
      const { alias, aggregate, aggregateCast } = item;
      const argument = withCast(buildField(row, item.field), item.cast);
      if (aggregate !== undefined)
        return [
          {
            kind: "aggregate",
            as: alias ?? aggregate,
            fn: aggregates.get(aggregate) ?? aggregate,
            expressions: [argument],
            cast: aggregateCast,
          },
        ];
      const lastKey = item.field.path.findLast((step) => !step.isIndex)?.key;
      return [{ kind: "value", as: alias ?? lastKey ?? item.field.name, value: withCast(argument, aggregateCast) }];
    }
  }
};

const withCast = (expression: Expression, type: string | undefined): Expression =>
  type === undefined ? expression : { kind: "cast", value: expression, type };
