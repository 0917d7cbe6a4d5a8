/** `definitions` of the OpenAPI document: one object schema per relation. */
import {
  columnOf,
  relationOf,
  type Column,
  type Model,
  type QualifiedName,
  type Relation,
  type Visibility,
} from "../../../core/index.ts";
import { columnSchema, literalDefault } from "./types.ts";

type Part = Readonly<Record<string, unknown>>;

/** The column that a foreign key on just this column references, if it may be named; tables before views over them. */
const foreignKeyTarget = (
  model: Model,
  relation: Relation,
  column: string,
  sight: Visibility | undefined,
): { readonly target: QualifiedName; readonly column: string } | undefined => {
  const targets = relation.relationships.flatMap((relationship) => {
    const [pair] = relationship.columns;
    if (
      !relationship.isOwnKey ||
      relationship.columns.length !== 1 ||
      pair?.[0] !== column ||
      relationship.target.schema !== relation.schema
    )
      return [];
    const target = relationOf(model, relationship.target);
    const far = target && columnOf(target, pair[1]);
    if (target === undefined || far === undefined || sight?.knows(target, far) === false) return [];
    const { kind } = target;
    return [{ target: relationship.target, column: pair[1], isView: kind === "view" || kind === "materialized" }];
  });
  return targets.find((target) => !target.isView) ?? targets[0];
};

/** @rule R-OAS-5 */
const describeColumn = (
  model: Model,
  relation: Relation,
  column: Column,
  sight: Visibility | undefined,
): string | undefined => {
  const notes: string[] = [];
  if (relation.primaryKey.includes(column.name)) notes.push("This is a Primary Key.<pk/>");
  const key = foreignKeyTarget(model, relation, column.name, sight);
  if (key !== undefined)
    notes.push(
      `This is a Foreign Key to \`${key.target.name}.${key.column}\`.<fk table='${key.target.name}' column='${key.column}'/>`,
    );
  const note = notes.length === 0 ? undefined : ["Note:", ...notes].join("\n");
  return column.comment !== undefined && note !== undefined ? `${column.comment}\n\n${note}` : (column.comment ?? note);
};

const property = (model: Model, relation: Relation, column: Column, sight: Visibility | undefined): Part => {
  const schema = columnSchema(model, column);
  const fields = {
    ...schema,
    description: describeColumn(model, relation, column, sight),
    default: literalDefault(column.default, schema.type),
    maxLength: column.maxLength,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, field]) => field !== undefined));
};

/** @rule R-OAS-3 R-OAS-5 */
export const relationDefinition = (model: Model, relation: Relation, sight: Visibility | undefined): Part => {
  const required = relation.columns.filter((column) => column.notNull).map((column) => column.name);
  return {
    type: "object",
    ...(relation.comment === undefined ? {} : { description: relation.comment }),
    ...(required.length === 0 ? {} : { required }),
    properties: Object.fromEntries(
      relation.columns.map((column) => [column.name, property(model, relation, column, sight)]),
    ),
  };
};
