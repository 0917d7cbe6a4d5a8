/** Commands of the metadata API for remote schemas. */
import { readFile } from "node:fs/promises";
import { beforeEach, expect, test } from "vitest";
import { asAdmin } from "../support/api.ts";
import { runCommand } from "../support/metadata-commands.ts";
import { temporaryFile } from "../support/temporary-files.ts";
import { startRemote } from "./remote-server.ts";
import { startWithWebhooks } from "./start.ts";

const remote = await startRemote();
const file = temporaryFile(
  "metadata.yaml",
  "version: 3\nsources: [{name: default, kind: postgres, tables: [{table: album}]}]\n",
);
const api = await startWithWebhooks({ metadata: file });

const run = (type: string, args: unknown): Promise<any> => runCommand(api, type, args);
const ask = async (query = "{ secret }", role?: string): Promise<any> => api.gql(query, {}, asAdmin(role));
const unknown = (name: string) => ({
  errors: [expect.objectContaining({ message: `field '${name}' not found in type: 'query_root'` })],
});
const SUCCESS = { message: "success" };
const definition = { url: remote.url };

beforeEach(async () => {
  remote.answer = undefined;
  await run("clear_metadata", {});
});

test("X-RMT-11 a remote schema is added, updated and removed, and written to the file", async () => {
  expect(await run("add_remote_schema", { name: "shop", definition, comment: "A shop" })).toEqual(SUCCESS);
  expect(await ask()).toEqual({ data: { secret: "treasure" } });
  expect(await readFile(file, "utf8")).toContain("A shop");
  expect(await run("add_remote_schema", { name: "shop", definition })).toEqual({
    path: "$.args",
    error: 'remote schema with name "shop" already exists',
    code: "already-exists",
  });
  const customization = { root_fields_namespace: "shop" };
  expect(await run("update_remote_schema", { name: "shop", definition: { ...definition, customization } })).toEqual(
    SUCCESS,
  );
  expect(await ask("{ shop { secret } }")).toEqual({ data: { shop: { secret: "treasure" } } });
  expect(await run("remove_remote_schema", { name: "shop" })).toEqual(SUCCESS);
  expect(await ask("{ shop { secret } }")).toEqual(unknown("shop"));
  expect(await run("remove_remote_schema", { name: "shop" })).toMatchObject({ code: "not-exists" });
});

test("X-RMT-11 a remote that cannot be read is rejected, and nothing changes", async () => {
  await run("add_remote_schema", { name: "shop", definition });
  const brokenDefinition = { url: "http://127.0.0.1:1/" };
  expect(await run("add_remote_schema", { name: "other", definition: brokenDefinition })).toMatchObject({
    code: "invalid-configuration",
    error: expect.stringContaining("the connection to the server failed: ECONNREFUSED"),
  });
  expect(await run("update_remote_schema", { name: "shop", definition: brokenDefinition })).toMatchObject({
    code: "invalid-configuration",
  });
  expect(await ask()).toEqual({ data: { secret: "treasure" } });
  expect((await run("export_metadata", {})).remote_schemas).toEqual([{ name: "shop", definition }]);
});

test("X-RMT-11 permissions are added and dropped", async () => {
  await run("add_remote_schema", { name: "shop", definition });
  const permission = { remote_schema: "shop", role: "reader" };
  const add = (schema: string) => run("add_remote_schema_permissions", { ...permission, definition: { schema } });
  expect(await add("type Query { nothing: String }")).toMatchObject({ code: "invalid-configuration" });
  expect(await ask("{ secret }", "reader")).toEqual(unknown("secret"));
  expect(await add("type Query { secret: String }")).toEqual(SUCCESS);
  expect(await ask("{ secret }", "reader")).toEqual({ data: { secret: "treasure" } });
  expect(await run("drop_remote_schema_permissions", permission)).toEqual(SUCCESS);
  expect(await ask("{ secret }", "reader")).toEqual(unknown("secret"));
  expect(await run("add_remote_schema_permissions", { ...permission, role: "admin", definition: {} })).toMatchObject({
    code: "validation-failed",
  });
});

test("X-RMT-13h relationships are created, updated and deleted", async () => {
  await run("add_remote_schema", { name: "shop", definition });
  await run("pg_track_table", { table: "artist" });
  const relationship = { table: "artist", name: "homeland" };
  const part = { remote_schema: "shop", remote_field: { country: { arguments: { code: "$country" } } } };
  const define = (column: string) => ({ to_remote_schema: { ...part, lhs_fields: [column] } });
  const create = (extraKeys: object) => run("pg_create_remote_relationship", { ...relationship, ...extraKeys });
  expect(await create({ definition: define("nothing") })).toMatchObject({
    code: "invalid-configuration",
    error: expect.stringContaining(
      'Inconsistent object: in table "artist": in remote relationship "homeland": column "nothing" does not exist',
    ),
  });
  expect(await create({ hasura_fields: ["country"], ...part })).toEqual(SUCCESS);
  const homeland = "{ artist(where: {id: {_eq: 1}}) { homeland { name } } }";
  expect(await ask(homeland)).toEqual({ data: { artist: [{ homeland: { name: "Sweden" } }] } });
  expect(await create({ definition: define("country") })).toMatchObject({
    code: "already-exists",
    error: 'field with name "homeland" already exists in table "artist"',
  });
  const remote_field = { countries: { arguments: { codes: ["$country"] } } };
  const changedDefinition = { to_remote_schema: { ...part, lhs_fields: ["country"], remote_field } };
  expect(await run("pg_update_remote_relationship", { ...relationship, definition: changedDefinition })).toEqual(
    SUCCESS,
  );
  expect(await ask(homeland)).toEqual({ data: { artist: [{ homeland: [{ name: "Sweden" }] }] } });
  const { sources } = await run("export_metadata", {});
  expect(sources[0].tables.find(({ table }: any) => table.name === "artist").remote_relationships).toEqual([
    { name: "homeland", definition: changedDefinition },
  ]);
  expect(await run("remove_remote_schema", { name: "shop" })).toMatchObject({ code: "dependency-error" });
  expect(await run("pg_delete_remote_relationship", relationship)).toEqual(SUCCESS);
  expect((await ask(homeland)).errors[0].message).toBe("field 'homeland' not found in type: 'artist'");
  expect(await run("pg_delete_remote_relationship", relationship)).toMatchObject({ code: "not-exists" });
});

test("X-RMT-11 a schema is read again on request, and stays if that fails", async () => {
  await run("add_remote_schema", { name: "shop", definition });
  const before = remote.introspections;
  await api.reload();
  await run("reload_metadata", {});
  expect(remote.introspections).toBe(before);
  expect(await run("reload_remote_schema", { name: "shop" })).toEqual(SUCCESS);
  expect(remote.introspections).toBe(before + 1);
  await run("reload_metadata", { reload_remote_schemas: ["shop"] });
  expect(remote.introspections).toBe(before + 2);
  remote.answer = () => ({ status: 500, text: "" });
  expect(await run("reload_remote_schema", { name: "shop" })).toMatchObject({
    code: "remote-schema-error",
    error: expect.stringContaining("its answer with status 500 is not a GraphQL result"),
  });
  remote.answer = undefined;
  expect(await ask()).toEqual({ data: { secret: "treasure" } });
  expect(await run("reload_remote_schema", { name: "none" })).toMatchObject({ code: "not-exists" });
});

test("X-RMT-11 introspection of a remote is answered as the remote sends it", async () => {
  await run("add_remote_schema", { name: "shop", definition });
  const { data } = await run("introspect_remote_schema", { name: "shop" });
  expect(data.__schema.queryType.name).toBe("Query");
  expect(await run("introspect_remote_schema", {})).toMatchObject({ error: 'key "name" not found' });
});

test("X-RMT-11 inconsistent remote schemas are listed and dropped", async () => {
  const metadata = {
    version: 3,
    sources: [],
    remote_schemas: [
      { name: "shop", definition, permissions: [{ role: "reader", definition: { schema: "type Query { x: Int }" } }] },
      { name: "lost", definition: {} },
    ],
  };
  expect(await run("replace_metadata", { allow_inconsistent_metadata: true, metadata })).toEqual(SUCCESS);
  const { inconsistent_objects: objects } = await run("get_inconsistent_metadata", {});
  expect(objects.map(({ name, type }: any) => [name, type])).toEqual([
    ["remote_schema lost", "remote_schema"],
    ["remote_schema_permission shop", "remote_schema_permission"],
  ]);
  expect(await run("drop_inconsistent_metadata", {})).toEqual(SUCCESS);
  expect((await run("export_metadata", {})).remote_schemas).toEqual([{ name: "shop", definition }]);
});
