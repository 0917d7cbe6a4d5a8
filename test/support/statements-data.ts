/**
 * The database of plan tests: a shop with customers, purchases and items. All values derive from the row number, so
 * that every machine has the same rows.
 */

/** The script of the database. Its text identifies the database. */
export const statementsSchema = (million: number): string => `
create table country (id int primary key, name text not null, region text not null);
insert into country select i, 'Country ' || i, 'Region ' || i % 10 from generate_series(1, 200) i;

create table customer (id int not null, tenant_id int not null, name text not null, email text not null, country_id int not null,
  status text not null, score int not null, created_at timestamptz not null, tags text[] not null, profile jsonb not null,
  active daterange not null, bio text not null, words tsvector not null, place point not null);
insert into customer select i, i % 100, 'Customer ' || md5(i::text), 'c' || i || '@example.org', 1 + i % 200,
  case when i % 1000 = 0 then 'blocked' when i % 20 = 0 then 'new' else 'active' end, i::bigint * 7919 % 10007,
  timestamptz '2020-01-01 00:00+00' + i * interval '1 minute', array['t' || i % 500, 'u' || i % 300],
  jsonb_build_object('city', 'City ' || i % 5000, 'plan', case when i % 1000 = 0 then 'gold' else 'basic' end),
  daterange(date '2020-01-01' + i % 10000, date '2020-01-03' + i % 10000), 'word' || i % 2000 || ' word' || i % 7000,
  array_to_tsvector(array['word' || i % 2000, 'word' || i % 7000]), point(i % 1000 + i % 7 * 0.1, i / 1000)
  from generate_series(1, ${million}) i;
alter table customer add primary key (id), add foreign key (country_id) references country;
create index on customer (tenant_id, score);
create index on customer (country_id);
create index on customer (score, id);
create index on customer (status, id);
create unique index on customer (email);
create index on customer (name text_pattern_ops);
create index on customer ((profile->>'city'));
create index on customer using gin (tags);
create index on customer using gin (profile jsonb_path_ops);
create index on customer using gin (words);
create index on customer using gin (to_tsvector('simple', bio));
create index on customer using gist (active);
create index on customer using gist (place);
create function label(customer) returns text language sql immutable as $$ select $1.name || ' <' || $1.email || '>' $$;

create table purchase (id int not null, customer_id int not null, tenant_id int not null, status text not null, total numeric(10,2) not null,
  placed_at timestamptz not null, note text);
insert into purchase select i, c, c % 100, case when i % 1000 = 0 then 'refund' when i % 100 = 1 then 'open' else 'paid' end,
  (i::bigint * 7919 % 1000003) / 100.0, timestamptz '2021-01-01 00:00+00' + (i::bigint * 31337 % 1000003) * interval '1 minute',
  case when i % 3 = 0 then 'note ' || i end
  from generate_series(1, ${million}) i, lateral (select (1 + i::bigint * 7919 % ${million / 10})::int as c) as customers;
alter table purchase add primary key (id), add foreign key (customer_id) references customer;
create index on purchase (customer_id, placed_at);
create index on purchase (tenant_id, placed_at);
create index on purchase (status);
alter table purchase enable row level security;
create policy everything on purchase to bench_anon using (true);
create policy own on purchase to bench_tenant using (tenant_id = (current_setting('request.jwt.claims', true)::json->>'tenant')::int);
create function purchases_of(customer int) returns setof purchase language sql stable as
  $$ select * from purchase where purchase.customer_id = purchases_of.customer $$;

create index on customer ((name || ' <' || email || '>'));
create view open_purchase as select p.id, p.total, p.placed_at, p.customer_id, c.name as customer_name
  from purchase p join customer c on c.id = p.customer_id where p.status = 'open';

create table ticket (id int primary key, tenant_id int not null, created_at timestamptz not null, title text not null);
insert into ticket select i, i % 100, timestamptz '2022-01-01 00:00+00' + i * interval '1 minute', 'Ticket ' || i from generate_series(1, ${million}) i;
create index on ticket (tenant_id, created_at);
alter table ticket enable row level security;
create policy own on ticket to bench_tenant
  using (tenant_id = (select (current_setting('request.jwt.claims', true)::json->>'tenant')::int));

create table product (id int primary key, name text not null, price numeric(10,2) not null);
insert into product select i, 'Product ' || i, i % 1000 / 10.0 from generate_series(1, ${million / 10}) i;

create table item (purchase_id int not null, product_id int not null, qty int not null);
insert into item select 1 + i % ${million / 2}, 1 + (i::bigint * 7919 + i / ${million / 2} * 13) % ${million / 10}, 1 + i % 5
  from generate_series(1, ${million}) i;
alter table item add primary key (purchase_id, product_id), add foreign key (purchase_id) references purchase,
  add foreign key (product_id) references product;
create index on item (product_id);

vacuum analyze;
grant usage on schema public to bench_anon, bench_tenant;
grant select, insert, update, delete on all tables in schema public to bench_anon, bench_tenant;
`;

/** Metadata roles: a seller sees only rows of its tenant. */
export const METADATA = {
  version: 3,
  sources: [
    {
      name: "default",
      kind: "postgres",
      tables: [
        {
          table: { schema: "public", name: "purchase" },
          object_relationships: [{ name: "customer", using: { foreign_key_constraint_on: "customer_id" } }],
          select_permissions: [
            { role: "seller", permission: { columns: "*", filter: { tenant_id: { _eq: "X-Session-Tenant-Id" } } } },
          ],
        },
        { table: { schema: "public", name: "customer" } },
        {
          table: { schema: "public", name: "item" },
          object_relationships: [{ name: "purchase", using: { foreign_key_constraint_on: "purchase_id" } }],
          select_permissions: [
            {
              role: "seller",
              permission: { columns: "*", filter: { purchase: { tenant_id: { _eq: "X-Session-Tenant-Id" } } } },
            },
          ],
        },
      ],
    },
  ],
};
