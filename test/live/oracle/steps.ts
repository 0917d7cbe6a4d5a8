/** The steps of a world as plain data, so that any subset can be run again. */
import type { Random } from "../../support/random.ts";
import { GRAPHQL_CALLERS, REST_CALLERS, type Caller } from "./callers.ts";
import { drawLike, drawQuery, type QueryShape } from "./queries.ts";
import { drawRows } from "./rows.ts";
import type { RightsChange } from "./rights.ts";
import { TRANSPORTS, type Transport } from "./subscribers.ts";
import {
  GRANT_ROLES,
  grantSql,
  METADATA_ROLES,
  OWNERS,
  policySql,
  revokeSql,
  SCHEMA,
  USERS,
  viewSql,
  type ClosedTables,
  type MetadataRole,
  type Policy,
  type TableShape,
  type World,
} from "./world.ts";

export type Step =
  /** A transaction on a separate connection, rolled back if it fails. */
  | {
      readonly do: "transaction";
      readonly lane: number;
      readonly sql: readonly string[];
      readonly end: "commit" | "rollback";
      readonly rights: readonly RightsChange[];
    }
  /** A change of the schema, after which the servers are notified. */
  | { readonly do: "schema"; readonly sql: string; readonly rights: readonly RightsChange[] }
  | { readonly do: "metadata"; readonly closedTables: ClosedTables; readonly rights: readonly RightsChange[] }
  | {
      readonly do: "subscribe";
      readonly number: number;
      readonly api: number;
      readonly transport: Transport;
      readonly caller: Caller;
      readonly socket: number;
      readonly query: QueryShape;
    }
  | { readonly do: "leave" | "reconnect" | "cut"; readonly number: number }
  | { readonly do: "lose feed" | "lose connections" }
  | { readonly do: "restart"; readonly api: number }
  | { readonly do: "pause"; readonly ms: number }
  /** Waits for all earlier steps, and checks the result of every subscriber. */
  | { readonly do: "settle" };

export type SubscribeStep = Extract<Step, { do: "subscribe" }>;

export interface Capacity {
  readonly lanes: number;
  readonly apis: number;
  /** True if the database is a server, whose connections may be terminated. */
  readonly isServer: boolean;
}

interface Steps {
  /** The initial subscribers. */
  first(): readonly Step[];
  /** Steps that run concurrently, and the settling after them. */
  round(): readonly Step[];
}

export const drawSteps = (random: Random, world: World, capacity: Capacity): Steps => {
  const statement = drawRows(random, world);
  const policies = new Map<string, Policy | undefined>(world.tables.map(({ name, policy }) => [name, policy]));
  const revokedGrants = new Set<string>();
  const detachedPartitions = new Set<string>();
  const members = new Set(["u1 u1", "u2 u2", "u2 pub", "u3 u1"]);
  let closedTables: ClosedTables = {};
  let subscriberCount = 0;
  let savepointCount = 0;
  const runningSubscribers = new Set<number>();

  const table = (): TableShape => random.pick(world.tables);

  const subscribeSteps: SubscribeStep[] = [];

  const subscribe = (): SubscribeStep => {
    const like = random.chance(0.45) && subscribeSteps.length > 0 ? random.pick(subscribeSteps) : undefined;
    if (like !== undefined) {
      const number = ++subscriberCount;
      runningSubscribers.add(number);
      const caller =
        random.chance(0.6) || like.caller.role === undefined
          ? like.caller
          : { ...like.caller, user: random.pick(USERS) };
      return { ...like, number, api: random.int(capacity.apis), caller, query: drawLike(random, like.query) };
    }
    const transport = random.pick(TRANSPORTS);
    const number = ++subscriberCount;
    runningSubscribers.add(number);
    const step: SubscribeStep = {
      do: "subscribe",
      number,
      api: random.int(capacity.apis),
      transport,
      caller: random.pick(transport === "rest" ? REST_CALLERS : GRAPHQL_CALLERS),
      socket: random.int(2),
      query: drawQuery(random, world, transport === "rest" ? "rest" : "graphql"),
    };
    subscribeSteps.push(step);
    return step;
  };

  const transaction = (): Step => {
    const sql: string[] = [];
    const rights: RightsChange[] = [];
    for (let count = 1 + random.int(4); count > 0; count--) {
      sql.push(statement());
      if (random.chance(0.1)) sql.push(`select pg_sleep(${(random.int(20) / 1000).toFixed(3)})`);
      if (random.chance(0.15)) {
        const point = `p${++savepointCount}`;
        sql.push(`savepoint ${point}`, statement(), random.chance(0.6) ? `rollback to ${point}` : `release ${point}`);
      }
    }
    const end = random.chance(0.15) ? "rollback" : "commit";
    return { do: "transaction", lane: random.int(capacity.lanes), sql, end, rights };
  };

  const member = (): Step => {
    const [user, owner] = [random.pick(USERS), random.pick(OWNERS)];
    const key = `${user} ${owner}`;
    const isMember = !members.has(key);
    if (isMember) members.add(key);
    else members.delete(key);
    return {
      do: "transaction",
      lane: 0,
      sql: [
        isMember
          ? `insert into ${SCHEMA}.member values ('${user}', '${owner}') on conflict do nothing`
          : `delete from ${SCHEMA}.member where user_id = '${user}' and owner = '${owner}'`,
      ],
      end: "commit",
      rights: [{ kind: "member", user, owner, isMember }],
    };
  };

  const policy = (): Step => {
    const { name } = table();
    const newPolicy = random.pick<Policy | undefined>(["own", "all", "member", undefined]);
    policies.set(name, newPolicy);
    return {
      do: "schema",
      sql:
        newPolicy === undefined
          ? `alter table ${SCHEMA}.${name} disable row level security`
          : `${policySql(name, newPolicy)}; alter table ${SCHEMA}.${name} enable row level security`,
      rights: [{ kind: "policy", table: name, policy: newPolicy }],
    };
  };

  const grant = (): Step => {
    const relation = random.chance(0.2) && world.views.length > 0 ? random.pick(world.views).name : table().name;
    const role = relation.startsWith("v") ? "music_reader" : random.pick(GRANT_ROLES);
    const key = `${relation} ${role}`;
    const isGranted = revokedGrants.delete(key);
    if (!isGranted) revokedGrants.add(key);
    return {
      do: "schema",
      sql: isGranted ? grantSql(relation, role) : revokeSql(relation, role),
      rights: [{ kind: "grant", relation, role, isGranted }],
    };
  };

  const partition = (): string | undefined => {
    const partitionedTables = world.tables.filter(({ key }) => key === "partitioned");
    if (partitionedTables.length === 0) return undefined;
    const { name } = random.pick(partitionedTables);
    const [part, values] = random.pick([
      ["low", "0, 1"],
      ["high", "2, 3"],
    ] as const);
    const key = `${name}_${part}`;
    if (detachedPartitions.delete(key))
      return `alter table ${SCHEMA}.${name} attach partition ${SCHEMA}.${key} for values in (${values})`;
    detachedPartitions.add(key);
    return `alter table ${SCHEMA}.${name} detach partition ${SCHEMA}.${key}`;
  };

  const alteration = (): string => {
    const shape = table();
    const name = `${SCHEMA}.${shape.name}`;
    const view = world.views.length > 0 ? random.pick(world.views) : undefined;
    switch (random.int(9)) {
      case 0:
        return `alter table ${name} add column extra int default 1`;
      case 1:
        return `alter table ${name} drop column extra`;
      case 2:
        return `alter table ${name} replica identity ${random.pick(["default", "full", "nothing"])}`;
      case 3:
        // The index is on a column other than the key.
        return `create unique index ${shape.name}_n on ${name} (n${shape.key === "partitioned" ? ", bucket" : ""}); alter table ${name} replica identity using index ${shape.name}_n`;
      case 4:
        return `alter table ${name} set ${random.pick(["unlogged", "logged"])}`;
      case 5:
        return `alter table ${name} alter column val type ${random.pick(["int", "numeric", "bigint"])}`;
      case 6:
        return view === undefined
          ? `analyze ${name}`
          : viewSql(view, random.pick(["", "bucket < 2", "val is not null"]));
      case 7:
        return shape.key === "composite" || shape.key === "identity"
          ? `alter table ${name} drop constraint if exists ${shape.name}_pkey`
          : `alter table ${name} ${random.pick(["no force", "force"])} row level security`;
      default:
        return `create index on ${name} (owner); drop index if exists ${SCHEMA}.${shape.name}_owner_idx`;
    }
  };

  const metadata = (): Step => {
    const role: MetadataRole = random.pick(METADATA_ROLES);
    const { name } = table();
    const before = closedTables[role] ?? [];
    const isOpen = before.includes(name);
    closedTables = {
      ...closedTables,
      [role]: isOpen ? before.filter((tableName) => tableName !== name) : [...before, name],
    };
    return { do: "metadata", closedTables, rights: [{ kind: "metadata", role, table: name, isOpen }] };
  };

  const schema = (): Step => {
    const kind = random.int(10);
    if (kind < 3) return policy();
    if (kind < 5) return grant();
    if (kind < 6) return metadata();
    const sql = kind < 8 ? partition() : undefined;
    return { do: "schema", sql: sql ?? alteration(), rights: [] };
  };

  const drawStep = (): Step => {
    const kind = random.int(100);
    const number = runningSubscribers.size === 0 ? undefined : random.pick([...runningSubscribers]);
    if (kind < 62) return transaction();
    if (kind < 66) return member();
    if (kind < 78) return schema();
    if (kind < 84 || number === undefined) return subscribe();
    if (kind < 87) {
      runningSubscribers.delete(number);
      return { do: "leave", number };
    }
    if (kind < 93) return { do: random.pick(["reconnect", "cut"]), number };
    if (kind < 95 || !capacity.isServer) return { do: "pause", ms: random.int(50) };
    if (kind < 97) return { do: "lose feed" };
    if (kind < 98) return { do: "lose connections" };
    return { do: "restart", api: random.int(capacity.apis) };
  };

  return {
    first: () => [...Array.from({ length: 14 + random.int(12) }, subscribe), { do: "settle" }],
    round: () => [...Array.from({ length: 3 + random.int(10) }, drawStep), { do: "settle" }],
  };
};
