/** The SQL of the objects that events need: tables, the trigger function, and the triggers of tables. */
import { createHash } from "node:crypto";
import { arrayLiteral, empty, ident, join, literal, sql, toStatement, type Sql } from "../../../core/index.ts";
import { OPERATIONS, type EventTrigger, type Operation } from "./event-trigger.ts";

/** The schema of events, and the schema in which graphile-worker keeps its jobs. */
export const SCHEMA = "relapi";
export const QUEUE_SCHEMA = "relapi_queue";

/** The function runs as its owner, because a caller who writes a row has no rights on events. Its search path has no
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
alter table relapi.event add column if not exists trace_parent text, add column if not exists row_key text;
create index if not exists event_row on relapi.event (trigger_name, row_key, created_at)
  where status = 'pending' and row_key is not null;
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
create or replace function relapi.has_earlier(event relapi.event) returns boolean
language sql stable set search_path = pg_catalog, pg_temp as $body$
  select event.row_key is not null and exists (
    select from relapi.event earlier
    where earlier.trigger_name = event.trigger_name and earlier.row_key = event.row_key
      and earlier.status = 'pending' and earlier.created_at < event.created_at
  )
$body$;
create or replace function relapi.add_next_job(ended relapi.event) returns void
language sql set search_path = pg_catalog, pg_temp as $body$
  select relapi.add_event_job(later.id, later.trigger_name, later.next_try_at)
  from (
    select * from relapi.event
    where trigger_name = ended.trigger_name and row_key = ended.row_key and status = 'pending' and id <> ended.id
    order by created_at limit 1
  ) later
$body$;
create or replace function relapi.record_event() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $body$
declare
  event relapi.event;
  payload text[] := nullif(tg_argv[1], '')::text[];
  key_columns text[] := nullif(tg_argv[4], '')::text[];
begin
  insert into relapi.event (trigger_name, schema_name, table_name, operation, old_row, new_row, session, trace_parent, row_key)
  values (
    tg_argv[0], tg_argv[2], tg_argv[3], tg_op,
    case when tg_op <> 'INSERT' then relapi.pick_columns(row_to_json(old), payload) end,
    case when tg_op <> 'DELETE' then relapi.pick_columns(row_to_json(new), payload) end,
    nullif(current_setting('session.variables', true), ''),
    nullif(current_setting('relapi.trace_parent', true), ''),
    case when key_columns is not null then
      relapi.pick_columns(row_to_json(case when tg_op = 'DELETE' then old else new end), key_columns)::text
    end
  )
  returning * into event;
  perform relapi.add_event_job(event.id, event.trigger_name, event.next_try_at);
  return null;
end $body$;
create or replace function relapi.record_statement() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $body$
declare
  payload text[] := nullif(tg_argv[1], '')::text[];
  key_columns text[] := nullif(tg_argv[4], '')::text[];
  variables text := nullif(current_setting('session.variables', true), '');
  trace_parent text := nullif(current_setting('relapi.trace_parent', true), '');
  jobs relapi_queue.job_spec[];
begin
  for jobs in
    with added as (
      insert into relapi.event (
        trigger_name, schema_name, table_name, operation, old_row, new_row, session, trace_parent, row_key
      )
      select tg_argv[0], tg_argv[2], tg_argv[3], tg_op,
        case when tg_op = 'DELETE' then relapi.pick_columns(r.image, payload) end,
        case when tg_op = 'INSERT' then relapi.pick_columns(r.image, payload) end,
        variables, trace_parent,
        case when key_columns is not null then relapi.pick_columns(r.image, key_columns)::text end
      from (select row_to_json(changed) as image from changed) r
      returning id, trigger_name, next_try_at
    ), numbered as (
      select *, (row_number() over () - 1) / 10000 as batch from added
    )
    select array_agg(
      row(
        'event/' || trigger_name, json_build_object('id', id), null, next_try_at, null, 'event/' || id::text, null, null
      )::relapi_queue.job_spec
    )
    from numbered group by batch
  loop
    perform from relapi_queue.add_jobs(jobs);
  end loop;
  return null;
end $body$;
revoke execute on function relapi.record_statement() from public;
revoke execute on function relapi.record_event() from public;
revoke execute on function relapi.add_event_job(uuid, text, timestamptz) from public;
revoke execute on function relapi.has_earlier(relapi.event) from public;
revoke execute on function relapi.add_next_job(relapi.event) from public;
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

const writeList = (columns: readonly string[] | undefined): string =>
  columns === undefined ? "" : arrayLiteral(columns);

/** One call for all rows of a statement costs a tenth of a call for each row. An update needs the rows in pairs, and
 *  statements on a partitioned table do not fire such triggers of its partitions. */
const compileLevel = (operation: Operation, isInherited: boolean | undefined, condition: Sql): Sql => {
  if (operation === "update" || isInherited !== false)
    return sql`for each row${condition} execute function relapi.record_event`;
  const rows = operation === "insert" ? sql`new table` : sql`old table`;
  return sql`referencing ${rows} as changed for each statement execute function relapi.record_statement`;
};

/** Builds the triggers of tables. */
export const buildTableTriggers = (triggers: readonly EventTrigger[]): readonly TableTrigger[] =>
  triggers.flatMap(({ name: event, table: { schema, name: table }, operations, keyColumns, isInherited }) =>
    OPERATIONS.flatMap((operation) => {
      const columns = operations[operation];
      if (columns === undefined) return [];
      const name = buildTriggerName(event, operation);
      const { listened, payload } = columns;
      const settings = [event, writeList(payload), schema, table, writeList(keyColumns)].map((one) => literal(one));
      const definition = sql`create or replace trigger ${ident(name)} after ${VERBS[operation]} on ${ident(schema, table)} ${compileLevel(operation, isInherited, compileCondition(operation, listened))}(${join(settings)})`;
      return [{ schema, table, name, event, operation, definition, fingerprint: buildFingerprint(definition) }];
    }),
  );

const VERBS: Readonly<Record<Operation, Sql>> = { insert: sql`insert`, update: sql`update`, delete: sql`delete` };
