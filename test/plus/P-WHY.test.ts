/** Reports why a response is empty: docs/guides/why-is-it-empty.md. */
import { describe, expect, test } from "vitest";
import { definePlugin, transactionEndedSignal, without } from "../../core/index.ts";
import { plus } from "../../presets/index.ts";
import { asAdmin, forGraphql, startApi, type Answer, type HeaderValues } from "../support/api.ts";
import { buildMetadataDocument, permissions, table } from "../support/metadata-document.ts";
import { bearer } from "../support/tokens.ts";

const api = await startApi({ preset: plus, explainEmpty: "roles" });
await api.sql(`
  create table sea.buoy (id int primary key, owner text not null, depth int not null, label text);
  insert into sea.buoy select n, (array['ann', 'bob', 'cy'])[n % 3 + 1], n, 'b' || n from generate_series(1, 30) as n;
  alter table sea.buoy enable row level security;
  create policy own on sea.buoy to sea_clerk using (owner = current_setting('request.jwt.claims', true)::json->>'sub');
  create policy deep on sea.buoy as restrictive to sea_clerk using (depth > 6);
  create policy everything on sea.buoy to sea_auditor using (true);
  grant select, update, delete on sea.buoy to sea_clerk, sea_anon`);
await api.reload();
const adminsApi = await startApi({ preset: plus, explainEmpty: "admin" });
const disabledApi = await startApi({ preset: plus });

const WHY_HEADER = { "x-relapi-why": "yes" };
const ann = bearer({ role: "sea_clerk", sub: "ann" });
const PATH = "/buoy?select=id&depth=lt.20&label=eq.b1";

const readExplanation = (answer: Answer): any => JSON.parse(answer.headers["x-relapi-why"] ?? "null");

describe("explanations", () => {
  test("P-WHY-2 P-WHY-3 a role receives an explanation for the rows that it may see", async () => {
    const answer = await api.get(PATH, { headers: { ...ann, ...WHY_HEADER } });
    expect([answer.status, answer.json()]).toEqual([200, []]);
    expect(readExplanation(answer)).toEqual({
      role: "sea_clerk",
      relations: [
        {
          relation: "sea.buoy",
          rows: [
            { seen: 8 },
            { filter: 4, condition: 'depth lt "20"' },
            { filter: 0, condition: 'label eq "b1"' },
            { returned: 0 },
          ],
        },
      ],
    });
  });

  test("P-WHY-2 offset and limit are steps of the explanation on both surfaces", async () => {
    const fetchRows = async (path: string, headers = {}): Promise<unknown> =>
      readExplanation(await api.get(path, { headers: { ...ann, ...WHY_HEADER, ...headers } })).relations[0].rows;
    expect(await fetchRows("/buoy?offset=5000")).toEqual([
      { seen: 8 },
      { offset: 0, condition: "5000" },
      { returned: 0 },
    ]);
    expect(await fetchRows("/buoy?select=id&depth=lt.20&offset=1&limit=2")).toEqual([
      { seen: 8 },
      { filter: 4, condition: 'depth lt "20"' },
      { offset: 3, condition: "1" },
      { limit: 2, condition: "2" },
      { returned: 2 },
    ]);
    expect(await fetchRows("/buoy", { range: "0-2" })).toEqual([
      { seen: 8 },
      { limit: 3, condition: "3" },
      { returned: 3 },
    ]);
  });

  test("P-WHY-2 the response is unchanged, and later requests get no explanation", async () => {
    const plain = await api.get("/buoy?order=id", { headers: ann });
    const explainedAnswer = await api.get("/buoy?order=id", { headers: { ...ann, ...WHY_HEADER } });
    expect(explainedAnswer.text).toBe(plain.text);
    expect(readExplanation(explainedAnswer).relations[0].rows).toEqual([{ seen: 8 }, { returned: 8 }]);
    expect((await api.get("/buoy?order=id", { headers: ann })).headers["x-relapi-why"]).toBeUndefined();
  });

  test("P-WHY-3 an administrator receives an explanation of row policies, as the role", async () => {
    for (const target of [api, adminsApi]) {
      const answer = await target.get(PATH, { headers: { ...asAdmin("sea_clerk"), ...WHY_HEADER } });
      expect([answer.status, answer.json()]).toEqual([200, []]);
      expect(readExplanation(answer)).toEqual({
        role: "sea_clerk",
        relations: [
          {
            relation: "sea.buoy",
            rows: [
              { table: 30 },
              { policies: 0 },
              { filter: 0, condition: 'depth lt "20"' },
              { filter: 0, condition: 'label eq "b1"' },
              { returned: 0 },
            ],
            policies: [
              { name: "own", passes: 0 },
              { name: "deep", isRestrictive: true, passes: 24 },
            ],
            forOthers: ["everything"],
          },
        ],
      });
    }
  });

  test("P-WHY-2 writes are explained and run once", async () => {
    const patch = (label: string) =>
      api.patch(`/buoy?depth=gt.10&label=eq.${label}`, {
        headers: { ...ann, ...WHY_HEADER, prefer: "return=representation" },
        body: { label: "b15!" },
      });
    const buildSteps = (rowCount: number, label: string) => [
      {
        relation: "sea.buoy",
        command: "update",
        rows: [
          { seen: 8 },
          { filter: 7, condition: 'depth gt "10"' },
          { filter: rowCount, condition: `label eq "${label}"` },
        ],
      },
    ];
    const emptyPatchAnswer = await patch("nothing");
    expect([emptyPatchAnswer.json(), readExplanation(emptyPatchAnswer).relations]).toEqual([
      [],
      buildSteps(0, "nothing"),
    ]);
    const patchAnswer = await patch("b15");
    expect([patchAnswer.json(), readExplanation(patchAnswer).relations]).toEqual([
      [expect.objectContaining({ id: 15 })],
      buildSteps(1, "b15"),
    ]);
    const deleteAnswer = await api.delete("/buoy?id=eq.30", {
      headers: { ...bearer({ role: "sea_clerk", sub: "ann" }), ...WHY_HEADER },
    });
    expect(deleteAnswer.status).toBe(204);
    expect(await api.sql("select count(*)::int as n from sea.buoy")).toEqual([{ n: 29 }]);
    await api.sql("insert into sea.buoy values (30, 'ann', 30, 'b30')");
  });

  test("P-WHY-2 embeds are explained, with texts that a header cannot contain", async () => {
    const answer = await api.get("/ports?select=name,vessels!inner(name)&vessels.name=eq.%C3%BCn%C3%AF", {
      headers: { ...ann, ...WHY_HEADER },
    });
    expect(answer.rawHeaders.find(([name]) => name === "X-Relapi-Why")?.[1]).toMatch(/^[\x20-\x7e]+$/);
    const [ports, vessels] = readExplanation(answer).relations;
    expect(ports.rows).toEqual([{ seen: 2 }, { embed: 0, condition: "vessels" }, { returned: 0 }]);
    expect(vessels).toMatchObject({
      relation: "sea.vessels",
      of: "all parents",
      rows: [{ seen: 3 }, { filter: 0, condition: 'name eq "ünï"' }],
    });
  });

  test("P-WHY-4 a long explanation is shortened with a note", async () => {
    const filters = Array.from({ length: 60 }, (_, i) => `label=neq.${"x".repeat(100)}${i}`).join("&");
    const answer = await api.get(`/buoy?${filters}`, { headers: { ...ann, ...WHY_HEADER } });
    expect(answer.status).toBe(200);
    expect(readExplanation(answer)).toEqual({
      role: "sea_clerk",
      relations: [],
      note: expect.stringContaining("too long"),
    });
  });

  test("P-WHY-4 a request that fails has no explanation", async () => {
    const answer = await api.get("/buoy?depth=eq.x", { headers: { ...ann, ...WHY_HEADER } });
    expect([answer.status, readExplanation(answer)]).toEqual([400, null]);
  });
});

describe("GraphQL, with permissions of the metadata", async () => {
  const graphqlApi = await startApi({
    ...forGraphql(),
    preset: plus,
    explainEmpty: "roles",
    metadata: buildMetadataDocument([
      table("album", {
        select_permissions: permissions({ reader: { columns: ["id", "title"], filter: { id: { _lt: 3 } } } }),
      }),
    ]),
  });
  const ask = (headers: Readonly<Record<string, unknown>>) =>
    graphqlApi.post("/v1/graphql", {
      headers: { ...headers, ...WHY_HEADER } as never,
      body: { query: "query ($t: String) { album(where: { title: { _eq: $t } }) { id } }", variables: { t: "none" } },
    });

  test("P-WHY-3 an administrator receives the permission and its condition", async () => {
    const [{ total } = {}] = await graphqlApi.sql("select count(*)::int as total from album");
    const answer = await ask(asAdmin("reader"));
    expect(answer.json()).toEqual({ data: { album: [] } });
    expect(readExplanation(answer).relations[0].rows).toEqual([
      { table: total },
      { permission: 2, condition: 'id lt "3"' },
      { filter: 0, condition: 'title eq "none"' },
      { returned: 0 },
    ]);
  });

  test("P-WHY-3 a role receives neither hidden rows nor the condition of its permission", async () => {
    const token = bearer({
      "https://hasura.io/jwt/claims": { "x-hasura-default-role": "reader", "x-hasura-allowed-roles": ["reader"] },
    });
    const answer = await ask(token);
    expect(answer.json()).toEqual({ data: { album: [] } });
    expect(readExplanation(answer).relations[0].rows).toEqual([
      { seen: 2 },
      { filter: 0, condition: 'title eq "none"' },
      { returned: 0 },
    ]);
  });
});

test("P-WHY-5 without the header, or with the setting off, a request has its own transaction only", async () => {
  let transactionCount = 0;
  const watch = definePlugin({
    name: "watch",
    apply: (_, context) => context.use(transactionEndedSignal).listen(() => transactionCount++),
  });
  const countFor = async (explainEmpty: "roles" | "off", headers: HeaderValues): Promise<number> => {
    const watchedApi = await startApi({ preset: plus, explainEmpty, parts: [watch], on: api.database });
    transactionCount = 0;
    expect((await watchedApi.get(PATH, { headers })).status).toBe(200);
    await watchedApi.close();
    return transactionCount;
  };
  expect(await countFor("roles", ann)).toBe(1);
  expect(await countFor("off", { ...ann, ...WHY_HEADER })).toBe(1);
  expect(await countFor("roles", { ...ann, ...WHY_HEADER })).toBeGreaterThan(1);
});

describe("callers who get an explanation", () => {
  test("P-WHY-1 anonymous callers never receive an explanation", async () => {
    for (const target of [api, adminsApi, disabledApi]) {
      const answer = await target.get(PATH, { headers: WHY_HEADER });
      expect([answer.status, readExplanation(answer)]).toEqual([200, null]);
    }
    expect(
      readExplanation(await api.get(PATH, { headers: { ...WHY_HEADER, ...bearer({ role: "sea_anon" }) } })),
    ).toBeNull();
  });

  test("P-WHY-1 with the setting admin only administrators receive an explanation", async () => {
    expect(readExplanation(await adminsApi.get(PATH, { headers: { ...ann, ...WHY_HEADER } }))).toBeNull();
    const wrong = await adminsApi.get(PATH, { headers: { ...ann, ...WHY_HEADER, "x-session-admin-secret": "guess" } });
    expect([wrong.status >= 400, readExplanation(wrong)]).toEqual([true, null]);
  });

  test("P-WHY-1 explanations are off by default, and without the plugin the header is unknown", async () => {
    expect(
      readExplanation(await disabledApi.get(PATH, { headers: { ...asAdmin("sea_clerk"), ...WHY_HEADER } })),
    ).toBeNull();
    const plainApi = await startApi({
      preset: plus,
      parts: [without("why-empty")],
      explainEmpty: "roles",
    });
    expect(readExplanation(await plainApi.get(PATH, { headers: { ...ann, ...WHY_HEADER } }))).toBeNull();
  });
});
