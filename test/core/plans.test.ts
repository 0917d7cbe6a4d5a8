/** What PostgreSQL makes of the statements: docs/reference/statements.md. The tables are those of
 *  `npm run bench:statements`, with fewer rows. */
import { describe, expect, test } from "vitest";
import { plus } from "../../presets/index.ts";
import { statementsSchema } from "../bench/statements-data.ts";
import { lastStatement } from "../plus/last-statement.ts";
import { capabilities, forGraphql, startApi, type RequestParts } from "../support/api.ts";

const ROWS = 50_000;

describe.skipIf(!capabilities.realServer)("plans on large tables", async () => {
  if (!capabilities.realServer) return;
  const sent = lastStatement();
  const api = await startApi({ ...forGraphql({ dbAggregatesEnabled: true }), preset: plus, parts: [sent.plugin] });
  await api.sql("drop schema public cascade; create schema public");
  const schema = statementsSchema(ROWS).replaceAll("bench_anon", "sea_anon").replaceAll("bench_tenant", "sea_clerk");
  // one by one: vacuum stands in no transaction
  for (const statement of schema.split(/;\n/).filter((text) => text.trim() !== "")) await api.sql(statement);
  await api.reload();

  /** The plan of the statement that has just been sent, as text. */
  const planOf = async (): Promise<string> => {
    const connection = await api.database.connect();
    try {
      await connection.query("set jit = off");
      const { rows } = await connection.query(`explain (costs off) ${sent.text()}`);
      return rows.map((row) => row["QUERY PLAN"]).join("\n");
    } finally {
      await connection.end();
    }
  };
  const rest = async (path: string, parts?: RequestParts): Promise<string> => {
    const answer = await api.get(path, parts);
    expect(answer.status, answer.text).toBe(200);
    return planOf();
  };
  const graphql = async (query: string): Promise<string> => {
    expect(await api.gql(query)).toHaveProperty("data");
    return planOf();
  };

  describe("X-PLN-1 the place of nulls that cannot be keeps no index away", () => {
    test.each(["score.desc.nullslast,id.desc.nullslast", "score.nullsfirst,id", "score.desc,id.desc"])(
      "REST: %s",
      async (order) => {
        const plan = await rest(`/customer?select=id&order=${order}&limit=20`);
        expect(plan).toMatch(/Index Only Scan .*customer_score_id_idx/);
        expect(plan).not.toContain("Sort");
      },
    );

    test("GraphQL", async () => {
      const plan = await graphql(
        "{ customer(order_by: [{score: desc_nulls_last}, {id: desc_nulls_last}], limit: 9) { id } }",
      );
      expect(plan).toMatch(/Index Only Scan .*customer_score_id_idx/);
      expect(plan).not.toContain("Sort");
    });

    test("columns that may be null, those of views and those of domains keep it", async () => {
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
  });
});
