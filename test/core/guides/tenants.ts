import {
  columnOf,
  definePlugin,
  mapPlan,
  relationOf,
  relationshipOf,
  type Model,
  type Predicate,
  type QualifiedName,
  type Relation,
  type ValueRef,
} from "../../../core/index.ts";

const TENANT: ValueRef = { session: "x-session-tenant-id" };
const OWN: Predicate = {
  kind: "compare",
  left: { kind: "column", name: "tenant_id" },
  operator: "eq",
  operand: TENANT,
};

const isShared = (relation: Relation | undefined): boolean =>
  relation === undefined || columnOf(relation, "tenant_id") === undefined;
const own = <Node extends { readonly where?: Predicate }>(
  node: Node,
  model: Model,
  name: QualifiedName | undefined,
): Node =>
  name === undefined || isShared(relationOf(model, name))
    ? node
    : { ...node, where: node.where === undefined ? OWN : { kind: "and", of: [OWN, node.where] } };

/** Rows of relations with a `tenant_id` belong to the tenant of the caller's token, on both surfaces. */
export const tenants = definePlugin({
  name: "tenants",
  apply: (hooks) => {
    hooks.transformPlan.tap("tenants", (plan, { model, session }) => {
      if (session.isAdmin) return plan;
      const along = (relation: Relation | undefined, id: string) => relation && relationshipOf(relation, id)?.target;
      return mapPlan(plan, model, {
        read: (read, { relation }) => own(read, model, relation),
        predicate: (predicate, { relation }) =>
          predicate.kind === "related" ? own(predicate, model, along(relation, predicate.relationship)) : predicate,
        expression: (expression, { relation }) =>
          expression.kind === "related" || expression.kind === "related-aggregate"
            ? own(expression, model, along(relation, expression.relationship))
            : expression,
        insert: (insert, { relation }) =>
          isShared(relation)
            ? insert
            : {
                ...insert,
                set: [...(insert.set ?? []), { column: "tenant_id", value: TENANT }],
                ...(insert.onConflict && { onConflict: own(insert.onConflict, model, relation) }),
              },
        update: (update) =>
          isShared(relationOf(model, update.relation))
            ? update
            : {
                ...own(update, model, update.relation),
                check: update.check === undefined ? OWN : { kind: "and", of: [OWN, update.check] },
              },
        delete: (remove) => own(remove, model, remove.from),
      });
    });
  },
});
