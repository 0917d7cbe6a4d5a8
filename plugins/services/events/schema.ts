/** The SQL of the objects that events need: tables, the trigger function, and the triggers of tables. */
import { createHash } from "node:crypto";
import { arrayLiteral, empty, ident, join, literal, sql, toStatement, type Sql } from "../../../core/index.ts";
import { OPERATIONS, type EventTrigger, type Operation } from "./event-trigger.ts";

/** The schema of events, and the schema in which graphile-worker keeps its jobs. */
export const SCHEMA = "relapi";
export const QUEUE_SCHEMA = "relapi_queue";

/** The functions run as their owner, because a caller has no rights on events and actions. Their search path has no
 *  schema in which callers can create objects. A job has the id of its event as key, so an event has one waiting job. */
export const EVENT_SCHEMA: Sql = sql`
create schema if not exists relapi;
create table if not exists relapi.event (
  id uuid primary key default pg_catalog.gen_random_uuid(),
  trigger_name text not null,
  schema_name text not null,
  table_name text not null,
  operation text not null,
  old_row json,
  new_row json,
  session text,
  created_at timestamptz not null default pg_catalog.clock_timestamp(),
  status text not null default 'pending' check (status in ('pending', 'delivered', 'dead')),
  tries int not null default 0,
  next_try_at timestamptz not null default pg_catalog.clock_timestamp(),
  locked_until timestamptz,
  ended_at timestamptz
);
create index if not exists event_pending on relapi.event (next_try_at) where status = 'pending';
create index if not exists event_ended on relapi.event (ended_at) where status = 'delivered';
create index if not exists event_trigger on relapi.event (trigger_name, created_at);
create table if not exists relapi.event_invocation (
  id bigint generated always as identity primary key,
  event_id uuid not null references relapi.event on delete cascade,
  started_at timestamptz not null,
  status int,
  response text,
  error text
);
create index if not exists event_invocation_event on relapi.event_invocation (event_id);
create table if not exists relapi.action_log (
  id uuid primary key default pg_catalog.gen_random_uuid(),
  action_name text not null,
  input json not null,
  session_variables json not null,
  request_headers json,
  request_query text not null,
  created_at timestamptz not null default pg_catalog.clock_timestamp(),
  status text not null default 'created' check (status in ('created', 'processing', 'completed', 'error')),
  output json,
  errors json,
  ended_at timestamptz
);
create or replace function relapi.read_action(action_id uuid, name text, variables text) returns json
language sql stable security definer set search_path = pg_catalog, pg_temp as $body$
  select json_build_object('id', id, 'created_at', created_at, 'errors', errors, 'output', output)
  from relapi.action_log
  where id = action_id and action_name = name and (variables is null or session_variables::jsonb = variables::jsonb)
$body$;
grant usage on schema relapi to public;
create or replace function relapi.add_event_job(event uuid, trigger_name text, run_at timestamptz) returns void
language sql set search_path = pg_catalog, pg_temp as $body$
  select from relapi_queue.add_job(
    identifier => 'event/' || trigger_name, payload => json_build_object('id', event), run_at => run_at,
    job_key => 'event/' || event::text
  )
$body$;
create or replace function relapi.pick_columns(picked json, columns text[]) returns json
language sql immutable set search_path = pg_catalog, pg_temp as $body$
  select case when columns is null then picked else (
    select json_object_agg(e.key, e.value order by e.ordinality)
    from json_each(picked) with ordinality e (key, value, ordinality)
    where e.key = any (columns)
  ) end
$body$;
create or replace function relapi.record_event() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $body$
declare
  event relapi.event;
  payload text[] := nullif(tg_argv[1], '')::text[];
begin
  insert into relapi.event (trigger_name, schema_name, table_name, operation, old_row, new_row, session)
  values (
    tg_argv[0], tg_argv[2], tg_argv[3], tg_op,
    case when tg_op <> 'INSERT' then relapi.pick_columns(row_to_json(old), payload) end,
    case when tg_op <> 'DELETE' then relapi.pick_columns(row_to_json(new), payload) end,
    nullif(current_setting('session.variables', true), '')
  )
  returning * into event;
  perform relapi.add_event_job(event.id, event.trigger_name, event.next_try_at);
  return null;
end $body$;
revoke execute on function relapi.record_event() from public;
revoke execute on function relapi.add_event_job(uuid, text, timestamptz) from public;
revoke execute on function relapi.pick_columns(json, text[]) from public`;

/** The comment of installed objects. It changes with their definition. */
export const buildFingerprint = (definition: Sql): string =>
  `relapi ${createHash("sha256").update(toStatement(definition).text).digest("hex").slice(0, 16)}`;

/** A trigger of a table, which one operation of an event trigger needs. */
export interface TableTrigger {
  readonly schema: string;
  readonly table: string;
  /** The name of the trigger in the database. */
  readonly name: string;
  /** The name of the event trigger. */
  readonly event: string;
  readonly operation: Operation;
  readonly definition: Sql;
  readonly fingerprint: string;
}

/** The largest length of a name of PostgreSQL in bytes. */
const MAX_NAME_BYTES = 63;

const buildTriggerName = (event: string, operation: Operation): string => {
  const name = `relapi_event_${event}_${operation}`;
  if (Buffer.byteLength(name) <= MAX_NAME_BYTES) return name;
  return `relapi_event_${createHash("sha256").update(event).digest("hex").slice(0, 32)}_${operation}`;
};

/** Compares images, because not all types have an operator for equality. */
const compileCondition = (operation: Operation, listened: readonly string[] | undefined): Sql => {
  if (operation !== "update") return empty;
  const listOf = (row: "old" | "new"): Sql =>
    listened === undefined ? ident(row) : sql`row(${join(listened.map((column) => ident(row, column)))})`;
  return sql` when (pg_catalog.record_image_ne(${listOf("old")}, ${listOf("new")}))`;
};

/** Builds the triggers of tables. */
export const buildTableTriggers = (triggers: readonly EventTrigger[]): readonly TableTrigger[] =>
  triggers.flatMap(({ name: event, table: { schema, name: table }, operations }) =>
    OPERATIONS.flatMap((operation) => {
      const columns = operations[operation];
      if (columns === undefined) return [];
      const name = buildTriggerName(event, operation);
      const { listened, payload } = columns;
      const settings = [event, payload === undefined ? "" : arrayLiteral(payload), schema, table].map((one) =>
        literal(one),
      );
      const definition = sql`create or replace trigger ${ident(name)} after ${VERBS[operation]} on ${ident(schema, table)} for each row${compileCondition(operation, listened)} execute function relapi.record_event(${join(settings)})`;
      return [{ schema, table, name, event, operation, definition, fingerprint: buildFingerprint(definition) }];
    }),
  );

const VERBS: Readonly<Record<Operation, Sql>> = { insert: sql`insert`, update: sql`update`, delete: sql`delete` };
