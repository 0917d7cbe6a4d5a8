/** Declares a field of a selection with all its occurrences. */
import type { FieldNode, GraphQLField, SelectionSetNode } from "graphql";
import type { GqlPart } from "../parts.ts";

export interface SelectedField {
  /** The response name of the field. */
  readonly as: string;
  readonly name: string;
  readonly node: FieldNode;
  readonly field: GraphQLField<unknown, unknown>;
  readonly part: GqlPart | undefined;
  readonly path: string;
  /** The selection sets of all occurrences of the field. */
  readonly selections: readonly SelectionSetNode[];
}
