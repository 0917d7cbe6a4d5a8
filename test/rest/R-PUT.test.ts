import { expect, test } from "vitest";
import { rolledBack, startApi } from "../support/api.ts";
import { cases } from "../support/cases.ts";

const api = await startApi();

const representation = rolledBack("return=representation");
const invalidFilters = {
  code: "PGRST105",
  details: null,
  hint: null,
  message: "Filters must include all and only primary key columns with 'eq' operators",
};
const mismatch = {
  code: "PGRST115",
  details: null,
  hint: null,
  message: "Payload values do not match URL in primary key column(s)",
};

cases(api, [
  {
    title: "R-PUT-1 PUT inserts the row that its key names",
    request: "PUT /ports?id=eq.7",
    headers: representation,
    body: { id: 7, name: "Hull" },
    status: 201,
    answer: [{ id: 7, name: "Hull", country: null }],
  },
  {
    title: "R-PUT-1 PUT accepts a key of two columns",
    request: "PUT /crew?vessel_id=eq.1&sailor_id=eq.1&select=rank",
    headers: representation,
    body: { vessel_id: 1, sailor_id: 1, rank: "cook" },
    status: 200,
    answer: [{ rank: "cook" }],
  },
  {
    title: "R-PUT-1 PUT on a view uses the derived key",
    request: "PUT /fleet?id=eq.1&select=name",
    headers: representation,
    body: { id: 1, name: "New" },
    status: 200,
    answer: [{ name: "New" }],
  },
  {
    title: "R-PUT-1 PUT accepts orders of embeds",
    request: "PUT /ports?id=eq.1&select=vessels(name)&vessels.order=name.desc",
    headers: representation,
    body: { id: 1, name: "A" },
    answer: [{ vessels: [{ name: "Fram" }, { name: "Ariel" }] }],
  },
  ...[
    ["another column", "/ports?name=eq.Hull"],
    ["a column too many", "/ports?id=eq.7&name=eq.Hull"],
    ["no filter", "/ports"],
    ["a part of the key", "/crew?vessel_id=eq.1"],
    ["another operator", "/ports?id=gt.7"],
    ["a negation", "/ports?id=not.eq.7"],
    ["a quantifier", "/ports?id=eq(any).{7}"],
    ["a JSON path", "/ports?id->a=eq.7"],
    ["a tree", "/ports?id=eq.7&or=(id.eq.7)"],
    ["a filter on an embed", "/ports?id=eq.7&select=*,vessels(*)&vessels.id=eq.1"],
    ["no primary key", "/logbook?entry=eq.x"],
  ].map(([what, path]) => ({
    title: `R-PUT-1 PUT is rejected: ${what}`,
    request: `PUT ${path}`,
    headers: representation,
    body: { id: 7, name: "Hull" },
    status: 405,
    answer: invalidFilters,
  })),
  {
    title: "R-PUT-1 invalid filters of PUT are reported before errors of the columns",
    request: "PUT /ports?name=eq.Hull",
    body: { nope: 1 },
    status: 405,
    answer: invalidFilters,
  },

  {
    title: "R-PUT-2 R-RNG-1a PUT rejects a limit",
    request: "PUT /ports?id=eq.7&limit=1",
    body: { id: 7, name: "Hull" },
    status: 400,
    answer: {
      code: "PGRST114",
      details: null,
      hint: null,
      message: "limit/offset querystring parameters are not allowed for PUT",
    },
  },
  {
    title: "R-PUT-2 R-RNG-1a PUT rejects an offset",
    request: "PUT /ports?id=eq.7&offset=1",
    body: { id: 7, name: "Hull" },
    status: 400,
    check: (answer) => expect(answer.json().code).toBe("PGRST114"),
  },
  {
    title: "R-PUT-2 a negative limit of PUT is reported as an invalid range",
    request: "PUT /ports?id=eq.7&limit=-1",
    body: { id: 7, name: "Hull" },
    status: 416,
  },
  {
    title: "R-PUT-2 PUT ignores the Range header",
    request: "PUT /ports?id=eq.7",
    headers: { ...rolledBack(), range: "0-0" },
    body: { id: 7, name: "Hull" },
    status: 204,
  },

  {
    title: "R-PUT-3 PUT rejects a body with another key",
    request: "PUT /ports?id=eq.7",
    headers: representation,
    body: { id: 8, name: "Hull" },
    status: 400,
    answer: mismatch,
  },
  {
    title: "R-PUT-3 PUT drops rows with other keys",
    request: "PUT /ports?id=eq.7&select=id,name",
    headers: representation,
    body: [
      { id: 8, name: "Other" },
      { id: 7, name: "Hull" },
    ],
    status: 201,
    answer: [{ id: 7, name: "Hull" }],
  },
  {
    title: "R-PUT-3 PUT rejects a body of only rows with other keys",
    request: "PUT /ports?id=eq.7",
    headers: representation,
    body: [
      { id: 8, name: "A" },
      { id: 9, name: "B" },
    ],
    status: 400,
    answer: mismatch,
  },
  ...[{}, [], [{}], { name: "Hull" }].map((body) => ({
    title: `R-PUT-3 PUT rejects a body without the key: ${JSON.stringify(body)}`,
    request: "PUT /ports?id=eq.7",
    body,
    status: 400,
    answer: { code: "42703", details: null, hint: null, message: "column pgrst_body.id does not exist" },
  })),

  {
    title: "R-PUT-4 PUT that inserts without a representation has no body",
    request: "PUT /ports?id=eq.7",
    headers: rolledBack(),
    body: { id: 7, name: "Hull" },
    status: 204,
    bytes: "",
    responseHeaders: { "Content-Range": null },
  },
  {
    title: "R-PUT-4 PUT that updates without a representation is 204",
    request: "PUT /ports?id=eq.1",
    headers: rolledBack(),
    body: { id: 1, name: "Hull" },
    status: 204,
  },
  {
    title: "R-PUT-4 PUT keeps the values of columns that the body does not name",
    request: "PUT /ports?id=eq.1",
    headers: representation,
    body: { id: 1, name: "Hull" },
    status: 200,
    answer: [{ id: 1, name: "Hull", country: "NO" }],
  },
  {
    title: "R-PUT-4 resolution and missing have no effect on PUT and are not echoed",
    request: "PUT /ports?id=eq.1",
    headers: rolledBack("resolution=ignore-duplicates", "missing=default", "return=representation"),
    body: { id: 1, name: "Hull" },
    status: 200,
    answer: [{ id: 1, name: "Hull", country: "NO" }],
    responseHeaders: { "Preference-Applied": "return=representation, tx=rollback" },
  },
  {
    title: "R-PUT-4 PUT returns an object for the object type",
    request: "PUT /ports?id=eq.7&select=name",
    headers: { ...representation, accept: "application/vnd.pgrst.object+json" },
    body: { id: 7, name: "Hull" },
    status: 201,
    answer: { name: "Hull" },
  },

  {
    title: "R-PUT-5 PUT accepts a key column that is filtered twice by the same value",
    request: "PUT /ports?id=eq.7&id=eq.7&select=name",
    headers: representation,
    body: { id: 7, name: "Hull" },
    status: 201,
    answer: [{ name: "Hull" }],
  },
]);

test("R-PUT-3 PUT with another key in its body writes nothing", async () => {
  expect((await api.put("/ports?id=eq.7", { body: { id: 8, name: "Hull" } })).status).toBe(400);
  expect((await api.get("/ports?id=in.(7,8)")).json()).toEqual([]);
});
