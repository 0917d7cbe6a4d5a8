/** `GET /artist?select=name,album(title)` with `Prefer: as-of=2024-05-01`, and `{ artist_as_of(at: "2024-05-01") { name } }`:
 *  rows as they were, from the tables of `public_history`. */
import { GraphQLList, GraphQLNonNull } from "graphql";
import { definePlugin, literal, sql, Stage, type ValueRef } from "../../../core/index.ts";
import type { GqlField, GqlFieldContext, GqlFields } from "../../graphql/api.ts";
import { AS_OF, asOfMarks, marked, notKept } from "./as-of.ts";
import { historyOf, withHistories } from "./histories.ts";

// 2024-05-01, 2024-05-01T12:00Z, 2024-05-01T12:00:00.5+02:00
const TIME = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d(?::?\d\d)?)?)?$/;

const SETTING = "relapi.as_of";
const OF_REQUEST: ValueRef = { constant: null, apply: "as-of-request" };

/** `artist_as_of(at: "2024-05-01", where: …, order_by: …)`. @rule P-HIS-6 */
const fieldsAsOf = (fields: GqlFields, { scope, build, model }: GqlFieldContext): GqlFields => {
  const time = build.valueType("timestamptz");
  if (scope !== "query_root" || time === undefined) return fields;
  const added: Record<string, GqlField> = {};
  for (const table of build.source.tables) {
    const { relation } = table;
    const row = historyOf(model, relation) && build.rights(table).select && build.rowType(table);
    if (row === undefined) continue;
    added[build.rootName(table.word, "as_of")] = {
      config: {
        type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(row))),
        args: { ...build.listArguments(table), at: { type: new GraphQLNonNull(build.valueInput(time)) } },
        description: `rows of the table "${relation.name}" as they were`,
      },
      toPlan: {
        kind: "custom",
        plan: (_, { argument, rows, list }) => {
          const from = { relation: { schema: relation.schema, name: relation.name } };
          const at = argument("at", "timestamptz") ?? { constant: null };
          return marked({ kind: "read", from, shape: "rows", output: rows(), ...list() }, at);
        },
      },
    };
  }
  return { ...fields, ...added };
};

/** Reads as of a time, on both surfaces. @rule P-HIS-1 … P-HIS-6 */
export const rowHistory = definePlugin({
  name: "row-history",
  requires: ["comparison-operators"],
  stage: Stage.late, // permissions of the table hold, and are added before
  functions: [
    { name: "as-of-request", compile: () => sql`pg_catalog.current_setting(${literal(SETTING)})::timestamptz` },
  ],
  preferences: [
    {
      name: AS_OF,
      values: (time) => TIME.test(time) && !Number.isNaN(Date.parse(time)),
      settings: (time) => [[SETTING, time]],
      plan: (plan, _time, { model }) => {
        if (plan.kind !== "read" || !("relation" in plan.from)) throw notKept("a write or a call");
        if (historyOf(model, plan.from.relation) === undefined) throw notKept(plan.from.relation.name);
        return marked(plan, OF_REQUEST);
      },
    },
  ],
  apply: (hooks) => {
    hooks.introspect.tapPromise("row-history", withHistories);
    hooks.transformPlan.tap({ name: "row-history", keepsRows: true }, (plan, { model }) => asOfMarks(plan, model));
    hooks.buildGqlField.tap("row-history", fieldsAsOf);
  },
});
