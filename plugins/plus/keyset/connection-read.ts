/**
 * `album_connection(first: 10, after: "…") { edges { cursor node { title } } pageInfo { hasNextPage endCursor } }`: the
 * read behind a connection.
 */
import { createHash } from "node:crypto";
import {
  findColumn,
  mapPlan,
  sql,
  type AggregateSpec,
  type Expression,
  type Json,
  type Model,
  type OrderBy,
  type Output,
  type Plan,
  type Predicate,
  type Read,
  type Relation,
  type ValueRef,
} from "../../../core/index.ts";
import type { GqlOwnSelected, GqlSelection, GqlSelectionContext } from "../../graphql/api.ts";
import { reverseOrder, addKeyToOrder, type KeysetPosition } from "./keyset.ts";
import { CURSOR, decodeConnectionCursor, SIZE, windowInvalid } from "./ids.ts";

const HAS_MORE_AGGREGATE = "relay_more";
const START_CURSOR_AGGREGATE = "relay_start";
const END_CURSOR_AGGREGATE = "relay_end";
const TRUE_AGGREGATE = "relay_yes";
const FALSE_AGGREGATE = "relay_no";

const aggregateDefaults = {
  rest: false,
  graphql: false,
  builtIn: ["array_agg", "count", "max", "<", ">", ">="],
} as const;

/** Aggregates over all rows that the read returns. The first `size` of these rows are on the page. */
export const aggregates: readonly AggregateSpec[] = [
  {
    ...aggregateDefaults,
    name: HAS_MORE_AGGREGATE,
    compile: ([size]) => sql`coalesce(count(*) > max(${size ?? sql`0`}), false)`,
  },
  { ...aggregateDefaults, name: TRUE_AGGREGATE, compile: () => sql`(count(*) >= 0)` },
  { ...aggregateDefaults, name: FALSE_AGGREGATE, compile: () => sql`(count(*) < 0)` },
  {
    ...aggregateDefaults,
    name: START_CURSOR_AGGREGATE,
    compile: ([cursor, size]) =>
      sql`coalesce((array_agg(${cursor ?? sql`''`}))[least(count(*), max(${size ?? sql`0`}), 1)::int4], '')`,
  },
  {
    ...aggregateDefaults,
    name: END_CURSOR_AGGREGATE,
    compile: ([cursor, size]) =>
      sql`coalesce((array_agg(${cursor ?? sql`''`}))[least(count(*), max(${size ?? sql`0`}))::int4], '')`,
  },
];

/** The size of a page without a limit. */
const UNLIMITED_SIZE = 2_147_483_646;

interface Window {
  readonly size: number;
  readonly isBackward: boolean;
  readonly cursor: string | undefined;
}

/** Returns the window that the arguments `first`, `last`, `after` and `before` request. @throws RelApiError
 *  @rule P-RLY-5 */
const parseWindow = ({ arguments: args, path: field }: GqlSelection, cap: number | undefined): Window => {
  const buildPath = (argument: string): string => `${field}.args.${argument}`;
  const { first = null, after = null, last = null, before = null } = args as Readonly<Record<string, Json>>;
  if (first !== null && last !== null)
    throw windowInvalid('"first" and "last" are not allowed at once', buildPath("last"));
  if (after !== null && before !== null)
    throw windowInvalid('"after" and "before" are not allowed at once', buildPath("before"));
  if (first !== null && before !== null)
    throw windowInvalid('"first" and "before" are not allowed at once', buildPath("before"));
  if (last !== null && after !== null)
    throw windowInvalid('"last" and "after" are not allowed at once', buildPath("after"));
  const size = Number(first ?? last ?? UNLIMITED_SIZE);
  const side = first === null ? "last" : "first";
  if (size < 0) throw windowInvalid(`"${side}" cannot be negative`, buildPath(side));
  const cursor = after ?? before;
  return {
    size: Math.min(size, cap ?? UNLIMITED_SIZE),
    isBackward: last !== null || before !== null,
    // The cursor of an empty page is an empty string.
    cursor: cursor === null || cursor === "" ? undefined : String(cursor),
  };
};

/** Identifies an order, because a cursor of one order is not valid for another. */
const hashOrder = ({ schema, name }: Relation, order: readonly OrderBy[], distinct: number): string =>
  createHash("sha256")
    .update(JSON.stringify([schema, name, order, distinct]))
    .digest("base64url")
    .slice(0, 8);

const isComparable = (expression: Expression): boolean =>
  expression.kind === "column" ||
  expression.kind === "computed" ||
  (expression.kind === "related" && isComparable(expression.value));

interface ConnectionParts {
  readonly cursor: Expression;
  readonly size: Expression;
  readonly window: Window;
}

const buildTypenameOutput = ({ as, type }: GqlOwnSelected): Output => ({ kind: "constant", as, value: type.name });

const buildEdgeOutput = (field: GqlOwnSelected, { cursor }: ConnectionParts): Output => {
  if (field.name === "__typename") return buildTypenameOutput(field);
  if (field.name === "cursor") return { kind: "value", as: field.as, value: cursor };
  return { kind: "object", as: field.as, outputs: field.rows() };
};

/** Builds the page information. The row of the cursor lies on the side from which the client has reached the page. */
const buildPageInfoOutput = (field: GqlOwnSelected, { cursor, size, window }: ConnectionParts): Output => {
  const { as, name } = field;
  const { isBackward } = window;
  const buildAggregate = (fn: string, ...expressions: readonly Expression[]): Output => ({
    kind: "aggregate",
    as,
    fn,
    expressions,
  });
  if (name === "__typename") return buildTypenameOutput(field);
  if (name === "startCursor" || name === "endCursor")
    return buildAggregate(
      (name === "endCursor") === isBackward ? START_CURSOR_AGGREGATE : END_CURSOR_AGGREGATE,
      cursor,
      size,
    );
  const isAhead = (name === "hasPreviousPage") === isBackward;
  return isAhead
    ? buildAggregate(HAS_MORE_AGGREGATE, size)
    : buildAggregate(window.cursor === undefined ? FALSE_AGGREGATE : TRUE_AGGREGATE);
};

const buildSizeExpression = (size: number, expression: Expression): Expression => ({
  kind: "apply",
  function: SIZE,
  value: expression,
  operands: [{ constant: String(size), type: "pg_catalog.int4" }],
});

/**
 * Plans the read of a connection, without the relation that it reads from. @throws RelApiError @rule P-RLY-2 P-RLY-4
 * P-RLY-5 P-RLY-6
 */
export const planConnection = (
  selection: GqlSelection,
  context: GqlSelectionContext,
  relation: Relation,
): Omit<Read, "from"> => {
  const { model, options } = context.schema;
  const window = parseWindow(selection, options.dbMaxRows);
  const { where, orderBy: requestedOrder = [], distinctOn = [] } = context.list();
  const buildArgumentPath = (argument: string): string => `${selection.path}.args.${argument}`;
  if (distinctOn.length > 0 && window.isBackward)
    throw windowInvalid('"distinct_on" goes with "first" and "after" only', buildArgumentPath("distinct_on"));
  // Without an explicit order, `distinct_on` keeps the first row by the key.
  const orderBy =
    requestedOrder.length > 0
      ? requestedOrder
      : distinctOn.map((expression): OrderBy => ({ expression, direction: "asc", nulls: "last" }));
  if (!orderBy.every(({ expression }) => isComparable(expression)))
    throw windowInvalid("a connection cannot be ordered by aggregates or distances", buildArgumentPath("order_by"));
  const forward = addKeyToOrder(orderBy, relation);
  const form = hashOrder(relation, forward, distinctOn.length);
  const order = window.isBackward ? forward.map(reverseOrder) : forward;
  const [first, ...otherTerms] = forward.map(({ expression }) => expression);
  // Connections need a primary key.
  if (first === undefined) throw windowInvalid("the table has no primary key", selection.path);
  const cursor: Expression = {
    kind: "apply",
    function: CURSOR,
    value: first,
    operands: [{ constant: form, type: "text" }, ...otherTerms.map((expression) => ({ expression }))],
  };
  const parts: ConnectionParts = { cursor, size: buildSizeExpression(window.size, first), window };
  const output = context.fields().map((field): Output => {
    if (field.name === "__typename") return buildTypenameOutput(field);
    const buildNodes = (outputs: readonly Output[]): Output => ({
      kind: "nodes",
      as: field.as,
      outputs,
      cap: window.size,
      ...(window.isBackward && { isReversed: true }),
    });
    if (field.name === "totalCount") return { kind: "total", as: field.as };
    if (field.name === "nodes") return buildNodes(field.rows());
    const fields = field.fields();
    return field.name === "edges"
      ? buildNodes(fields.map((edgeField) => buildEdgeOutput(edgeField, parts)))
      : {
          kind: "object",
          as: field.as,
          outputs: fields.map((pageInfoField) => buildPageInfoOutput(pageInfoField, parts)),
        };
  });
  const cursorValues =
    window.cursor === undefined ? undefined : decodeConnectionCursor(window.cursor, form, order.length);
  if (window.cursor !== undefined && cursorValues === undefined)
    throw windowInvalid(
      "the cursor is invalid, or of another order",
      buildArgumentPath(window.isBackward ? "before" : "after"),
    );
  const bindTyped = (value: string | null, { expression }: OrderBy): ValueRef | null => {
    if (value === null) return null;
    const type =
      expression.kind === "column" && expression.path === undefined
        ? findColumn(relation, expression.name)?.type
        : undefined;
    const name = type === undefined ? undefined : model.types.get(type)?.sqlName;
    return { ...context.bind(value), ...(name !== undefined && { type: name }) };
  };
  const buildKeysetPredicate = (position: KeysetPosition): Predicate => {
    // With `distinct_on`, no other row follows the first one of a value.
    const keysetOrder = distinctOn.length === 0 ? order : order.slice(0, distinctOn.length);
    return {
      kind: "keyset",
      order: keysetOrder,
      values: keysetOrder.map((term, i) => bindTyped(position[i] ?? null, term)),
    };
  };
  const conditions = [
    ...(where === undefined ? [] : [where]),
    ...(cursorValues === undefined ? [] : [buildKeysetPredicate(cursorValues)]),
  ];
  return {
    kind: "read",
    shape: "aggregate",
    output,
    ...(conditions.length > 0 && { where: { kind: "and", predicates: conditions } }),
    orderBy: order,
    ...(distinctOn.length > 0 && { distinctOn }),
    limit: { constant: String(window.size + 1) },
  };
};

const isPageAggregate = (output: Output): output is Extract<Output, { readonly kind: "aggregate" }> =>
  output.kind === "aggregate" &&
  [HAS_MORE_AGGREGATE, START_CURSOR_AGGREGATE, END_CURSOR_AGGREGATE, TRUE_AGGREGATE, FALSE_AGGREGATE].includes(
    output.fn,
  );

/**
 * Reduces the page size to the row limit of a permission, which plans contain only after permissions were added. The
 * page information changes with it.
 * @rule P-RLY-6
 */
export const fitToLimit = (plan: Plan, model: Model): Plan =>
  mapPlan(plan, model, {
    read: (read) => {
      if (read.shape !== "aggregate") return read;
      const isOurs = read.output.some((output) => output.kind === "object" && output.outputs.some(isPageAggregate));
      const caps = read.output.flatMap((output) =>
        output.kind === "nodes" && output.cap !== undefined ? [output.cap] : [],
      );
      const cap = Math.min(...caps);
      if (!isOurs || caps.length === 0) return read;
      const fitSize = (expression: Expression): Expression =>
        expression.kind === "apply" && expression.function === SIZE
          ? buildSizeExpression(cap, expression.value)
          : expression;
      const outputs = read.output.map((output): Output =>
        output.kind !== "object"
          ? output
          : {
              ...output,
              outputs: output.outputs.map((member) =>
                isPageAggregate(member) ? { ...member, expressions: (member.expressions ?? []).map(fitSize) } : member,
              ),
            },
      );
      return { ...read, output: outputs, limit: { constant: String(cap + 1) } };
    },
  });
