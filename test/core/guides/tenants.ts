import {
  findColumn,
  buildColumnComparison,
  definePlugin,
  mapPlan,
  restrictRows,
  type Relation,
  type ValueRef,
} from "../../../core/index.ts";

const TENANT: ValueRef = { session: "x-session-tenant-id" };
const OWN_ROWS = buildColumnComparison("tenant_id", "eq", { operand: TENANT });

const isShared = (relation: Relation | undefined): boolean =>
  relation === undefined || findColumn(relation, "tenant_id") === undefined;

/** Rows of relations with a `tenant_id` belong to the tenant of the caller's token, on both surfaces. */
export const tenants = definePlugin({
  name: "tenants",
  apply: (hooks) => {
    hooks.transformPlan.tap("tenants", (plan, { model, session }) => {
      if (session.isAdmin) return plan;
      const restrictedPlan = restrictRows(plan, model, (relation) => (isShared(relation) ? undefined : OWN_ROWS));
      return mapPlan(restrictedPlan, model, {
        insert: (insert, { relation }) =>
          isShared(relation)
            ? insert
            : { ...insert, set: [...(insert.set ?? []), { column: "tenant_id", value: TENANT }] },
        update: (update, { relation }) =>
          isShared(relation)
            ? update
            : {
                ...update,
                check: update.check === undefined ? OWN_ROWS : { kind: "and", predicates: [OWN_ROWS, update.check] },
              },
      });
    });
  },
});
