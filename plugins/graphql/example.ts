/** Builds an example query from the tables that the role may see: `{ track(limit: 3) { track_id name album { title } }
 *  }`. */
import { getNamedType, isObjectType, type GraphQLField, type GraphQLObjectType } from "graphql";
import { nameKey, type Column, type Relation } from "../../core/index.ts";
import { chooseExampleColumns, chooseLabelColumn, sortForExamples } from "../shared/examples.ts";
import { getFieldPart } from "./parts.ts";
import type { RoleSchema } from "./role-schema.ts";

type Field = GraphQLField<unknown, unknown>;

const LIMIT = 3;

/** A root field that lists the rows of a table, and the namespace that contains it. */
interface Root {
  readonly field: Field;
  readonly relation: Relation;
  readonly namespace?: string;
}

const findRowType = (field: Field): GraphQLObjectType | undefined => {
  const type = getNamedType(field.type);
  return isObjectType(type) ? type : undefined;
};

const listRoots = (type: GraphQLObjectType, namespace?: string): readonly Root[] =>
  Object.values(type.getFields()).flatMap((field): readonly Root[] => {
    const part = getFieldPart(field);
    if (part?.kind === "list")
      return [{ field, relation: part.relation, ...(namespace === undefined ? {} : { namespace }) }];
    const inner = part?.kind === "namespace" && namespace === undefined ? findRowType(field) : undefined;
    return inner === undefined ? [] : listRoots(inner, field.name);
  });

/** Returns the fields without arguments that are columns, by column, so that all surfaces choose the same columns. */
const indexColumnFields = (type: GraphQLObjectType): ReadonlyMap<Column, Field> => {
  const found = new Map<Column, Field>();
  for (const field of Object.values(type.getFields())) {
    const part = getFieldPart(field);
    if (part?.kind === "column") found.set(part.column, field);
  }
  return new Map([...found].sort(([a], [b]) => a.position - b.position));
};

const formatLimit = (field: Field): string => {
  const limit = field.args.find((argument) => {
    const part = getFieldPart(argument);
    return part?.kind === "argument" && part.name === "limit";
  });
  return limit === undefined ? field.name : `${field.name}(${limit.name}: ${LIMIT})`;
};

interface RelatedField {
  readonly field: Field;
  readonly isToOne: boolean;
  readonly label: string;
}

const findRelatedField = (
  { model }: RoleSchema,
  relation: Relation,
  type: GraphQLObjectType,
): RelatedField | undefined => {
  const found = Object.values(type.getFields()).flatMap((field): readonly RelatedField[] => {
    const part = getFieldPart(field);
    if (part?.kind !== "relationship" || part.target === relation || part.relationship.routine !== undefined) return [];
    const row = findRowType(field);
    const columns = row === undefined ? new Map<Column, Field>() : indexColumnFields(row);
    const label = chooseLabelColumn(model, [...columns.keys()]);
    const shown = label === undefined ? undefined : columns.get(label);
    return shown === undefined ? [] : [{ field, isToOne: part.relationship.isToOne, label: shown.name }];
  });
  return found.find(({ isToOne }) => isToOne) ?? found[0];
};

const indent = (lines: readonly string[]): readonly string[] => lines.map((line) => `  ${line}`);

const formatBlock = (head: string, lines: readonly string[]): readonly string[] => [`${head} {`, ...indent(lines), "}"];

const NAMELESS = formatBlock("query", ["__typename"]).join("\n");

/** Builds the query. Returns undefined if the role may not list the rows of any table. A role without introspection
 *  does not see any name of the schema. @rule G-HTTP-16 */
export const buildExampleQuery = (schema: RoleSchema): string | undefined => {
  const { model, isIntrospectionClosed, metaFields } = schema;
  if (isIntrospectionClosed || metaFields.size === 0) return NAMELESS;
  const roots = new Map(listRoots(schema.query).map((root) => [nameKey(root.relation), root]));
  const order = sortForExamples(
    model,
    [...roots.values()].map(({ relation }) => relation),
  );
  for (const relation of order) {
    const root = roots.get(nameKey(relation)) as Root; // the relation is a key of `roots`
    const type = findRowType(root.field);
    const columns = type === undefined ? new Map<Column, Field>() : indexColumnFields(type);
    if (type === undefined || columns.size === 0) continue;
    const names = chooseExampleColumns(model, [...columns.keys()]).map((column) => (columns.get(column) as Field).name); // the column is a key
    const related = findRelatedField(schema, relation, type);
    const list = formatBlock(formatLimit(root.field), [
      ...names,
      ...(related === undefined
        ? []
        : formatBlock(related.isToOne ? related.field.name : formatLimit(related.field), [related.label])),
    ]);
    return formatBlock("query", root.namespace === undefined ? list : formatBlock(root.namespace, list)).join("\n");
  }
  return undefined;
};
