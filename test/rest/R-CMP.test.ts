import { expect, test } from "vitest";
import { startApi } from "../support/api.ts";
import { cases } from "../support/cases.ts";

const api = await startApi();
const narrow = await startApi({ dbExtraSearchPath: [], on: api.database });

const unknown = {
  status: 400,
  check: (answer: { json(): { readonly code: string } }) => expect(answer.json().code).toBe("42703"),
};
const represented = { prefer: "return=representation, tx=rollback" };

cases(api, [
  {
    title: "R-CMP-1 in select",
    request: "GET /vessels?select=name,heavy&order=id",
    answer: [
      { name: "Ariel", heavy: true },
      { name: "Fram", heavy: true },
      { name: "Gjoa", heavy: false },
    ],
  },
  {
    title: "R-CMP-1 aliased, cast, with a path",
    request: "GET /vessels?select=h:heavy::text,dims->>length&id=eq.1",
    answer: [{ h: "true", length: "85" }],
  },
  { title: "R-CMP-1 in filters", request: "GET /vessels?select=id&label=eq.Fram %232", answer: [{ id: 2 }] },
  {
    title: "R-CMP-1 in trees",
    request: 'GET /vessels?select=id&or=(label.eq."Fram #2",heavy.is.false)&order=id',
    answer: [{ id: 2 }, { id: 3 }],
  },
  {
    title: "R-CMP-1 in orders",
    request: "GET /vessels?select=id&order=label.desc",
    answer: [{ id: 3 }, { id: 2 }, { id: 1 }],
  },
  {
    title: "R-CMP-1 never through a star",
    request: "GET /ports?id=eq.1",
    answer: [{ id: 1, name: "Oslo", country: "NO" }],
  },
  {
    title: "R-CMP-1 overloads by row type",
    request: "GET /vessels?select=label,ports(label)&id=eq.1",
    answer: [{ label: "Ariel #1", ports: { label: "Oslo (NO)" } }],
  },
  {
    title: "R-CMP-1 in to-many embeds",
    request: "GET /ports?select=vessels(label)&vessels.heavy=is.true&vessels.order=label&id=eq.1",
    answer: [{ vessels: [{ label: "Ariel #1" }, { label: "Fram #2" }] }],
  },
  {
    title: "R-CMP-1 in spreads",
    request: "GET /voyages?select=id,...vessels(label)&id=eq.3",
    answer: [{ id: 3, label: "Fram #2" }],
  },
  {
    title: "R-CMP-1 in function results",
    request: "GET /rpc/vessels_of?port=1&select=label&heavy=is.true",
    answer: [{ label: "Ariel #1" }, { label: "Fram #2" }],
  },
  {
    title: "R-CMP-1 in representations of POST",
    request: "POST /vessels?select=label",
    headers: represented,
    body: { id: 900, name: "Vega" },
    status: 201,
    answer: [{ label: "Vega #900" }],
  },
  {
    title: "R-CMP-1 in representations of PATCH",
    request: "PATCH /vessels?select=label,heavy&id=eq.3",
    headers: represented,
    body: { tonnage: 500 },
    answer: [{ label: "Gjoa #3", heavy: true }],
  },
  {
    title: "R-CMP-1 in representations of DELETE",
    request: "DELETE /vessels?select=label&id=eq.3",
    headers: represented,
    answer: [{ label: "Gjoa #3" }],
  },
  {
    title: "R-CMP-1 as the condition of a write",
    request: "PATCH /vessels?heavy=is.false&select=id",
    headers: represented,
    body: { flags: [] },
    answer: [{ id: 3 }],
  },
  {
    title: "R-CMP-1 in the extra search path",
    request: "GET /vessels?select=hull_code&hull_code=eq.H2",
    answer: [{ hull_code: "H2" }],
  },
  { title: "R-CMP-1 outside the search path", request: "GET /vessels?select=secret_label", ...unknown },
  {
    title: "R-CMP-1 outside the search path in filters",
    request: "GET /vessels?select=id&secret_label=eq.secret",
    ...unknown,
  },
  { title: "R-CMP-1 not of another row type", request: "GET /ports?select=heavy", ...unknown },
]);

cases(narrow, [
  { title: "R-CMP-1 the search path is that of the request", request: "GET /vessels?select=hull_code", ...unknown },
]);

test("R-CMP-1 functions of another exposed schema are outside the search path", async () => {
  await api.sql(`
    create function land.afar(sea.vessels) returns text language sql stable as $$ select 'land' $$;
    create function land.near(sea.vessels) returns text language sql stable as $$ select 'land' $$;
    create function sea.near(sea.vessels) returns text language sql stable as $$ select 'sea' $$;
    grant usage on schema land to sea_anon`);
  const own = await startApi({ dbSchemas: ["land", "sea"], on: api.database });
  const get = async (select: string) =>
    (await own.get(`/vessels?select=${select}&id=eq.1`, { headers: { "accept-profile": "sea" } })).json();
  expect((await get("afar")).code).toBe("42703");
  expect(await get("near")).toEqual([{ near: "sea" }]);
  const written = await own.patch("/vessels?select=near&id=eq.1", {
    headers: { ...represented, "content-profile": "sea" },
    body: { flags: [] },
  });
  expect(written.json()).toEqual([{ near: "sea" }]);
});
