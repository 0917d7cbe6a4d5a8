/**
 * `GET /artist?select=name,album(title)` with `Prefer: as-of=2024-05-01`, and `{ artist_as_of(at: "2024-05-01") { name
 * } }`: rows of an earlier time, from the tables of `public_history`.
 */
import { GraphQLNonNull } from "graphql";
import {
  getQualifiedName,
  findColumn,
  buildColumnComparison,
  definePlugin,
  quoteLiteral,
  mapPlan,
  buildNameKey,
  findRelation,
  RelApiError,
  restrictRows,
  sql,
  Stage,
  type Expression,
  type Model,
  type Output,
  type PlanScope,
  type Predicate,
  type QualifiedName,
  type Read,
  type Relation,
  type ValueRef,
} from "../../../core/index.ts";
import type { GqlFieldContext, GqlFields, GqlSelectionContext } from "../../graphql/api.ts";

const AS_OF = "as-of";
const NAME = "row-history";
const SETTING = "relapi.as_of";
const SUFFIX = "_history";

// Matches `2024-05-01`, `2024-05-01T12:00Z` and `2024-05-01T12:00:00.5+02:00`.
const TIME = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d(?::?\d\d)?)?)?$/;

/** Returns the error for a table without a history. @rule P-HIS-4 P-HIS-5 */
const historyMissing = (subject: string): RelApiError =>
  new RelApiError({ code: "history-not-kept", status: 400, message: `${subject} has no history`, path: "$" });

/** Returns the error for a time that is not valid. @rule P-HIS-5 */
const timeInvalid = (time: string): RelApiError =>
  new RelApiError({
    code: "22007",
    status: 400,
    message: `invalid input syntax for type timestamp with time zone: "${time}"`,
    hint: "as-of requires a date or a time in ISO 8601: 2024-05-01, 2024-05-01T12:00Z",
    path: "$",
  });

/** Removes the quotes of a preference's value. */
const unquote = (text: string): string => /^"(.*)"$/.exec(text)?.[1] ?? text;

const isTime = (text: string): boolean => TIME.test(text) && !Number.isNaN(Date.parse(text));

/** Returns the relation that contains the history. Returns undefined if the relation has no history. @rule P-HIS-1 */
const findHistory = (model: Model, { schema, name }: QualifiedName): Relation | undefined => {
  const history = findRelation(model, { schema: schema + SUFFIX, name });
  const isKept = history && findColumn(history, "valid_from") && findColumn(history, "valid_to");
  return isKept && !model.schemas.includes(history.schema) ? history : undefined;
};

/** Adds relationships between histories. Such a relationship leads to the current relation if the target has no
 *  history. @rule P-HIS-3 */
const addHistoryRelationships = (model: Model): Model => {
  const relations = new Map(model.relations);
  for (const relation of model.relations.values()) {
    const history = findHistory(model, relation);
    if (history === undefined) continue;
    const relationships = relation.relationships
      .filter(({ routine }) => routine === undefined)
      // The relationship is manual, because no constraint guarantees a single version at a time.
      .map((relationship) => ({
        ...relationship,
        source: history,
        target: findHistory(model, relationship.target) ?? relationship.target,
        isManual: true,
      }));
    relations.set(buildNameKey(history), { ...history, uniqueKeys: [], relationships });
  }
  return { ...model, relations };
};

/** Returns the condition that a version of a row was valid at a time. @rule P-HIS-2 */
const buildValidAt = (operand: ValueRef): Predicate => {
  const ends = [
    buildColumnComparison("valid_to", "is", { keyword: "null" }),
    buildColumnComparison("valid_to", "gt", { operand }),
  ];
  return {
    kind: "and",
    predicates: [buildColumnComparison("valid_from", "lte", { operand }), { kind: "or", predicates: ends }],
  };
};

/** Replaces the relations of a read by their histories. For a relation without a history, related rows are the current
 *  rows. @throws RelApiError `history-not-kept` for relationships and computed fields that have no history @rule
 *  P-HIS-3 P-HIS-4 */
const replaceByHistory = (read: Read, model: Model, at: ValueRef): Read => {
  const valid = restrictRows(read, model, (relation, path) => {
    const [isKept, wasKept] = [relation, path?.from].map((table) => table && findHistory(model, table) !== undefined);
    if (path?.routine && (isKept || wasKept)) throw historyMissing(`the function ${path.routine.name}`);
    if (isKept && wasKept === false) throw historyMissing(path?.from.name ?? "");
    return isKept ? buildValidAt(at) : undefined;
  });
  const rejectFunction = <Node extends Predicate | Expression>(node: Node, { relation }: PlanScope): Node => {
    if ("routine" in node && relation && findHistory(model, relation))
      throw historyMissing(`the function ${node.routine.name}`);
    return node;
  };
  return mapPlan(valid, model, {
    read: (node, { relation }) => {
      const history = relation && findHistory(model, relation);
      if (relation === undefined || history === undefined) return node;
      const columns = relation.columns.filter(({ name }) => findColumn(history, name) !== undefined);
      const allColumns = columns.map(({ name }): Output => ({
        kind: "value",
        as: name,
        value: { kind: "column", name },
      }));
      const isMissingColumn = (output: Output): boolean =>
        output.kind === "value" && output.isOfAll === true && findColumn(history, output.as) === undefined;
      const outputs = node.output.flatMap((output) =>
        output.kind === "all" ? allColumns : isMissingColumn(output) ? [] : [output],
      );
      return { ...node, from: { relation: getQualifiedName(history) }, output: outputs };
    },
    predicate: (predicate, scope) =>
      predicate.kind === "exists"
        ? { ...predicate, from: getQualifiedName(findHistory(model, predicate.from) ?? predicate.from) }
        : rejectFunction(predicate, scope),
    expression: rejectFunction,
  });
};

/** Adds fields such as `artist_as_of(at: "2024-05-01", where: …, order_by: …)`. @rule P-HIS-6 */
const addAsOfFields = (fields: GqlFields, { scope, build, model }: GqlFieldContext): GqlFields => {
  const time = build.valueType("timestamptz");
  if ((scope !== "query_root" && scope !== "subscription_root") || time === undefined) return fields;
  const args = { at: { type: new GraphQLNonNull(build.valueInput(time)) } };
  const historyFields = build.catalog.tables.flatMap((table) => {
    const description = `rows of the table "${table.relation.name}" as they were`;
    const addTime = (read: Read, { argument }: GqlSelectionContext): Read => {
      const at = argument("at", "timestamptz");
      return at === undefined ? read : { ...read, notes: { [AS_OF]: at } };
    };
    const field =
      findHistory(model, table.relation) && build.rowsField(table, { description, args, transformRead: addTime });
    return field === undefined ? [] : [[build.rootName(table.namePart, "as_of"), field] as const];
  });
  return { ...fields, ...Object.fromEntries(historyFields) };
};

/** Reads rows as of a time, on both surfaces. @rule P-HIS-1 … P-HIS-6 @experimental */
export const rowHistory = definePlugin({
  name: NAME,
  requires: ["comparison-operators"],
  stage: Stage.late, // permissions of the table apply and are added first
  hiddenSchemas: (exposedSchemas) => exposedSchemas.map((schema) => schema + SUFFIX),
  functions: [
    { name: "as-of-request", compile: () => sql`pg_catalog.current_setting(${quoteLiteral(SETTING)})::timestamptz` },
  ],
  preferences: [
    {
      name: AS_OF,
      // Current rows would be a wrong answer to an invalid time.
      values: () => true,
      example: "as-of=2024-05-01",
      settings: (time) => [[SETTING, unquote(time)]],
      plan: (plan, time, { model }) => {
        if (!isTime(unquote(time))) throw timeInvalid(time);
        if (plan.kind !== "read" || !("relation" in plan.from)) throw historyMissing("a write or a call");
        if (findHistory(model, plan.from.relation) === undefined) throw historyMissing(plan.from.relation.name);
        return { ...plan, notes: { ...plan.notes, [AS_OF]: { constant: null, apply: "as-of-request" } } };
      },
    },
  ],
  apply: (hooks) => {
    hooks.introspect.tapPromise(NAME, async (model, { schemas, warn }) => {
      const exposedSchemas = schemas.map((schema) => schema + SUFFIX).filter((schema) => schemas.includes(schema));
      for (const schema of exposedSchemas) warn(`no history is read from ${schema}: it is exposed`);
      return addHistoryRelationships(model);
    });
    hooks.transformPlan.tap({ name: NAME, keepsRows: true }, (plan, { model }) =>
      mapPlan(plan, model, {
        read: (read) => (read.notes?.[AS_OF] === undefined ? read : replaceByHistory(read, model, read.notes[AS_OF])),
      }),
    );
    hooks.buildGqlField.tap(NAME, addAsOfFields);
  },
});
