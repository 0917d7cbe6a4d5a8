/** Describes the part of the database that the caller's role may see, for tools and resources. */
import {
  findRelation,
  findRoutines,
  buildNameKey,
  getVisibility,
  type Column,
  type Model,
  type QualifiedName,
  type Relation,
  type Relationship,
  type Routine,
  type Session,
  type TableOperation,
  type Visibility,
} from "../../../core/index.ts";
import { isOfExtension } from "./extensions.ts";

/** Returns the size of a value in a response, which contains it twice: as JSON text inside JSON, and as structured
 *  content. */
const estimateBytes = (value: object): number => {
  const json = JSON.stringify(value);
  return Buffer.byteLength(json) + Buffer.byteLength(JSON.stringify(json));
};

/** Tables and functions by the names that tools accept. */
export interface VisibleSchema {
  readonly model: Model;
  readonly visibility: Visibility;
  readonly tables: ReadonlyMap<string, Relation>;
  readonly functions: ReadonlyMap<string, readonly Routine[]>;
}

/** Returns the visibility of the REST surface, which runs the requests of the tools. */
const findRestVisibility = (model: Model, session: Session): Visibility =>
  (session.databaseRole === undefined ? undefined : model.loginRoles?.get("rest")?.get(session.role)) ??
  getVisibility(model, session, "rest");

const isReadable = (relation: Relation, { mayRead }: Visibility): boolean =>
  relation.columns.some((column) => mayRead(relation, column));

const OPERATIONS: readonly TableOperation[] = ["select", "insert", "update", "delete"];

/** Returns the operations that both the role and the table allow. */
export const listOperations = (relation: Relation, visibility: Visibility): readonly TableOperation[] =>
  OPERATIONS.filter(
    (operation) =>
      visibility.mayPerform(relation, operation) &&
      (operation === "select" ? isReadable(relation, visibility) : relation.writable[operation]),
  );

const encodeParameterNames = ({ parameters }: Routine): string =>
  JSON.stringify(parameters.map(({ name }) => name).toSorted());

/** Returns whether named arguments can choose the overload, since tool arguments always have names. */
const isCalledByNames = (routine: Routine, overloads: readonly Routine[]): boolean =>
  routine.parameters.every(({ name }) => name !== undefined && name !== "") &&
  overloads.every(
    (overload) => overload === routine || encodeParameterNames(overload) !== encodeParameterNames(routine),
  );

/** Returns the name without its schema if that is the first exposed one. */
const formatName = (model: Model, { schema, name }: QualifiedName): string =>
  schema === model.schemas[0] ? name : `${schema}.${name}`;

/** Builds the part of the model that the caller may see. */
export const buildVisibleSchema = (model: Model, session: Session): VisibleSchema => {
  const visibility = findRestVisibility(model, session);
  const isExposed = ({ schema }: QualifiedName): boolean => model.schemas.includes(schema);
  const tables = [...model.relations.values()]
    .filter(
      (relation) =>
        isExposed(relation) && !isOfExtension(model, relation) && listOperations(relation, visibility).length > 0,
    )
    .map((relation) => [formatName(model, relation), relation] as const);
  const isTrigger = ({ returns }: Routine): boolean =>
    ["trigger", "event_trigger"].includes(model.types.get(returns.type)?.name ?? "");
  const functions = [...model.routines.values()].flatMap((overloads) => {
    const callableRoutines = overloads.filter(
      (routine) => isExposed(routine) && !isTrigger(routine) && visibility.mayCall(routine),
    );
    const callable = callableRoutines.filter(
      (routine) => !isOfExtension(model, routine) && isCalledByNames(routine, callableRoutines),
    );
    const [first] = callable;
    return first === undefined ? [] : [[formatName(model, first), callable] as const];
  });
  const sortByName = <Value>(entries: readonly (readonly [string, Value])[]): ReadonlyMap<string, Value> =>
    new Map([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
  return { model, visibility, tables: sortByName(tables), functions: sortByName(functions) };
};

/** Returns whether a call may write: one of the overloads is volatile. */
export const mayWrite = (overloads: readonly Routine[]): boolean =>
  overloads.some(({ volatility }) => volatility === "volatile");

/** Returns a comment from the database, marked as untrusted so that it is not followed as an instruction. @rule
 *  P-MCP-6 */
const encodeComment = (text: string | undefined): object => (text === undefined ? {} : { untrusted_comment: text });

/** The number of characters to which lists cut comments. `describe_table` shows whole comments. */
const MAX_COMMENT = 200;

const encodeShortComment = (text: string | undefined): object =>
  encodeComment(text !== undefined && text.length > MAX_COMMENT ? `${text.slice(0, MAX_COMMENT)}…` : text);

/** A page of a list, with the offset of the next page if items remain. */
interface Page {
  readonly next_offset?: number;
}

/** Takes as many items from `offset` as the bytes allow, but at least one. `estimateCost` returns the bytes of an
 *  item. */
export const takePage = <Item>(
  items: readonly Item[],
  offset: number,
  bytes: number,
  estimateCost: (item: Item) => number,
): { readonly items: readonly Item[] } & Page => {
  let end = offset;
  for (let remainingBytes = bytes; end < items.length; end++) {
    remainingBytes -= estimateCost(items[end] as Item); // the loop condition has checked the index
    if (remainingBytes < 0 && end > offset) break;
  }
  return { items: items.slice(offset, end), ...(end < items.length ? { next_offset: end } : {}) };
};

/** Lists as many tables, and then functions, as fit into a response. @rule P-MCP-5 */
export const listVisible = (
  { model, visibility, tables, functions }: VisibleSchema,
  writes: boolean,
  offset: number,
  bytes: number,
): object => {
  const tableEntries = [...tables].flatMap(([name, relation]) => {
    const operations = listOperations(relation, visibility).filter((operation) => writes || operation === "select");
    const entry = { name, kind: relation.kind, operations, ...encodeShortComment(relation.comment) };
    return operations.length === 0 ? [] : [{ list: "tables" as const, entry }];
  });
  const functionEntries = [...functions]
    .filter(([, overloads]) => writes || !mayWrite(overloads))
    .flatMap(([name, overloads]) =>
      overloads.map((routine) => ({
        list: "functions" as const,
        entry: {
          name,
          arguments: routine.parameters.map((parameter) => ({
            name: parameter.name,
            type: parameter.sqlType,
            required: !parameter.hasDefault,
          })),
          returns: model.types.get(routine.returns.type)?.sqlName ?? "record",
          ...(routine.returns.isSet ? { returns_rows: true } : {}),
          ...(routine.volatility === "volatile" ? { may_write: true } : {}),
          ...encodeShortComment(routine.comment),
        },
      })),
    );
  const { items, ...page } = takePage([...tableEntries, ...functionEntries], offset, bytes, ({ entry }) =>
    estimateBytes(entry),
  );
  const filterEntries = (list: "tables" | "functions"): readonly object[] =>
    items.filter((item) => item.list === list).map(({ entry }) => entry);
  return {
    tables: filterEntries("tables"),
    functions: filterEntries("functions"),
    ...("next_offset" in page ? { has_more: true, ...page } : {}),
  };
};

/** Returns the columns that responses may contain. */
export const listReadableColumns = ({ visibility }: VisibleSchema, relation: Relation): readonly string[] =>
  relation.columns.filter((column) => visibility.mayRead(relation, column)).map(({ name }) => name);

const encodeLabels = (model: Model, column: Column): object => {
  const { labels } = model.types.get(column.type) ?? {};
  return labels === undefined ? {} : { values: labels };
};

/** Returns the embed of the relationship as `select` names it, with a hint if the name is ambiguous. */
const nameEmbed = (relation: Relation, { target, constraint, junction, routine }: Relationship): string => {
  if (routine !== undefined) return routine.name;
  const relationshipsToTarget = relation.relationships.filter(
    (relationship) => buildNameKey(relationship.target) === buildNameKey(target) && relationship.routine === undefined,
  );
  const hint = junction?.relation.name ?? constraint;
  return relationshipsToTarget.length < 2 || hint === "" ? target.name : `${target.name}!${hint}`;
};

/** Describes the columns that the role may name, and the related tables that it may read. */
export const describeTable = ({ model, visibility }: VisibleSchema, relation: Relation): object => {
  const columns = relation.columns.filter((column) => visibility.mayNameColumn(relation, column));
  const isKnown = (name: string): boolean => columns.some((column) => column.name === name);
  const isJunctionRead = ({ junction }: Relationship): boolean => {
    const junctionRelation = junction && findRelation(model, junction.relation);
    return (
      junction === undefined ||
      (junctionRelation !== undefined &&
        [...junction.source, ...junction.target].every(([, key]) =>
          junctionRelation.columns.some(
            (column) => column.name === key && visibility.mayRead(junctionRelation, column),
          ),
        ))
    );
  };
  const relatedTables = relation.relationships.flatMap((relationship) => {
    const target = findRelation(model, relationship.target);
    const isNamed =
      relationship.routine === undefined
        ? relationship.columns.every(([name]) => isKnown(name))
        : findRoutines(model, relationship.routine).some(visibility.mayCall);
    const isSeen =
      target !== undefined &&
      target.schema === relation.schema &&
      isReadable(target, visibility) &&
      isNamed &&
      isJunctionRead(relationship);
    return isSeen
      ? [{ embed: nameEmbed(relation, relationship), table: target.name, rows: relationship.isToOne ? "one" : "many" }]
      : [];
  });
  return {
    schema: relation.schema,
    name: relation.name,
    kind: relation.kind,
    operations: listOperations(relation, visibility),
    ...encodeComment(relation.comment),
    primary_key: relation.primaryKey.filter(isKnown),
    columns: columns.map((column) => ({
      name: column.name,
      type: column.sqlType,
      nullable: !column.notNull,
      ...(column.default === undefined && column.identity === undefined ? {} : { has_default: true }),
      ...(visibility.mayRead(relation, column) ? {} : { readable: false }),
      ...encodeLabels(model, column),
      ...encodeComment(column.comment),
    })),
    related: [...new Map(relatedTables.map((relationship) => [relationship.embed, relationship])).values()],
  };
};

/** Returns the text columns that a search covers. */
export const listTextColumns = ({ model, visibility }: VisibleSchema, relation: Relation): readonly Column[] =>
  relation.columns.filter(
    (column) => visibility.mayRead(relation, column) && model.types.get(column.type)?.category === "S",
  );
