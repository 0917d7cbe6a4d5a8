/** No message or description names columns on which a role has no grant, whatever its rights on the table. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { getIntrospectionQuery } from "graphql";
import { afterAll, expect, test } from "vitest";
import { plus } from "../../presets/index.ts";
import { startApi } from "../support/api.ts";
import { testDatabase } from "../support/database.ts";
import { bearer } from "../support/tokens.ts";

const role = `hidden_columns_${process.pid}`;
const deleter = `hidden_deleter_${process.pid}`;
const database = await testDatabase();
await database.query(`
  create schema cellar;
  create table cellar.shelf (id int primary key, zz_hidden_mark text constraint mark_once unique default 'zz-hidden-value');
  create table cellar.note (
    id int primary key, owner int, body text,
    zz_hidden_col text not null constraint note_once unique default 'zz-hidden-value',
    zz_hidden_shelf int references cellar.shelf, parent_id int references cellar.note);
  comment on column cellar.note.zz_hidden_col is 'zz-hidden-comment';
  insert into cellar.note (id, owner, body) values (1, 1, 'one');
  create role ${role}; create role ${deleter}; grant ${role}, ${deleter} to current_user;
  grant usage on schema cellar to ${role}, ${deleter};
  grant select (id, owner, body, parent_id), insert (id, owner, body), update (body), delete, truncate, trigger
    on cellar.note to ${role};
  grant select (id), delete, truncate, trigger on cellar.shelf to ${role};
  grant delete on cellar.note, cellar.shelf to ${deleter}`);
const api = await startApi({
  preset: plus,
  compatMode: false,
  dbSchemas: ["cellar"],
  dbAggregatesEnabled: true,
  mcpWrites: true,
  errorHints: true,
});
afterAll(async () => {
  for (const testRole of [role, deleter]) await database.query(`drop owned by ${testRole}; drop role ${testRole}`);
});

/** Matches the hidden names in a spelling that no request uses. */
const HIDDEN_NAMES = /.{0,80}zz.hidden.{0,40}/i;

for (const testRole of [role, deleter]) {
  const headers = bearer({ role: testRole });

  test(`R-OAS-2 R-NAM-3 the OpenAPI documents name no hidden column for ${testRole === role ? "a role with some columns" : "a role that may only delete"}`, async () => {
    for (const [path, accept] of [
      ["/api/", "application/openapi+json"],
      ["/api/", "application/openapi+json;version=3.1"],
      ["/api/openapi.json", "application/json"],
    ] as const) {
      const { status, text } = await api.get(path, { headers: { ...headers, accept } });
      expect(status, text).toBe(200);
      expect(text).toContain("/note");
      expect(HIDDEN_NAMES.exec(text)?.[0]).toBeUndefined();
    }
  });

  test(`G-PRM-6 the GraphQL schemas name no hidden column for ${testRole === role ? "a role with some columns" : "a role that may only delete"}`, async () => {
    for (const path of ["/v1/graphql", "/v1beta1/relay"]) {
      const { text } = await api.post(path, { headers, body: { query: getIntrospectionQuery() } });
      expect(text).toContain("delete_cellar_note");
      expect(text).not.toContain("note_once"); // the role has no right on the function
      expect(HIDDEN_NAMES.exec(text)?.[0]).toBeUndefined();
    }
  });

  test(`P-MCP-3 the tool list_tables names no hidden column for ${testRole === role ? "a role with some columns" : "a role that may only delete"}`, async () => {
    const client = new Client({ name: "test", version: "1.0.0" });
    // Both implement one protocol, but its types do not support exact optional properties.
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${api.url}/mcp`), { requestInit: { headers } }) as never,
    );
    const call = (name: string, args: Record<string, unknown>) =>
      // This role does not have the tool.
      client.callTool({ name, arguments: args }).catch((error: Error) => error.message);
    const answers = [
      await client.listTools(),
      await call("list_tables", {}),
      await call("describe_table", { table: "note" }),
      await call("describe_table", { table: "shelf" }),
      await call("read_rows", { table: "note", columns: ["zz_hiden_col"] }),
    ];
    await client.close();
    expect(HIDDEN_NAMES.exec(JSON.stringify(answers))?.[0]).toBeUndefined();
  });

  test(`R-NAM-3 R-NAM-4 hints and details name no hidden column for ${testRole === role ? "a role with some columns" : "a role that may only delete"}`, async () => {
    const requests = [
      api.get("/api/note?zz_hiden_col=eq.1", { headers }),
      api.get("/api/note?select=zz_hiden_col", { headers }),
      api.get("/api/note?select=id,shelf(*)", { headers }),
      api.get("/api/note?select=id,note(*)", { headers }),
      api.get("/api/note?order=zz_hiden_col", { headers }),
      api.post("/api/note", { headers, body: { zz_hiden_col: "x" } }),
      api.post("/api/note?on_conflict=zz_hiden_col", { headers, body: { id: 2 } }),
      api.post("/api/note", { headers, body: { id: 1 } }),
      api.post("/api/note", { headers, body: { id: 2 } }),
      api.delete("/api/note?zz_hiden_col=eq.1", { headers }),
      api.post("/v1/graphql", { headers, body: { query: "{ cellar_note { zz_hiden_col } }" } }),
      api.post("/v1/graphql", { headers, body: { query: "{ cellar_note(where: {zz_hiden_col: {}}) { id } }" } }),
      api.post("/v1/graphql", {
        headers,
        body: { query: "mutation { insert_cellar_note(objects: [{id: 1}]) { affected_rows } }" },
      }),
    ];
    for (const { text } of await Promise.all(requests)) {
      expect(HIDDEN_NAMES.exec(text)?.[0]).toBeUndefined();
    }
  });
}
