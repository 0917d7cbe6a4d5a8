/** Finds the nodes of a plan that read rows of another relation. */
import { findRelationship, type QualifiedName, type Relation } from "../model/model.ts";
import type { Expression, Predicate } from "./plan.ts";

/** Predicates and expressions that read rows of another relation. */
export type Lookup =
  | Extract<Predicate, { readonly kind: "related" | "computed-rows" | "exists" }>
  | Extract<Expression, { readonly kind: "related" | "related-aggregate" | "computed-aggregate" }>;

const LOOKUPS: readonly string[] = [
  "related",
  "computed-rows",
  "exists",
  "related-aggregate",
  "computed-aggregate",
] satisfies Lookup["kind"][];

export const isLookup = <Node extends Predicate | Expression>(node: Node): node is Node & Lookup =>
  LOOKUPS.includes(node.kind);

/** Returns the relation that a lookup reads, and its function, if any. */
export const resolveLookup = (
  node: Lookup,
  relation: Relation | undefined,
): { readonly target?: QualifiedName; readonly routine?: QualifiedName } => {
  if (node.kind === "exists") return { target: node.from };
  return "relationship" in node ? ((relation && findRelationship(relation, node.relationship)) ?? {}) : node;
};
