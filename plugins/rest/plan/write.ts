/** Plans POST, PATCH, PUT and DELETE requests. */
import {
  findBaseType,
  findColumn,
  type BoundValue,
  type Column,
  type Delete,
  type Model,
  type Insert,
  type OnConflict,
  type PayloadColumn,
  type Read,
  type Relation,
  type Update,
  type WriteRows,
} from "../../../core/index.ts";
import { columnNotFound, putFiltersInvalid, putKeyMissing } from "../errors.ts";
import type { AppliedPreferences, PlannedRequest, ResolvedRead } from "../request.ts";
import { checkPreferences, findEffectiveMaxAffected } from "../syntax/prefer.ts";
import { isWholeRow } from "../syntax/select.ts";
import { buildNodes } from "./query-levels.ts";
import { chooseMedia, buildHeadEnvelope } from "./media.ts";
import type { PayloadShape, PlanInput } from "./planning.ts";
import { applyPreferences } from "./preferences.ts";
import { resolveRead, resolveWhere } from "./resolve-select.ts";

export type WriteMethod = "POST" | "PATCH" | "PUT" | "DELETE";

/** A planned write, cached and shared by equal requests. */
export interface PlannedWrite extends PlannedRequest {
  readonly plan: Insert | Update | Delete;
  /** Values by index. The payload, if there is one, is at index 0. */
  readonly values: readonly BoundValue[];
  /** True if the response contains the rows. */
  readonly hasBody: boolean;
  /** True if inserted rows are counted. For POST and PUT, the count shows how conflicts were resolved. */
  readonly countsInserted: boolean;
  /** The largest number of rows that the write may affect. */
  readonly maxAffected: number | undefined;
}

/**
 * Plans a write. DELETE has no `payload`. Checks are made in the order of R-PIPE-1 steps 10 and 10a.
 * @throws RelApiError
 */
export const planWrite = (planInput: PlanInput): PlannedWrite => {
  const { relation, payload } = planInput;
  const method = planInput.method as WriteMethod; // only handlers of these methods plan writes
  const values: BoundValue[] = payload === undefined ? [] : [null];
  const returningRead = planReturning(planInput, relation, values);
  const writePlan = addReturning(planMethod(planInput, relation, method, payload, values), returningRead.read);
  checkPreferences(planInput.preferences);
  const media = chooseMedia(planInput, { relation, isWholeRow: returningRead.isWholeRow });
  const { plan, appliedPreferences } = applyPreferences(planInput, writePlan);
  const isMerge =
    plan.kind === "insert" && plan.onConflict !== undefined && planInput.preferences.resolution === "merge-duplicates";
  const countsInserted = isMerge || (method === "PUT" && returningRead.read !== undefined);
  const key = method === "POST" && planInput.preferences.return === "headers-only" ? relation.primaryKey : [];
  return {
    plan,
    envelope: {
      ...(returningRead.read === undefined ? buildHeadEnvelope(media) : media.envelope),
      location: key.length === 0 ? undefined : key,
      countInserted: countsInserted ? true : undefined,
    },
    values,
    media,
    hasBody: returningRead.read !== undefined,
    countsInserted,
    maxAffected:
      method === "PATCH" || method === "DELETE" ? findEffectiveMaxAffected(planInput.preferences) : undefined,
    appliedPreferences: { ...appliedPreferences, ...findAppliedPreferences(planInput, method, plan) },
    legacyNames: returningRead.legacyNames,
  };
};

/** Returns the preferences that the plan honours. @rule R-PRF-3 R-UPS-3 R-PUT-4 */
const findAppliedPreferences = (
  { preferences }: PlanInput,
  method: WriteMethod,
  plan: PlannedWrite["plan"],
): AppliedPreferences => ({
  return: true,
  resolution: method === "POST" && plan.kind === "insert" && plan.onConflict !== undefined,
  missing: method === "POST" || method === "PATCH",
  "max-affected": (method === "PATCH" || method === "DELETE") && findEffectiveMaxAffected(preferences) !== undefined,
});

interface ReturnedRows {
  readonly read: Read | undefined;
  readonly isWholeRow: boolean;
  readonly legacyNames: ResolvedRead["legacyNames"];
}

/**
 * Plans the returned rows. Without a representation, `select` only names the embeds that paths may use. @rule R-WRT-1
 * R-WRT-3 R-SEL-9 R-DEL-1
 */
const planReturning = (planInput: PlanInput, relation: Relation, values: BoundValue[]): ReturnedRows => {
  const { rest, model, schema, query } = planInput;
  if (planInput.preferences.return !== "representation") {
    const { legacyNames } = buildNodes(query, { hasRootFilters: false, hasRanges: false }, rest.context.options);
    return { read: undefined, isWholeRow: isWholeRow(query.select), legacyNames };
  }
  const from = { written: { schema: relation.schema, name: relation.name } };
  return resolveRead({
    rest,
    model,
    schema,
    query,
    from,
    relation,
    name: relation.name,
    hasRootFilters: false,
    window: undefined,
    values,
  });
};

const addReturning = (plan: PlannedWrite["plan"], returning: Read | undefined): PlannedWrite["plan"] =>
  returning === undefined ? plan : { ...plan, returning };

const planMethod = (
  planInput: PlanInput,
  relation: Relation,
  method: WriteMethod,
  payload: PayloadShape | undefined,
  values: BoundValue[],
): PlannedWrite["plan"] => {
  const name = { schema: relation.schema, name: relation.name };
  if (payload === undefined) return { kind: "delete", from: name, where: resolveWhere(planInput, relation, values) };
  if (method === "PUT") return planPut(planInput, relation, payload, values);
  const rows = planRows(planInput, relation, payload);
  if (method === "POST")
    return { kind: "insert", into: name, rows, onConflict: planConflict(planInput, relation, rows.columns) };
  return { kind: "update", relation: name, where: resolveWhere(planInput, relation, values), payload: rows };
};

type PayloadRows = Extract<WriteRows, { readonly columns: readonly PayloadColumn[] }>;

/** Plans the rows of the payload. @throws RelApiError `column-not-found` @rule R-BODY-4 R-BODY-5 R-INS-1 R-INS-4 */
const planRows = ({ model, query, preferences }: PlanInput, relation: Relation, payload: PayloadShape): PayloadRows => {
  const names = payload.isUninspected ? [...new Set(query.columns)] : payload.keys;
  return {
    ...buildPayloadRows(model, relation, payload, names),
    missing: payload.isUninspected && preferences.missing === "default" ? "computed-default" : "null",
  };
};

const isJson = (model: Model, column: Column | undefined): boolean => {
  const type = column && findBaseType(model, column.type);
  return type?.schema === "pg_catalog" && (type.name === "json" || type.name === "jsonb");
};

const buildPayloadRows = (
  model: Model,
  relation: Relation,
  payload: PayloadShape,
  names: readonly string[],
): PayloadRows => {
  for (const name of names) if (findColumn(relation, name) === undefined) throw columnNotFound(name, relation);
  const columns = names.map((name) =>
    payload.isText === true && isJson(model, findColumn(relation, name)) ? { name, isText: true as const } : { name },
  );
  return { payload: { param: 0 }, shape: payload.shape, columns, missing: "null" };
};

/** Plans the resolution of conflicts, if the request asks for one. @rule R-UPS-1 R-UPS-2 R-UPS-3 */
const planConflict = (
  { query, preferences }: PlanInput,
  relation: Relation,
  columns: readonly PayloadColumn[],
): OnConflict | undefined => {
  const target = query.onConflict ?? relation.primaryKey;
  if (preferences.resolution === undefined || target.length === 0) return undefined;
  return {
    target: { columns: target },
    update: preferences.resolution === "merge-duplicates" ? columns.map((column) => column.name) : [],
  };
};

/** Plans a PUT. @throws RelApiError `put-filters-invalid`, `column-not-found`, 42703 @rule R-PUT-1 R-PUT-3 R-PUT-4 */
const planPut = (
  { model, query }: PlanInput,
  relation: Relation,
  payload: PayloadShape,
  values: BoundValue[],
): Insert => {
  const key = relation.primaryKey;
  const columnNames = new Set<string>();
  const keyValues = query.filters.map(({ path, part }) => {
    const isPlain =
      path.length === 0 &&
      part.field.path.length === 0 &&
      part.operator === "eq" &&
      !part.isNegated &&
      part.quantifier === undefined;
    if (!isPlain || !key.includes(part.field.name)) throw putFiltersInvalid();
    columnNames.add(part.field.name);
    return { column: part.field.name, value: { param: values.push(part.value ?? "") - 1 } };
  });
  if (key.length === 0 || columnNames.size !== key.length || query.logic.length > 0) throw putFiltersInvalid();
  const rows = buildPayloadRows(model, relation, payload, payload.keys);
  for (const column of key) if (!payload.keys.includes(column)) throw putKeyMissing(column);
  return {
    kind: "insert",
    into: { schema: relation.schema, name: relation.name },
    rows,
    onlyKeys: keyValues,
    onConflict: { target: { columns: key }, update: payload.keys },
  };
};
