/** Builds an example query from the tables that the role may see: `{ track(limit: 3) { track_id name album { title } }
 *  }`. Builds the documents of the live demo from them too. */
import {
  getNamedType,
  isEnumType,
  isInputObjectType,
  isObjectType,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLObjectType,
} from "graphql";
import { buildNameKey, type Column, type Model, type Relation } from "../../core/index.ts";
import { chooseExampleColumns, chooseLabelColumn, findEditableColumn, sortForExamples } from "../shared/examples.ts";
import { getFieldPart } from "./plan-parts.ts";
import type { GqlLiveExample } from "./operations.ts";
import type { GqlArgumentName, GqlRootKind } from "./part-kinds.ts";
import type { RoleSchema } from "./types/role-schema.ts";

type Field = GraphQLField<unknown, unknown>;

const LIMIT = 3;

/** A root field of a table, and the namespace that contains it. */
interface Root {
  readonly field: Field;
  readonly relation: Relation;
  readonly namespace?: string;
}

const findRowType = (field: Field): GraphQLObjectType | undefined => {
  const type = getNamedType(field.type);
  return isObjectType(type) ? type : undefined;
};

const listRoots = (type: GraphQLObjectType, kind: GqlRootKind, namespace?: string): readonly Root[] =>
  Object.values(type.getFields()).flatMap((field): readonly Root[] => {
    const part = getFieldPart(field);
    if (part?.kind === kind && "relation" in part)
      return [{ field, relation: part.relation, ...(namespace === undefined ? {} : { namespace }) }];
    const inner = part?.kind === "namespace" && namespace === undefined ? findRowType(field) : undefined;
    return inner === undefined ? [] : listRoots(inner, kind, field.name);
  });

/** Returns the root fields of the kind by the key of their relation. */
const indexRoots = (type: GraphQLObjectType | undefined, kind: GqlRootKind): ReadonlyMap<string, Root> =>
  new Map(type === undefined ? [] : listRoots(type, kind).map((root) => [buildNameKey(root.relation), root]));

/** Returns the root fields in the order in which examples prefer their relations. */
const sortRoots = (model: Model, roots: ReadonlyMap<string, Root>): readonly Root[] => {
  const relations = [...roots.values()].map(({ relation }) => relation);
  return sortForExamples(model, relations).map((relation) => roots.get(buildNameKey(relation)) as Root); // each has a root
};

/** Returns the fields without arguments that are columns, by column, so that all surfaces choose the same columns. */
const indexColumnFields = (type: GraphQLObjectType): ReadonlyMap<Column, Field> => {
  const fieldsByColumn = new Map<Column, Field>();
  for (const field of Object.values(type.getFields())) {
    const part = getFieldPart(field);
    if (part?.kind === "column") fieldsByColumn.set(part.column, field);
  }
  return new Map([...fieldsByColumn].sort(([a], [b]) => a.position - b.position));
};

const findArgument = (field: Field, name: GqlArgumentName): GraphQLArgument | undefined =>
  field.args.find((argument) => {
    const part = getFieldPart(argument);
    return part?.kind === "argument" && part.name === name;
  });

const formatLimit = (field: Field): string => {
  const limit = findArgument(field, "limit");
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
  const relatedFields = Object.values(type.getFields()).flatMap((field): readonly RelatedField[] => {
    const part = getFieldPart(field);
    if (part?.kind !== "relationship" || part.target === relation || part.relationship.routine !== undefined) return [];
    const row = findRowType(field);
    const columns = row === undefined ? new Map<Column, Field>() : indexColumnFields(row);
    const label = chooseLabelColumn(model, [...columns.keys()]);
    const labelField = label === undefined ? undefined : columns.get(label);
    return labelField === undefined ? [] : [{ field, isToOne: part.relationship.isToOne, label: labelField.name }];
  });
  return relatedFields.find(({ isToOne }) => isToOne) ?? relatedFields[0];
};

const indent = (lines: readonly string[]): readonly string[] => lines.map((line) => `  ${line}`);

const formatBlock = (head: string, lines: readonly string[]): readonly string[] => [`${head} {`, ...indent(lines), "}"];

/** Formats an operation with one root field. */
const formatOperation = (head: string, { namespace }: Root, field: readonly string[]): string =>
  formatBlock(head, namespace === undefined ? field : formatBlock(namespace, field)).join("\n");

const NAMELESS = formatBlock("query", ["__typename"]).join("\n");

/** Builds the query. Returns undefined if the role may not list the rows of any table. A role without introspection
 *  does not see any name of the schema. @rule G-HTTP-16 */
export const buildExampleQuery = (schema: RoleSchema): string | undefined => {
  const { model, isIntrospectionClosed, metaFields } = schema;
  if (isIntrospectionClosed || metaFields.size === 0) return NAMELESS;
  for (const root of sortRoots(model, indexRoots(schema.query, "list"))) {
    const { relation } = root;
    const type = findRowType(root.field);
    const columns = type === undefined ? new Map<Column, Field>() : indexColumnFields(type);
    if (type === undefined || columns.size === 0) continue;
    // The column is a key.
    const names = chooseExampleColumns(model, [...columns.keys()]).map((column) => (columns.get(column) as Field).name);
    const relatedField = findRelatedField(schema, relation, type);
    const list = formatBlock(formatLimit(root.field), [
      ...names,
      ...(relatedField === undefined
        ? []
        : formatBlock(relatedField.isToOne ? relatedField.field.name : formatLimit(relatedField.field), [
            relatedField.label,
          ])),
    ]);
    return formatOperation("query", root, list);
  }
  return undefined;
};

const LIVE_ROWS = 5;

/** Returns the column's field of the input object that the argument takes. */
const findInputField = (argument: GraphQLArgument | undefined, column: Column): GraphQLInputField | undefined => {
  const type = argument && getNamedType(argument.type);
  if (!isInputObjectType(type)) return undefined;
  return Object.values(type.getFields()).find((field) => {
    const part = getFieldPart(field);
    return (part?.kind === "column" || part?.kind === "update-column") && part.column === column;
  });
};

/** Formats the subscription to the first rows by their key. */
const formatSubscription = (root: Root, key: Column, names: readonly string[]): string | undefined => {
  const limit = findArgument(root.field, "limit");
  const order = findArgument(root.field, "order_by");
  const orderKey = findInputField(order, key);
  const directions = orderKey && getNamedType(orderKey.type);
  if (limit === undefined || order === undefined || orderKey === undefined || !isEnumType(directions)) return undefined;
  const ascending = directions.getValues().find((value) => {
    const part = getFieldPart(value);
    return part?.kind === "direction" && part.direction === "asc";
  });
  if (ascending === undefined) return undefined;
  const head = `${root.field.name}(${limit.name}: ${LIVE_ROWS}, ${order.name}: { ${orderKey.name}: ${ascending.name} })`;
  return formatOperation("subscription", root, formatBlock(head, names));
};

/** Formats the mutation that sets the column in one row. Undefined if the field cannot set it. */
const formatMutation = (root: Root, key: Column, column: Column, keyName: string): string | undefined => {
  const keys = findArgument(root.field, "pk_columns");
  const keyField = findInputField(keys, key);
  const set = root.field.args.find((argument) => {
    const part = getFieldPart(argument);
    return part?.kind === "update-operator" && part.operator.name === "set";
  });
  const setField = findInputField(set, column);
  if (keys === undefined || keyField === undefined || set === undefined || setField === undefined) return undefined;
  const change = formatBlock(
    `${root.field.name}(${keys.name}: { ${keyField.name}: $key }, ${set.name}: { ${setField.name}: $text })`,
    [keyName],
  );
  return formatOperation(`mutation ($key: ${String(keyField.type)}, $text: ${String(setField.type)})`, root, change);
};

/** Builds the documents of the live demo. The mutation has the names of `getAdminSchema` if the role may change no
 *  column of text. @rule X-PAGE-8 */
export const buildLiveExample = (schema: RoleSchema, getAdminSchema: () => RoleSchema): GqlLiveExample | undefined => {
  const { model, isIntrospectionClosed, metaFields, subscription, mutation } = schema;
  if (isIntrospectionClosed || metaFields.size === 0) return undefined;
  const roots = sortRoots(model, indexRoots(subscription, "list"));
  const findExample = (updates: ReadonlyMap<string, Root>, mayUpdate: boolean): GqlLiveExample | undefined => {
    for (const root of roots) {
      const { relation } = root;
      const update = updates.get(buildNameKey(relation));
      const type = findRowType(root.field);
      if (update === undefined || type === undefined) continue;
      const fields = indexColumnFields(type);
      const editableColumn = findEditableColumn(model, relation, [...fields.keys()]);
      if (editableColumn === undefined) continue;
      const [key, column] = [editableColumn.key, editableColumn.column].map(
        (columnName) => (fields.get(columnName) as Field).name,
      ) as [string, string]; // both are keys of `fields`
      const subscriptionText = formatSubscription(root, editableColumn.key, [key, column]);
      const mutationText = formatMutation(update, editableColumn.key, editableColumn.column, key);
      if (subscriptionText !== undefined && mutationText !== undefined)
        return { subscription: subscriptionText, mutation: mutationText, key, column, mayUpdate };
    }
    return undefined;
  };
  if (roots.length === 0) return undefined;
  return (
    findExample(indexRoots(mutation, "update-by-pk"), true) ??
    findExample(indexRoots(getAdminSchema().mutation, "update-by-pk"), false)
  );
};
