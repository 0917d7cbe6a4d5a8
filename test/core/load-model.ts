/** Runs the introspect taps on the test database, as at a start. */
import {
  findColumn,
  createHooks,
  createEmptyModel,
  findRelation,
  resolveOptions,
  findRoutines,
  collectSettings,
  compileSql,
  type Column,
  type IntrospectContext,
  type Model,
  type Plugin,
  type Relation,
  type Relationship,
  type Routine,
} from "../../core/index.ts";
import { interceptHooks } from "../../core/kernel/intercept-hooks.ts";
import { catalogIntrospection, computedRelationships, relationships } from "../../plugins/database/index.ts";
import { testDatabase, type TestDatabase } from "../support/database.ts";

interface LoadSettings {
  readonly schemas?: readonly string[];
  readonly extraSearchPath?: readonly string[];
  /** The login role. */
  readonly loginRole?: string;
  /** The parts that an earlier plugin left in the model. */
  readonly parts?: Model["pluginFacts"];
}

interface LoadedModel {
  readonly model: Model;
  readonly warnings: readonly string[];
  readonly queryCount: number;
}

const PLUGINS: readonly Plugin[] = [catalogIntrospection, relationships, computedRelationships];

/** Loads the model as a new process does. */
export const load = (settings?: LoadSettings): Promise<LoadedModel> => createLoad()(settings);

/**
 * Loads as one process does, where later loads may use earlier results. Uses one read-only transaction with an empty
 * search path.
 */
const createLoad = (): ((settings?: LoadSettings) => Promise<LoadedModel>) => {
  const hooks = createHooks();
  interceptHooks(hooks);
  // These taps use nothing of the plugin context.
  for (const plugin of PLUGINS) plugin.apply?.(hooks, undefined as never);
  return (settings = {}) => loadWith(hooks, settings);
};

const loadWith = async (
  hooks: ReturnType<typeof createHooks>,
  { schemas = ["sea", "land"], extraSearchPath = ["public"], loginRole, parts = {} }: LoadSettings,
): Promise<LoadedModel> => {
  const client = await (await testDatabase()).connect();
  // The name is quoted.
  const superuser = (await client.query<{ name: string }>("select quote_ident(session_user) as name")).rows[0]!.name;
  const warnings: string[] = [];
  let queryCount = 0;
  // Concurrent queries run in turn, as in core.
  let last: Promise<unknown> = Promise.resolve();
  const context: IntrospectContext = {
    schemas,
    hiddenSchemas: [],
    extraSearchPath,
    options: resolveOptions({}, collectSettings({ plugins: PLUGINS })),
    warn: (message) => warnings.push(message),
    queryLater: () => Promise.resolve([]), // none of these plugins calls it
    query: <Row>(statement: Parameters<IntrospectContext["query"]>[0]) => {
      queryCount += 1;
      const { text, slots } = compileSql(statement);
      const values = slots.map((slot) => ("fixed" in slot ? slot.fixed : null));
      const rows = last.then(async () => (await client.query(text, values)).rows as readonly Row[]);
      last = rows.catch(() => undefined); // the caller gets the error
      return rows;
    },
  };
  try {
    await client.query(
      "begin isolation level repeatable read read only; set local search_path = ''; set local jit = off",
    );
    if (loginRole !== undefined) await client.query(`set session authorization ${loginRole}`);
    const model = await hooks.introspect.promise({ ...createEmptyModel(1, []), pluginFacts: parts }, context);
    return { model, warnings, queryCount };
  } finally {
    await client.query("rollback");
    // Sets the role by name, because the embedded server knows no session user to reset to.
    if (loginRole !== undefined) await client.query(`set session authorization ${superuser}`);
    await client.end();
  }
};

export const relationIn = (model: Model, name: string, schema = "sea"): Relation => {
  const relation = findRelation(model, { schema, name });
  if (relation === undefined) throw new Error(`no relation ${schema}.${name}`);
  return relation;
};

export const columnIn = (model: Model, relation: string, name: string, schema = "sea"): Column => {
  const column = findColumn(relationIn(model, relation, schema), name);
  if (column === undefined) throw new Error(`no column ${relation}.${name}`);
  return column;
};

export const routineIn = (model: Model, name: string, schema = "sea"): Routine => {
  const [routine] = findRoutines(model, { schema, name });
  if (routine === undefined) throw new Error(`no routine ${schema}.${name}`);
  return routine;
};

const describeWay = (way: Relationship): string => {
  const { junction, routine } = way;
  const columns = way.columns.map((pair) => pair.join("=")).join(",");
  const means =
    routine !== undefined
      ? `${routine.name}()`
      : junction !== undefined
        ? `${junction.relation.name}[${junction.source.map((pair) => pair.join("=")).join(",")}|${junction.target.map((pair) => pair.join("=")).join(",")}]`
        : columns;
  return `${way.cardinality} ${way.target.name} by ${means}`;
};

/** The relationships from one relation to another, or to any relation. */
export const ways = (model: Model, from: string, to?: string, schema = "sea"): readonly string[] =>
  relationIn(model, from, schema)
    .relationships.filter(({ target }) => to === undefined || target.name === to)
    .map(describeWay)
    .sort();

/** Creates schema `yard`, loads only this schema, and drops it. */
export const inSchema = async (
  setup: TestDatabase,
  script: string,
  settings: LoadSettings = {},
): Promise<LoadedModel> => {
  const drop = "drop schema if exists yard cascade";
  await setup.query(`${drop}; create schema yard; ${script}`);
  try {
    return await load({ schemas: ["yard"], ...settings });
  } finally {
    await setup.query(drop);
  }
};
