/** Reads and writes scheduled events in the database, as the login role. */
import { sql, bindValue, type PluginContext } from "../../../core/index.ts";
import { createEventStore, type EventStore } from "../queue/store.ts";
import type { Schedule, ScheduledEvent } from "./schedule.ts";

/** The name of the job of an event. An event without a trigger is one that an administrator created. */
export const JOB = sql`coalesce('schedule/' || trigger_name, 'scheduled-event')`;

interface ScheduleStore extends EventStore<ScheduledEvent> {
  /** Creates the events that are due. All processes together create one event for each time. Returns the time of the
   *  database. */
  recordDue(schedules: readonly Schedule[]): Promise<Date>;
  /** Deletes the waiting events of schedules that no longer exist. */
  forget(names: readonly string[]): Promise<void>;
}

interface KnownSchedule {
  readonly name: string | null;
  readonly cron: string | null;
  readonly checked_until: Date | null;
  readonly now: Date;
}

/** Creates the store of scheduled events. @rule X-SCH-3 X-SCH-5 X-SCH-7 */
export const createScheduleStore = (context: Pick<PluginContext, "query">): ScheduleStore => {
  const { query } = context;

  /** Returns the schedules that the database knows, each with its time. A new schedule begins now. A schedule that
   *  another process forgets at this moment is null. */
  const loadKnown = async (schedules: readonly Schedule[]): Promise<readonly KnownSchedule[]> => {
    const wantedSchedules = bindValue(JSON.stringify(schedules.map(({ name, cron }) => ({ name, cron }))), "json");
    await query(sql`
      insert into relapi.schedule (name, cron)
      select name, cron from pg_catalog.json_to_recordset(${wantedSchedules}) wanted (name text, cron text)
      on conflict do nothing`);
    return query<KnownSchedule>(sql`
      select s.name, s.cron, s.checked_until, pg_catalog.clock_timestamp() as now
      from pg_catalog.json_to_recordset(${wantedSchedules}) wanted (name text, cron text)
      left join relapi.schedule s on s.name = wanted.name and s.cron = wanted.cron`);
  };

  return {
    ...createEventStore<ScheduledEvent>(context, {
      events: sql`relapi.scheduled_event`,
      invocations: sql`relapi.scheduled_event_invocation`,
      columns: sql`id::text, trigger_name as name, scheduled_time as "scheduledAt",
        coalesce(payload::text, 'null') as payload, comment, created_at as "createdAt", tries,
        extract(epoch from pg_catalog.clock_timestamp() - scheduled_time)::float8 as "ageSeconds"`,
      job: JOB,
    }),
    recordDue: async (schedules) => {
      const knownSchedules = await loadKnown(schedules);
      const databaseTime = knownSchedules[0]?.now ?? new Date(0); // without schedules, no time is due
      const due = schedules.flatMap(({ name, cron, listTimes, retry, payload, comment }) => {
        const checkedUntil =
          knownSchedules.find((knownSchedule) => knownSchedule.name === name && knownSchedule.cron === cron)
            ?.checked_until ?? databaseTime;
        const oldest = databaseTime.getTime() - retry.toleranceSeconds * 1000;
        const after = new Date(Math.max(checkedUntil.getTime(), oldest));
        return listTimes(after, databaseTime).map((at) => ({ name, cron, at, payload, comment }));
      });
      if (due.length === 0) return databaseTime;
      // The payload is a text, so that no digit of its numbers is lost.
      await query(sql`
        with due as (
          select * from pg_catalog.json_to_recordset(${bindValue(JSON.stringify(due), "json")})
            due (name text, cron text, at timestamptz, payload text, comment text)
        ), inserted as (
          insert into relapi.scheduled_event (trigger_name, scheduled_time, next_try_at, payload, comment)
          select due.name, due.at, due.at, due.payload::json, due.comment
          from due join relapi.schedule s on s.name = due.name and s.cron = due.cron
          where due.at > s.checked_until
          order by due.name, due.at
          on conflict (trigger_name, scheduled_time) do nothing
          returning id, trigger_name, next_try_at
        ), checked as (
          update relapi.schedule s set checked_until = greatest(s.checked_until, latest.at)
          from (select name, cron, max(at) as at from due group by name, cron) latest
          where s.name = latest.name and s.cron = latest.cron
        )
        select relapi.add_event_job(id, ${JOB}, next_try_at) from inserted`);
      return databaseTime;
    },
    forget: async (names) => {
      const list = bindValue(JSON.stringify(names), "json");
      const obsoleteNames = sql`select obsolete.name from pg_catalog.json_array_elements_text(${list}) obsolete (name)`;
      await query(sql`
        with deleted_schedule as (delete from relapi.schedule where name in (${obsoleteNames}))
        delete from relapi.scheduled_event where status = 'pending' and trigger_name in (${obsoleteNames})`);
    },
  };
};
