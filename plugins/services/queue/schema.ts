/** The SQL of the tables and functions that events and schedules need. */
import { createHash } from "node:crypto";
import { sql, compileSql, type Sql } from "../../../core/index.ts";

/** The schema in which graphile-worker keeps its jobs. */
export const QUEUE_SCHEMA = "relapi_queue";

/** The functions run as their owner, because a caller has no rights on events and actions. Their search path has no
 *  schema in which callers can create objects. A job has the id of its event as key, so an event has one waiting job.
 *  The unique constraint of scheduled events gives each time of a schedule one event. Events have positions in the
 *  order of the changes, because the clock may go back; events of an older version get positions by their times. */
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
alter table relapi.event add column if not exists trace_parent text, add column if not exists row_key text,
  add column if not exists position bigint;
create sequence if not exists relapi.event_position owned by relapi.event.position;
update relapi.event e set position = numbered.position
from (
  select id, pg_catalog.nextval('relapi.event_position') as position
  from (
    select id from relapi.event
    where position is null and status = 'pending' and row_key is not null
    order by created_at
  ) earlier
) numbered
where numbered.id = e.id;
alter table relapi.event alter column position set default pg_catalog.nextval('relapi.event_position');
drop index if exists relapi.event_row;
create index if not exists event_order on relapi.event (trigger_name, row_key, position)
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
create table if not exists relapi.schedule (
  name text not null,
  cron text not null,
  checked_until timestamptz not null default pg_catalog.clock_timestamp(),
  primary key (name, cron)
);
create table if not exists relapi.scheduled_event (
  id uuid primary key default pg_catalog.gen_random_uuid(),
  trigger_name text,
  scheduled_time timestamptz not null,
  definition json,
  payload json,
  comment text,
  created_at timestamptz not null default pg_catalog.clock_timestamp(),
  status text not null default 'pending' check (status in ('pending', 'delivered', 'dead', 'dropped')),
  tries int not null default 0,
  next_try_at timestamptz not null,
  locked_until timestamptz,
  ended_at timestamptz,
  unique (trigger_name, scheduled_time)
);
create index if not exists scheduled_event_pending on relapi.scheduled_event (next_try_at) where status = 'pending';
create index if not exists scheduled_event_ended on relapi.scheduled_event (ended_at) where status = 'delivered';
create table if not exists relapi.scheduled_event_invocation (
  id bigint generated always as identity primary key,
  event_id uuid not null references relapi.scheduled_event on delete cascade,
  started_at timestamptz not null,
  status int,
  response text,
  error text
);
create index if not exists scheduled_event_invocation_event on relapi.scheduled_event_invocation (event_id);
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
grant usage on sequence relapi.event_position to public;
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
      and earlier.status = 'pending' and earlier.position < event.position
  )
$body$;
create or replace function relapi.add_next_job(ended relapi.event) returns void
language sql set search_path = pg_catalog, pg_temp as $body$
  select relapi.add_event_job(later.id, later.trigger_name, later.next_try_at)
  from (
    select * from relapi.event
    where trigger_name = ended.trigger_name and row_key = ended.row_key and status = 'pending' and id <> ended.id
    order by position limit 1
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
  `relapi ${createHash("sha256").update(compileSql(definition).text).digest("hex").slice(0, 16)}`;
