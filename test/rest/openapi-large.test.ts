/** A document that is too long for the cache is sent while it is written. */
import { request as httpRequest, type IncomingMessage } from "node:http";
import { beforeAll, expect, test } from "vitest";
import { startApi, type TestApi } from "../support/api.ts";
import { testDatabase } from "../support/database.ts";

const TABLES = 60;
const COLUMNS = 300;

let api: TestApi;

beforeAll(async () => {
  const db = await testDatabase();
  const columns = Array.from({ length: COLUMNS }, (_, i) => `a_column_of_the_number_${i} int`).join(", ");
  const tables = Array.from({ length: TABLES }, (_, i) => `create table wide.t${i} (id int primary key, ${columns})`);
  await db.query(`create schema wide; grant usage on schema wide to sea_anon; ${tables.join(";")};
    alter table wide.t1 add foreign key (a_column_of_the_number_0) references wide.t0;
    grant select on all tables in schema wide to sea_anon; revoke select on wide.t7 from sea_anon`);
  api = await startApi({ dbSchemas: ["wide"] });
});

const open = (path: string): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    httpRequest(new URL(path, api.url), resolve).on("error", reject).end();
  });

test.each([
  ["/", "definitions"],
  ["/openapi.json", "components"],
])("R-OAS-9 %s is sent completely in pieces", async (path, part) => {
  const response = await open(`/api${path}`);
  expect(response.statusCode).toBe(200);
  expect(response.headers["content-length"]).toBeUndefined();
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  expect(text.length).toBeGreaterThan(4 * 1024 * 1024);
  const document = JSON.parse(text) as Record<string, any>; // the test reads any version
  const names = Object.keys(document["paths"]).filter((name) => name !== "/");
  expect(names).toEqual(
    Array.from({ length: TABLES }, (_, i) => `/t${i}`)
      .filter((name) => name !== "/t7")
      .sort(),
  );
  const rows = part === "definitions" ? document["definitions"] : document["components"].schemas;
  expect(Object.keys(rows["t59"].properties)).toHaveLength(COLUMNS + 1);
  if (part === "definitions")
    expect(rows["t1"].properties.a_column_of_the_number_0.description).toContain("Foreign Key to `t0.id`");
});

test("R-OAS-9 a client that disconnects ends the document, and other requests are served", async () => {
  const abortedResponse = await open("/api/");
  await new Promise((resolve) => abortedResponse.once("data", resolve));
  abortedResponse.destroy();
  expect((await api.get("/t1?select=id")).status).toBe(200);
  const secondResponse = await open("/api/");
  let bytes = 0;
  for await (const chunk of secondResponse) bytes += (chunk as Buffer).length;
  expect(bytes).toBeGreaterThan(4 * 1024 * 1024);
});

test("R-OAS-9 X-CALL-1 a call of the application receives the whole document", async () => {
  const { body } = await api.relApi.rest({ path: "/", session: { role: "sea_anon" } });
  expect(Object.keys(JSON.parse(String(body)).definitions)).toHaveLength(TABLES - 1);
});

test("R-OAS-9 HEAD does not build the document", async () => {
  const head = await api.request("HEAD", "/");
  expect(head.status).toBe(200);
  expect(head.headers["content-type"]).toContain("json");
});
