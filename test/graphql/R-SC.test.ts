/** Schemas of roles are made as far as documents use them. */
import { describe, expect, test } from "vitest";
import { asAdmin, forGraphql, startApi } from "../support/api.ts";
import { schemaOf } from "../support/schema.ts";

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
