/** The data of the memory benchmark: posts that refer to themselves, one long text, and roles. */
export const MEMORY_SECRET = "a-secret-of-the-memory-benchmark-of-32-bytes";

export const ROLE_COUNT = 20;
export const roleName = (i: number): string => `bench_reader_${i}`;

/**
 * A text of 1 MB (`id` 1), one of 30 MB (`id` 2), and a function that returns the memory of the connection's backend.
 */
export const MEMORY_SQL = `
create table post (id int primary key, title text, body text, likes int, parent_id int references post, at timestamptz default now(), tags text[], data jsonb);
insert into post select i, 'title ' || i, 'body ' || i, i, null, now(), '{a,b}', '{"a": 1}' from generate_series(1, 100) i;
create table long_text (id int primary key, body text not null);
insert into long_text values (1, repeat('0123456789abcdef', 65536)), (2, repeat('0123456789abcdef', 1966080));
create function backend_bytes() returns bigint language sql volatile security definer as $$ select sum(total_bytes)::bigint from pg_backend_memory_contexts $$;
${Array.from({ length: ROLE_COUNT }, (_, i) => `do $$ begin create role ${roleName(i)}; exception when duplicate_object or unique_violation then null; end $$; grant usage on schema public to ${roleName(i)}; grant select on post to ${roleName(i)};`).join("\n")}
grant usage on schema public to bench_anon;
grant select on all tables in schema public to bench_anon;
grant execute on function backend_bytes() to public;
analyze`;
