import { expect, test } from "vitest";
import { rolledBack, startApi, uncountedRange } from "../support/api.ts";
import { cases } from "../support/cases.ts";
import { bearer } from "../support/tokens.ts";

const api = await startApi();

const representation = rolledBack("return=representation");
const keyOnly = rolledBack("return=headers-only");
const rollback = rolledBack();

const noBody = { "Content-Type": null, "Content-Profile": null } as const;

cases(api, [
  // Statuses and headers by method and preference.
  {
    title: "R-WRT-1 POST without a preference for its return has no body",
    request: "POST /ports",
    headers: rollback,
    body: { name: "A" },
    status: 201,
    bytes: "",
    responseHeaders: {
      ...noBody,
      "Content-Length": "0",
      "Content-Range": uncountedRange("*"),
      "Range-Unit": "items",
      Location: null,
    },
  },
  {
    title: "R-WRT-1 POST with return=minimal returns no body",
    request: "POST /ports",
    headers: rolledBack("return=minimal"),
    body: { name: "A" },
    status: 201,
    bytes: "",
    responseHeaders: {
      ...noBody,
      "Content-Length": "0",
      Location: null,
      "Preference-Applied": "return=minimal, tx=rollback",
    },
  },
  {
    title: "R-WRT-1 POST with return=representation returns the rows",
    request: "POST /ports?select=name",
    headers: representation,
    body: { name: "A" },
    status: 201,
    bytes: '[{"name":"A"}]',
    responseHeaders: {
      "Content-Type": "application/json; charset=utf-8",
      "Content-Length": "14",
      "Content-Range": uncountedRange("*"),
      Location: null,
    },
  },
  {
    title: "R-WRT-1 POST with a count reports it in Content-Range",
    request: "POST /ports",
    headers: rolledBack("count=exact"),
    body: [{ name: "A" }, { name: "B" }],
    status: 201,
    responseHeaders: { "Content-Range": "*/2", "Range-Unit": "items" },
  },
  {
    title: "R-CNT-4 a planned count of a write is not reported",
    request: "POST /ports",
    headers: rolledBack("count=planned"),
    body: { name: "A" },
    responseHeaders: { "Content-Range": uncountedRange("*"), "Preference-Applied": "count=planned, tx=rollback" },
  },
  {
    title: "R-CNT-4 an estimated count of a write is exact",
    request: "DELETE /vessels",
    headers: rolledBack("count=estimated"),
    responseHeaders: { "Content-Range": "*/3" },
  },
  {
    title: "R-WRT-1 PATCH without a requested representation is 204",
    request: "PATCH /vessels?id=lt.4",
    headers: rollback,
    body: { tonnage: 1 },
    status: 204,
    bytes: "",
    responseHeaders: { ...noBody, "Content-Length": null, "Content-Range": uncountedRange("0-2"), Location: null },
  },
  {
    title: "R-WRT-1 PATCH with return=headers-only has no Location",
    request: "PATCH /vessels?id=eq.1",
    headers: keyOnly,
    body: { tonnage: 1 },
    status: 204,
    responseHeaders: { Location: null, "Preference-Applied": "return=headers-only, tx=rollback" },
  },
  {
    title: "R-WRT-1 PATCH with return=representation returns the rows",
    request: "PATCH /vessels?id=lt.3&select=id,tonnage",
    headers: rolledBack("return=representation", "count=exact"),
    body: { tonnage: 1 },
    status: 200,
    answer: [
      { id: 1, tonnage: 1 },
      { id: 2, tonnage: 1 },
    ],
    responseHeaders: { "Content-Range": "0-1/2" },
  },
  {
    title: "R-WRT-1 PUT without a requested representation is 204",
    request: "PUT /ports?id=eq.7",
    headers: rollback,
    body: { id: 7, name: "A" },
    status: 204,
    bytes: "",
    responseHeaders: { ...noBody, "Content-Length": null, "Content-Range": null, "Range-Unit": null },
  },
  {
    title: "R-WRT-1 PUT with return=headers-only has no Location",
    request: "PUT /ports?id=eq.7",
    headers: keyOnly,
    body: { id: 7, name: "A" },
    status: 204,
    responseHeaders: { Location: null, "Content-Range": null },
  },
  {
    title: "R-WRT-1 DELETE without a requested representation is 204",
    request: "DELETE /vessels?id=lt.3",
    headers: rollback,
    status: 204,
    bytes: "",
    responseHeaders: { ...noBody, "Content-Length": null, "Content-Range": uncountedRange("*") },
  },
  {
    title: "R-WRT-1 DELETE with a count reports it in Content-Range",
    request: "DELETE /vessels?id=lt.4",
    headers: rolledBack("count=exact"),
    status: 204,
    responseHeaders: { "Content-Range": "*/3" },
  },
  {
    title: "R-WRT-1 DELETE with return=representation returns the rows as they were",
    request: "DELETE /vessels?id=eq.3&select=id,name",
    headers: representation,
    status: 200,
    answer: [{ id: 3, name: "Gjoa" }],
    responseHeaders: { "Content-Range": uncountedRange("*") },
  },
  {
    title: "R-WRT-1 a write without a representation ignores unknown names in select",
    request: "POST /ports?select=nope,alsonope(*)",
    headers: rollback,
    body: { name: "A" },
    status: 201,
  },
  {
    title: "R-WRT-1 a write without a representation reports a syntax error in select",
    request: "POST /ports?select=id,",
    headers: rollback,
    body: { name: "A" },
    status: 400,
  },

  // The header Location.
  {
    title: "R-WRT-2 Location names the key of the created row",
    request: "POST /ports",
    headers: keyOnly,
    body: { id: 12, name: "Bergen" },
    status: 201,
    bytes: "",
    responseHeaders: { Location: "/ports?id=eq.12", "Content-Length": "0" },
  },
  {
    title: "R-WRT-2 Location has no prefix of the path",
    request: "POST /api/ports",
    headers: keyOnly,
    body: { id: 12, name: "Bergen" },
    responseHeaders: { Location: "/ports?id=eq.12" },
  },
  {
    title: "R-WRT-2 Location names both columns of a key",
    request: "POST /crew",
    headers: keyOnly,
    body: { vessel_id: 1, sailor_id: 4 },
    responseHeaders: { Location: "/crew?vessel_id=eq.1&sailor_id=eq.4" },
  },
  {
    title: "R-WRT-2 Location escapes values",
    request: "POST /signals",
    headers: keyOnly,
    body: { code: "a b&c/é=1", meaning: "x" },
    responseHeaders: { Location: "/signals?code=eq.a%20b%26c%2F%C3%A9%3D1" },
  },
  {
    title: "R-WRT-2 Location escapes names",
    request: "POST /Deck Plans",
    headers: keyOnly,
    body: { "Plan No": 7 },
    responseHeaders: { Location: "/Deck%20Plans?Plan%20No=eq.7" },
  },
  {
    title: "R-WRT-2 Location names the derived key of a view",
    request: "POST /fleet",
    headers: keyOnly,
    body: { id: 77, name: "A" },
    responseHeaders: { Location: "/fleet?id=eq.77" },
  },
  {
    title: "R-WRT-2 Location names a null in a key by is.null",
    request: "POST /vessel_intake",
    headers: keyOnly,
    body: { name: "A" },
    status: 201,
    responseHeaders: { Location: /^\/vessel_intake\?.*=is\.null/ },
  },
  {
    title: "R-WRT-2 a relation without a primary key has no Location",
    request: "POST /logbook",
    headers: keyOnly,
    body: { entry: "x" },
    status: 201,
    responseHeaders: { Location: null },
  },
  {
    title: "R-WRT-2 a write of several rows has no Location",
    request: "POST /ports",
    headers: keyOnly,
    body: [{ name: "A" }, { name: "B" }],
    status: 201,
    responseHeaders: { Location: null },
  },
  {
    title: "R-WRT-2 a write without rows has no Location",
    request: "POST /ports",
    headers: keyOnly,
    body: [],
    status: 201,
    responseHeaders: { Location: null },
  },
  {
    title: "R-WRT-2 a response with a representation has no Location",
    request: "POST /ports",
    headers: representation,
    body: { name: "A" },
    status: 201,
    responseHeaders: { Location: null },
  },
  {
    title: "R-WRT-2 an upsert that updated its row has no Location",
    request: "POST /ports",
    headers: rolledBack("return=headers-only", "resolution=merge-duplicates"),
    body: { id: 1, name: "A" },
    status: 200,
    responseHeaders: { Location: null },
  },

  // Representation.
  {
    title: "R-WRT-3 a representation may contain embeds",
    request: "POST /vessels?select=name,ports(name)",
    headers: representation,
    body: { name: "A", home_port_id: 2 },
    status: 201,
    answer: [{ name: "A", ports: { name: "Leith" } }],
  },
  {
    title: "R-WRT-3 R-WRT-3a to-many embeds of deleted rows show their state before the statement",
    request: "DELETE /vessels?id=eq.2&select=name,voyages(id)",
    headers: representation,
    answer: [{ name: "Fram", voyages: [{ id: 3 }] }],
  },
  {
    title: "R-WRT-3 the filters of a write are not applied to its representation again",
    request: "PATCH /vessels?name=eq.Fram&select=name",
    headers: representation,
    body: { name: "Other" },
    status: 200,
    answer: [{ name: "Other" }],
  },
  {
    title: "R-WRT-3 order sorts the representation",
    request: "PATCH /vessels?select=name&order=name.desc",
    headers: representation,
    body: { tonnage: 1 },
    answer: [{ name: "Gjoa" }, { name: "Fram" }, { name: "Ariel" }],
  },
  {
    title: "R-ORD-6 orders of embeds sort the embeds of a representation",
    request: "PATCH /ports?id=eq.1&select=vessels(name)&vessels.order=name.desc",
    headers: representation,
    body: { country: "X" },
    answer: [{ vessels: [{ name: "Fram" }, { name: "Ariel" }] }],
  },
  {
    title: "R-WRT-3 filters on embeds apply to the representation",
    request: "PATCH /ports?id=eq.1&select=name,vessels(name)&vessels.tonnage=gt.500",
    headers: representation,
    body: { country: "X" },
    answer: [{ name: "Oslo", vessels: [{ name: "Ariel" }] }],
  },
  {
    title: "R-WRT-3 R-WRT-3b an inner embed trims the representation and the count, and not the write",
    request: "PATCH /vessels?select=name,ports!inner(name)",
    headers: rolledBack("return=representation", "count=exact"),
    body: { tonnage: 1 },
    answer: [
      { name: "Ariel", ports: { name: "Oslo" } },
      { name: "Fram", ports: { name: "Oslo" } },
    ],
    responseHeaders: { "Content-Range": "0-1/2" },
  },
  {
    title: "R-WRT-3 a write without matching rows returns an empty list",
    request: "PATCH /vessels?id=eq.99",
    headers: representation,
    body: { tonnage: 1 },
    status: 200,
    answer: [],
    responseHeaders: { "Content-Range": uncountedRange("*") },
  },
  {
    title: "R-RNG-1 R-RNG-1a a write ignores limit and offset",
    request: "PATCH /vessels?limit=1&offset=1&order=id&select=id",
    headers: representation,
    body: { tonnage: 1 },
    answer: [{ id: 1 }, { id: 2 }, { id: 3 }],
  },
  { title: "R-RNG-2 a write rejects a negative limit", request: "DELETE /vessels?limit=-1", status: 416 },
  {
    title: "R-CMP-1 a representation may contain computed fields",
    request: "PATCH /vessels?id=eq.1&select=label,heavy",
    headers: representation,
    body: { tonnage: 1 },
    answer: [{ label: "Ariel #1", heavy: false }],
  },

  // Returned columns.
  {
    title: "R-WRT-4 a role with only INSERT may write without a representation",
    request: "POST /ports",
    headers: rollback,
    role: "sea_writeonly",
    body: { name: "A" },
    status: 201,
  },
  {
    title: "R-WRT-4 DELETE without filters needs no SELECT grant",
    request: "DELETE /logbook",
    headers: rollback,
    role: "sea_writeonly",
    status: 204,
  },
  {
    title: "R-WRT-4 a representation reads only the selected columns and the key",
    request: "POST /vessels?select=id",
    headers: representation,
    role: "sea_writeonly",
    body: { id: 55, name: "A" },
    status: 201,
    answer: [{ id: 55 }],
  },
  {
    title: "R-WRT-4 a representation with a column that the role may not read is rejected",
    request: "POST /vessels?select=id,name",
    headers: representation,
    role: "sea_writeonly",
    body: { name: "A" },
    status: 403,
    check: (answer) => expect(answer.json().code).toBe("42501"),
  },
  {
    title: "R-WRT-4 a representation without select needs SELECT on every column",
    request: "POST /vessels",
    headers: representation,
    role: "sea_writeonly",
    body: { name: "A" },
    status: 403,
    check: (answer) => expect(answer.json().code).toBe("42501"),
  },

  // Writable relations.
  {
    title: "R-WRT-5 an updatable view can be updated",
    request: "PATCH /fleet_names?id=eq.1",
    headers: representation,
    body: { name: "New" },
    status: 200,
    answer: [{ id: 1, name: "New" }],
  },
  {
    title: "R-WRT-5 a view with INSTEAD OF triggers can be written",
    request: "POST /vessel_cards?select=name,port_name",
    headers: representation,
    body: { name: "A", port_name: "Leith" },
    status: 201,
    answer: [{ name: "A", port_name: "Leith" }],
  },
  {
    title: "R-WRT-5 a view with INSTEAD OF triggers returns its deleted rows",
    request: "DELETE /vessel_cards?id=eq.3&select=name",
    headers: representation,
    status: 200,
    answer: [{ name: "Gjoa" }],
  },
  {
    title: "R-WRT-5 a partitioned table can be written",
    request: "POST /soundings?select=id,depth",
    headers: representation,
    body: { id: 9, taken: "2024-05-05", depth: 1 },
    status: 201,
    answer: [{ id: 9, depth: 1 }],
  },
  {
    title: "R-WRT-5 a write to a read-only view is the database's error",
    request: "POST /all_names",
    body: { name: "A" },
    status: 500,
    check: (answer) => expect(answer.json().code).toBe("55000"),
  },

  // The object type.
  {
    title: "R-WRT-6 the object type accepts a write of one row",
    request: "PATCH /vessels?id=eq.1&select=name",
    headers: { ...representation, accept: "application/vnd.pgrst.object+json" },
    body: { name: "New" },
    status: 200,
    bytes: '{"name":"New"}',
    responseHeaders: { "Content-Type": "application/vnd.pgrst.object+json; charset=utf-8" },
  },
  {
    title: "R-WRT-6 the object type accepts a POST of one row",
    request: "POST /ports?select=name",
    headers: { ...representation, accept: "application/vnd.pgrst.object" },
    body: [{ name: "A" }],
    status: 201,
    answer: { name: "A" },
  },
  {
    title: "R-WRT-6 the object type rejects a write without rows",
    request: "PATCH /vessels?id=eq.99",
    headers: { ...representation, accept: "application/vnd.pgrst.object+json" },
    body: { name: "New" },
    status: 406,
    answer: {
      code: "PGRST116",
      details: "The result contains 0 rows",
      hint: null,
      message: "Cannot coerce the result to a single JSON object",
    },
  },
]);

const rows = async (): Promise<unknown> => (await api.get("/sailors?select=name,mentor_id&order=id")).json();

test("R-WRT-6 the object type rejects a write of several rows with any return, and writes nothing", async () => {
  const before = await rows();
  for (const prefer of ["return=minimal", "return=headers-only", "return=representation", ""]) {
    const answer = await api.patch("/sailors", {
      headers: { accept: "application/vnd.pgrst.object+json", prefer },
      body: { mentor_id: null },
    });
    expect(answer.status).toBe(406);
    expect(answer.json().details).toBe("The result contains 4 rows");
  }
  const insertAnswer = await api.post("/sailors", {
    headers: { accept: "application/vnd.pgrst.object+json" },
    body: [{ name: "X" }, { name: "Y" }],
  });
  expect(insertAnswer.json().code).toBe("PGRST116");
  const deleteAnswer = await api.delete("/logbook", { headers: { accept: "application/vnd.pgrst.object+json" } });
  expect(deleteAnswer.json().details).toBe("The result contains 2 rows");
  expect(await rows()).toEqual(before);
  expect((await api.get("/logbook")).json()).toHaveLength(2);
});

test("R-WRT-4 a role without SELECT receives the error of a conflict without the row", async () => {
  const answer = await api.post("/ports", { headers: bearer({ role: "sea_writeonly" }), body: { name: "Oslo" } });
  expect(answer.status).toBe(409);
  expect(answer.json().code).toBe("23505");
});

test("R-WRT-3 a write without a tx preference is committed", async () => {
  expect((await api.post("/ports", { body: { id: 501, name: "Stays" } })).status).toBe(201);
  expect((await api.get("/ports?id=eq.501&select=name")).json()).toEqual([{ name: "Stays" }]);
  expect((await api.delete("/ports?id=eq.501")).status).toBe(204);
  expect((await api.get("/ports?id=eq.501")).json()).toEqual([]);
});
