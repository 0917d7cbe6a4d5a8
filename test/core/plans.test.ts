/** The plans that PostgreSQL makes for the statements: docs/reference/statements.md. */
import { describe, expect, test } from "vitest";
import { plus } from "../../presets/index.ts";
import { statementsSchema } from "../support/statements-data.ts";
import { lastStatement } from "../plus/last-statement.ts";
import { capabilities, forGraphql, startApi, type RequestParts } from "../support/api.ts";

const ROWS = 50_000;

interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Actual Loops"?: number;
  readonly Plans?: readonly PlanNode[];
}

const listNodes = (node: PlanNode): readonly PlanNode[] => [node, ...(node.Plans ?? []).flatMap(listNodes)];

const listTables = (node: PlanNode): readonly string[] =>
  listNodes(node).flatMap((child) => (child["Relation Name"] === undefined ? [] : [child["Relation Name"]]));

describe.skipIf(!capabilities.realServer)("plans on large tables", async () => {
  if (!capabilities.realServer) return;
  const recorder = lastStatement();
  const api = await startApi({ ...forGraphql({ dbAggregatesEnabled: true }), preset: plus, parts: [recorder.plugin] });
  await api.sql("drop schema public cascade; create schema public");
  const schema = statementsSchema(ROWS).replaceAll("bench_anon", "sea_anon").replaceAll("bench_tenant", "sea_clerk");
  // The statements run one by one, because VACUUM does not run in a transaction.
  for (const statement of schema.split(/;\n/).filter((text) => text.trim() !== "")) await api.sql(statement);
  await api.reload();

  /** The plan of the last statement, as text. */
  const explainLast = async (): Promise<string> => {
    const connection = await api.database.connect();
    try {
      await connection.query("set jit = off");
      const { rows } = await connection.query(`explain (costs off) ${recorder.text()}`);
      return rows.map((row) => row["QUERY PLAN"]).join("\n");
    } finally {
      await connection.end();
    }
  };
  const analyzePlan = async (): Promise<PlanNode> => {
    const connection = await api.database.connect();
    try {
      const { rows } = await connection.query(`explain (analyze, timing off, format json) ${recorder.text()}`);
      return rows[0]["QUERY PLAN"][0].Plan;
    } finally {
      await connection.end();
    }
  };
  const rest = async (path: string, parts?: RequestParts): Promise<string> => {
    const answer = await api.get(path, parts);
    expect(answer.status, answer.text).toBe(200);
    return explainLast();
  };
  const graphql = async (query: string): Promise<string> => {
    expect(await api.gql(query)).toHaveProperty("data");
    return explainLast();
  };

  describe("positions of impossible nulls", () => {
    test.each(["score.desc.nullslast,id.desc.nullslast", "score.nullsfirst,id", "score.desc,id.desc"])(
      "X-PLN-1 a REST order uses the index despite the position of nulls: %s",
      async (order) => {
        const plan = await rest(`/customer?select=id&order=${order}&limit=20`);
        expect(plan).toMatch(/Index Only Scan .*customer_score_id_idx/);
        expect(plan).not.toContain("Sort");
      },
    );

    test("X-PLN-1 a GraphQL order uses the index despite the position of nulls", async () => {
      const plan = await graphql(
        "{ customer(order_by: [{score: desc_nulls_last}, {id: desc_nulls_last}], limit: 9) { id } }",
      );
      expect(plan).toMatch(/Index Only Scan .*customer_score_id_idx/);
      expect(plan).not.toContain("Sort");
    });

    test("X-PLN-1a nullable columns, and columns of views and domains, keep the position of nulls", async () => {
      await api.sql(`
        create domain public.sure as int not null;
        create table public.holes (id int primary key, n int, d public.sure);
        insert into public.holes values (1, 1, 1), (2, null, 2);
        insert into public.holes select 3, 3, (select d from public.holes where false);
        create view public.seen as select a.id, b.id as other from public.holes a left join public.holes b on b.id = a.id + 1;
        grant select on public.holes, public.seen to sea_anon`);
      await api.reload();
      const ids = async (path: string): Promise<unknown> =>
        (await api.get(path)).json().map(({ id }: { id: number }) => id);
      expect(await ids("/holes?select=id&order=n.desc.nullslast,id")).toEqual([3, 1, 2]);
      expect(await ids("/holes?select=id&order=n.nullsfirst,id")).toEqual([2, 1, 3]);
      expect(await ids("/holes?select=id&order=d.desc.nullslast")).toEqual([2, 1, 3]);
      expect(await ids("/seen?select=id&order=other.nullsfirst")).toEqual([3, 1, 2]);
    });

    test("X-PLN-1a a table keeps the position of nulls if a child table lacks the constraint", async () => {
      // PostgreSQL 18 lets no child drop an inherited constraint, but has constraints that are not inherited.
      const isNamed = capabilities.version >= 18;
      await api.sql(`
        create table public.parent (id int primary key, n int not null ${isNamed ? "no inherit" : ""});
        create table public.child () inherits (public.parent);
        alter table public.child alter column n drop not null;
        insert into public.parent values (1, 1);
        insert into public.child values (2, null), (3, 3);
        grant select on public.parent to sea_anon`);
      await api.reload();
      const answer = await api.get("/parent?select=id&order=n.desc.nullslast");
      expect(answer.json().map(({ id }: { id: number }) => id)).toEqual([3, 1, 2]);
    });
  });

  describe("pages with related data", () => {
    /** Checks that a limiting node reads only the table of the page, and each other table for at most `rows` rows. */
    const findsPageFirst = (plan: PlanNode, table: string, rows: number): void => {
      const cuts = listNodes(plan).filter((node) => ["Limit", "Unique"].includes(node["Node Type"]));
      expect(cuts.map((node) => [...new Set(listTables(node))])).toContainEqual([table]);
      for (const node of listNodes(plan))
        if (node["Relation Name"] !== undefined && node["Relation Name"] !== table)
          expect(node["Actual Loops"], JSON.stringify(plan, undefined, 1)).toBeLessThanOrEqual(rows);
    };

    test.each([
      ["an embed of one", "/purchase?select=id,customer(name)&order=total.desc,id&limit=20"],
      ["an embed of one with an offset", "/purchase?select=id,customer(name)&order=total.desc,id&limit=20&offset=100"],
      ["an offset with an index", "/purchase?select=id,customer(name)&order=id&limit=20&offset=100"],
      ["an embed of many", "/purchase?select=id,item(qty)&order=total.desc,id&limit=20"],
      ["an embed of many beside all columns", "/purchase?select=*,item(qty)&order=total.desc,id&limit=20&offset=7"],
      ["a spread of one", "/purchase?select=id,...customer(name)&order=total.desc,id&limit=20"],
      ["a spread of many", "/purchase?select=id,...item(qty)&order=total.desc,id&limit=20"],
    ])("X-PLN-2 REST selects the page before the related data of its rows: %s", async (_, path) => {
      const answer = await api.get(path);
      expect(answer.json()).toHaveLength(20);
      findsPageFirst(await analyzePlan(), "purchase", 20);
    });

    test("X-PLN-2 GraphQL selects the page of distinct_on before the related data of its rows", async () => {
      const query =
        "{ purchase(distinct_on: status, order_by: [{status: asc}, {total: desc}, {id: asc}]) { id customer { name } } }";
      expect((await api.gql(query)).data.purchase).toHaveLength(3);
      findsPageFirst(await analyzePlan(), "purchase", 3);
    });

    test("X-PLN-2 a page has the same rows as the part of the whole list", async () => {
      const expectSamePage = async (path: string): Promise<void> => {
        const page = (await api.get(`${path}&limit=20&offset=30`)).json();
        const all = (await api.get(path)).json();
        expect(page).toEqual(all.slice(30, 50));
      };
      await expectSamePage(
        "/purchase?select=*,customer(name,country(name)),item(*)&item.order=product_id&id=lt.200&order=total.desc,id",
      );
      await expectSamePage(
        "/purchase?select=total,...customer(name,...country(land:name)),...item(qty)&item.order=product_id&id=lt.200&order=total,id",
      );
      await expectSamePage("/purchase?select=id,...customer!inner(name)&customer.country_id=eq.8&order=id&id=lt.20000");
      await expectSamePage("/purchase?select=id,item!inner(qty)&item.qty=eq.2&order=total,id&id=lt.500");
      await expectSamePage("/customer?select=id,label,purchase()&purchase=is.null&order=id.desc");
      await expectSamePage(
        "/customer?select=*,label,purchase(id)&purchase=not.is.null&purchase.order=id&order=id.desc",
      );
    });

    test("X-PLN-2 a role needs no right on columns that are not selected", async () => {
      await api.sql(
        "revoke select on customer from sea_anon; grant select (id, name, country_id) on customer to sea_anon",
      );
      const answer = await api.get("/customer?select=name,country(name)&order=name&limit=2&offset=1");
      await api.sql("grant select on customer to sea_anon");
      expect(answer.status, answer.text).toBe(200);
      expect(answer.json()).toHaveLength(2);
    });
  });

  describe("objects of rows", () => {
    const subPlans = (plan: PlanNode): number =>
      listNodes(plan).filter((node) => node["Node Type"] === "Result" && (node["Actual Loops"] ?? 0) > 1).length;

    test("X-PLN-3 the nodes of an aggregate with a limit need no subquery for each row", async () => {
      const { data } = await api.gql(
        "{ purchase_aggregate(order_by: [{total: desc}, {id: asc}], limit: 30) { aggregate { count } nodes { id total customer { id } } } }",
      );
      expect(data.purchase_aggregate.aggregate.count).toBe(30);
      const totals = data.purchase_aggregate.nodes.map(({ total }: { total: number }) => total);
      expect(totals).toEqual([...totals].sort((a, b) => b - a));
      const plan = await analyzePlan();
      expect(subPlans(plan)).toBe(0);
      for (const node of listNodes(plan))
        if (node["Relation Name"] === "customer") expect(node["Actual Loops"]).toBe(30);
    });

    test("X-PLN-3 the rows that a write returns need no subquery for each row", async () => {
      const { data } = await api.gql(
        "mutation { delete_item(where: {product_id: {_lt: 10}}) { returning { purchase_id qty } } }",
      );
      expect(Object.keys(data.delete_item.returning[0])).toEqual(["purchase_id", "qty"]);
      expect(recorder.text()).not.toMatch(/select row_to_json\(_o\.\*\) from \(select "item_1"/);
    });

    test("X-PLN-3 the objects of groups are made around the groups", async () => {
      const { data } = await api.gql(
        "{ purchase_group_by(by: [status], order_by: {status: asc}) { status __typename aggregate { count sum { total } } } }",
      );
      const [{ status, aggregate }] = data.purchase_group_by;
      expect({ status, count: aggregate.count }).toEqual({ status: "open", count: 500 });
      expect(recorder.text()).toMatch(/group by 1, "purchase"\."status" order by "purchase"\."status" asc\) as "_g"/);
    });
  });

  describe("rows of an insert", () => {
    const insert = async (rows: string): Promise<readonly unknown[]> =>
      (
        await api.gql(
          `mutation { insert_purchase(objects: [${rows}]) { returning { id note customer_id } } }`,
          {},
          { prefer: "tx=rollback" },
        )
      ).data.insert_purchase.returning;
    const purchase = (id: number, extraFields: string): string =>
      `{id: ${id}, customer_id: 1, tenant_id: 1, status: "open", total: 1, placed_at: "2024-01-01T00:00:00Z"${extraFields}}`;

    test("X-PLN-4 rows with the same columns are read in one pass, with nulls too", async () => {
      expect(await insert(`${purchase(-1, ", note: null")}, ${purchase(-2, ', note: "x"')}`)).toEqual([
        { id: -1, note: null, customer_id: 1 },
        { id: -2, note: "x", customer_id: 1 },
      ]);
      expect(recorder.text()).toContain("json_to_recordset");
    });

    test("X-PLN-4 a row without a column gets its default, from a literal and from a variable", async () => {
      await api.sql("alter table purchase alter column note set default 'none'");
      await api.reload();
      expect(await insert(`${purchase(-1, ', note: "x"')}, ${purchase(-2, "")}`)).toMatchObject([
        { note: "x" },
        { note: "none" },
      ]);
      const document =
        "mutation ($rows: [purchase_insert_input!]!) { insert_purchase(objects: $rows) { returning { note } } }";
      const notes = async (...values: readonly (string | null | undefined)[]): Promise<unknown> => {
        const rows = values.map((note, i) => ({
          id: -1 - i,
          customer_id: 1,
          tenant_id: 1,
          status: "open",
          total: 1,
          placed_at: "2024-01-01T00:00:00Z",
          ...(note === undefined ? {} : { note }),
        }));
        const { data } = await api.gql(document, { rows }, { prefer: "tx=rollback" });
        return data.insert_purchase.returning.map((row: { note: string | null }) => row.note);
      };
      for (let round = 0; round < 2; round++) {
        expect(await notes("a", null)).toEqual(["a", null]);
        expect(await notes("a", undefined)).toEqual(["a", "none"]);
        expect(await notes(undefined, "b")).toEqual(["none", "b"]);
        expect(await notes("a", "b", "c")).toEqual(["a", "b", "c"]);
      }
    });
  });

  describe("many conditions on related rows", () => {
    const countMatches = (part: RegExp): number => recorder.text().match(part)?.length ?? 0;
    /** Counts the conditions of the statement, and those that PostgreSQL cannot plan as a join. */
    const shape = () => ({ conditions: countMatches(/exists \(/g), apart: countMatches(/\) is true/g) });
    const fetchIds = async (where: string): Promise<readonly number[]> => {
      const answer = await api.gql(`{ purchase(where: ${where}, order_by: {id: asc}) { id } }`);
      return answer.data.purchase.map(({ id }: { id: number }) => id);
    };
    const smallIds = "{id: {_lt: 60}}";

    test("X-PLN-5a six conditions side by side become joins, and all others are separate", async () => {
      const conditions = Array.from({ length: 120 }, (_, i) => `{customer: {id: {_gt: ${i * 10}}}}`);
      const ids = await fetchIds(`{_and: [${[smallIds, ...conditions].join()}]}`);
      expect(shape()).toEqual({ conditions: 120, apart: 114 });
      expect(ids).toEqual(await fetchIds(`{_and: [${smallIds}, {customer: {id: {_gt: 1190}}}]}`));
      expect(ids.length).toBeGreaterThan(5);
    });

    test("X-PLN-5a six negated conditions side by side become joins, and all others are separate", async () => {
      const conditions = Array.from({ length: 60 }, (_, i) => `{_not: {items: {qty: {_eq: ${i + 2}}}}}`);
      const ids = await fetchIds(`{_and: [${[smallIds, ...conditions].join()}]}`);
      expect(shape()).toEqual({ conditions: 60, apart: 54 });
      expect(ids).toEqual(await fetchIds(`{_and: [${smallIds}, {_not: {items: {qty: {_gt: 1}}}}]}`));
      expect(ids.length).toBeGreaterThan(5);
    });

    const around = (where: string, depth: number, wrap: (where: string) => string): string =>
      depth === 0 ? where : wrap(around(where, depth - 1, wrap));

    test("X-PLN-5a every seventh of nested conditions is separate", async () => {
      const ids = await fetchIds(
        `{_and: [${smallIds}, ${around("{id: {_gt: 1000}}", 9, (where) => `{customer: {purchases: ${where}}}`)}]}`,
      );
      expect(shape()).toEqual({ conditions: 18, apart: 2 }); // six are joins, one is separate, and so on
      expect(ids).toEqual(await fetchIds(`{_and: [${smallIds}, {customer: {purchases: {id: {_gt: 1000}}}}]}`));
    });

    test("X-PLN-5a conditions below eight nested or are looked up", async () => {
      const wrap = (where: string): string =>
        `{_or: [{id: {_lt: 0}}, {customer: {id: {_gt: 0}, purchases: ${where}}}]}`;
      const ids = await fetchIds(`{_and: [${smallIds}, ${around("{id: {_eq: 5}}", 3, wrap)}]}`);
      expect(ids).toEqual(await fetchIds(`{_and: [${smallIds}, {customer: {purchases: {id: {_eq: 5}}}}]}`));
      // The condition matches no row, because the statement takes ten times as long with each level.
      await fetchIds(`{_and: [{id: {_lt: 0}}, ${around("{id: {_eq: 5}}", 9, wrap)}]}`);
      expect(recorder.text().match(/ or exists/g)).toHaveLength(9);
      expect(recorder.text().match(/offset 0\)/g)).toHaveLength(1);
    });

    test("X-PLN-5a six inner embeds of REST become joins, and all others are separate", async () => {
      const embeds = Array.from({ length: 40 }, (_, i) => `e${i}:customer!inner(id)`).join();
      const filters = Array.from({ length: 40 }, (_, i) => `e${i}.id=gt.${i}`).join("&");
      const answer = await api.get(`/purchase?select=id,${embeds}&${filters}&id=lt.60&order=id`);
      expect(answer.status, answer.text).toBe(200);
      expect(shape()).toEqual({ conditions: 40, apart: 34 });
      const ids = (rows: readonly { readonly id: number }[]): readonly number[] => rows.map(({ id }) => id);
      const plain = await api.get("/purchase?select=id&id=lt.60&customer_id=gt.39&order=id");
      expect(ids(answer.json())).toEqual(ids(plain.json()));
    });
  });

  describe("orders by a to-one relationship", () => {
    test("X-PLN-7 PostgreSQL hashes the values for all rows, and looks them up for few rows", async () => {
      const all = await graphql("{ purchase(order_by: [{customer: {email: asc}}, {id: asc}], limit: 20) { id } }");
      expect(all).toMatch(/(Hash|Merge).* Join/);
      const fewRowsPlan = await graphql(
        "{ purchase(where: {id: {_in: [1, 2, 3]}}, order_by: [{customer: {email: asc}}, {id: asc}], limit: 20) { id } }",
      );
      expect(fewRowsPlan).toMatch(/Index Scan using customer_pkey/);
      expect(fewRowsPlan).not.toMatch(/(Hash|Merge).* Join/);
    });

    test("X-PLN-7 several terms share one join of each relationship", async () => {
      const plan = await graphql(
        "{ item(order_by: [{purchase: {customer: {country: {name: asc}}}}, {purchase: {customer: {email: desc}}}, {product_id: asc}], limit: 3) { qty } }",
      );
      for (const table of ["item", "purchase", "customer", "country"])
        expect(plan.match(new RegExp(` on ${table}( |$)`, "gm")), `${table} in ${plan}`).toHaveLength(1);
      expect(plan).not.toContain("SubPlan");
    });

    test("X-PLN-7 X-PLN-7a missing rows, child tables, functions and many terms keep the correct order", async () => {
      await api.sql(`
        create table public.place (id int primary key, name text);
        create table public.annex () inherits (public.place);
        insert into public.place values (1, 'b'), (2, 'a');
        insert into public.annex values (1, 'z');
        create table public.visit (id int primary key, place_id int references public.place, ${Array.from({ length: 9 }, (_, i) => `p${i} int references public.country`).join(", ")});
        insert into public.visit values (1, 1), (2, 2), (3, null);
        update public.visit set p8 = 9 - id, place_id = place_id;
        create function public.title(country) returns text language sql stable as $$ select coalesce($1.name, 'Country 6b') $$;
        grant select on public.place, public.visit to sea_anon`);
      await api.reload();
      const ids = async (order: string): Promise<unknown> =>
        (await api.gql(`{ visit(order_by: [${order}]) { id } }`)).data.visit.map(({ id }: { id: number }) => id);
      // The key of a parent table does not hold for its children: one of two rows is used, and no visit appears twice.
      expect((await ids("{place: {name: asc}}, {id: asc}")) as number[]).toHaveLength(3);
      expect(await ids("{countryByP8: {name: asc_nulls_first}}")).toEqual([3, 2, 1]);
      const orders = Array.from({ length: 9 }, (_, i) => `{${i === 0 ? "country" : `countryByP${i}`}: {name: desc}}`);
      expect(await ids(orders.join(", "))).toEqual([1, 2, 3]);
      await api.sql("update public.visit set p8 = null where id = 2");
      expect(await ids("{countryByP8: {name: asc_nulls_first}}")).toEqual([2, 3, 1]);
      expect(await ids("{countryByP8: {title: asc_nulls_first}}")).toEqual([2, 3, 1]);
    });
  });

  test("X-PLN-8 a call by POST is planned with its arguments", async () => {
    const answer = await api.post("/rpc/purchases_of?select=id&order=placed_at.desc&limit=5", {
      body: { customer: 4711 },
    });
    expect(answer.json()).toHaveLength(5);
    const plan = await explainLast();
    expect(plan).toMatch(/Index Scan Backward using purchase_customer_id_placed_at_idx/);
    expect(plan).not.toMatch(/Sort|json_to_record/);
  });

  /** Counts the runs of a generic plan on the one connection, of statements with these words. */
  const genericPlans = async (words: string): Promise<number> =>
    (await singleApi.post("/rpc/generic_plans", { body: { words } })).json();
  const singleApi = await startApi(forGraphql({ dbPool: 1 }));
  await api.sql(`create function public.generic_plans(words text) returns int language sql volatile as $$
    select coalesce(sum(generic_plans), 0)::int from pg_prepared_statements
      where position(words in statement) > 0 and position('generic' in statement) = 0 $$;
    create function public.plan_mode(customer) returns text language sql stable as $$ select current_setting('plan_cache_mode') $$`);
  await singleApi.reload();

  describe("statements that are planned with their values", () => {
    test("X-PLN-6 the plan of a frequent value in JSON is not reused for a rare one", async () => {
      for (let i = 0; i < 9; i++)
        expect((await singleApi.get("/customer?select=id&profile->>plan=eq.basic")).status).toBe(200);
      for (let i = 0; i < 3; i++)
        expect((await singleApi.get("/customer?select=id&profile->>city=eq.City 77")).status).toBe(200);
      expect(await genericPlans('("customer"."profile"->>')).toBe(0);
    });

    test.each([
      ["a pattern", "name=like.Customer c4*"],
      ["a regular expression", "name=match.^Customer c4"],
      ["full text", "bio=fts(simple).word77"],
      ["a value in JSON", "profile->>plan=eq.gold"],
      ["an order by a value in JSON", "order=profile->>city"],
      ["a pattern below or", "or=(id.eq.1,not.and(name.ilike.*c4*,id.gt.4))"],
    ])("X-PLN-6a a statement with its own values is planned each time: %s", async (_, query) => {
      const { text } = await singleApi.get(`/customer?select=mode:plan_mode&${query}&limit=1`);
      expect(JSON.parse(text)).toEqual([{ mode: "force_custom_plan" }]);
    });

    test("X-PLN-6 PostgreSQL chooses the plan of other statements on the same connection", async () => {
      for (let i = 1; i < 13; i++)
        expect((await singleApi.get(`/customer?select=id,email&id=eq.${i}`)).json()).toHaveLength(1);
      expect(await genericPlans('"customer"."id" = $1')).toBeGreaterThan(0);
      expect((await singleApi.get("/customer?select=mode:plan_mode&id=eq.1")).json()).toEqual([{ mode: "auto" }]);
    });
  });
});
