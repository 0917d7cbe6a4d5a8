/** Schemas of roles are made as far as documents use them. */
import { describe, expect, test } from "vitest";
import { asAdmin, forGraphql, startApi } from "../support/api.ts";
import { INTROSPECTION, schemaOf } from "../support/schema.ts";

const ROLES = [undefined, "music_reader", "music_editor", "music_nobody"];

describe.each(["hasura-default", "graphql-default"] as const)("R-SC-12 names by %s", (defaultNamingConvention) => {
  test.each(ROLES)("R-SC-12 role %s finds each root field of its schema by the name alone", async (role) => {
    const api = await startApi(forGraphql({ defaultNamingConvention }));
    const schema = await schemaOf(api, role);
    const lost: string[] = [];
    let found = 0;
    for (const [kind, root] of Object.entries(schema.roots)) {
      if (root === undefined || kind === "subscription") continue;
      for (const name of Object.keys(schema.members(root))) {
        // incomplete, so that nothing runs
        const answer = await api.gql(`${kind} { ${name} }`, {}, asAdmin(role));
        if (JSON.stringify(answer.errors ?? []).includes("not found in type")) lost.push(`${root}.${name}`);
        else found++;
      }
    }
    expect(lost).toEqual([]);
    expect(found).toBeGreaterThan(role === "music_nobody" ? 0 : 20);
  });
});

describe("R-SC-13", () => {
  test("R-SC-13 introspection asked again, alone and beside other fields, is the same", async () => {
    const api = await startApi(forGraphql());
    const first = await api.gql(INTROSPECTION);
    await new Promise((resolve) => setTimeout(resolve, 300)); // it is kept when it has gone out
    expect(await api.gql(INTROSPECTION)).toEqual(first);
    const beside = `{ artist(limit: 1) { id } one: __type(name: "artist") { name } ${INTROSPECTION.slice(1, -1)} two: __type(name: "nowhere") { name } }`;
    const { data } = await api.gql(beside);
    expect(Object.keys(data)).toEqual(["artist", "one", "__schema", "two"]);
    expect(data).toMatchObject({ one: { name: "artist" }, two: null, __schema: first.data.__schema });
    expect((await api.gql(beside)).data).toEqual(data);
  });

  test("R-SC-13 each role has its own", async () => {
    const api = await startApi(forGraphql());
    const names = async (role?: string): Promise<string> =>
      JSON.stringify(await api.gql("{ __schema { types { name } } }", {}, asAdmin(role)));
    const [admin, reader] = [await names(), await names("music_reader")];
    expect(admin).not.toBe(reader);
    expect([await names(), await names("music_reader")]).toEqual([admin, reader]);
  });
});
