import { expect } from "vitest";
import { rolledBack, startApi } from "../support/api.ts";
import { cases } from "../support/cases.ts";

const api = await startApi();

const representation = rolledBack("return=representation");

cases(api, [
  {
    title: "R-DEL-1 DELETE removes the rows that the filters match",
    request: "DELETE /vessels?id=gt.1&select=id&order=id.desc",
    headers: representation,
    status: 200,
    answer: [{ id: 3 }, { id: 2 }],
  },
  {
    title: "R-DEL-1 DELETE removes the rows that a logic tree matches",
    request: "DELETE /vessels?and=(id.gt.1,id.lt.3)&select=id",
    headers: representation,
    answer: [{ id: 2 }],
  },
  {
    title: "R-DEL-1 DELETE without matching rows is 204 with the count 0",
    request: "DELETE /vessels?id=eq.99",
    headers: rolledBack("count=exact"),
    status: 204,
    responseHeaders: { "Content-Range": "*/0" },
  },
  {
    title: "R-DEL-1 filters on embeds apply to the representation, and not to the deleted rows",
    request: "DELETE /vessels?id=lt.3&select=id,voyages(id)&voyages.fare=gt.100",
    headers: representation,
    answer: [
      { id: 1, voyages: [{ id: 1 }] },
      { id: 2, voyages: [] },
    ],
  },
  {
    title: "R-DEL-1 DELETE rejects a filter whose path names no embed",
    request: "DELETE /vessels?voyages.fare=gt.100",
    status: 400,
    check: (answer) => expect(answer.json().code).toBe("PGRST108"),
  },
  {
    title: "R-DEL-1 DELETE with a representation rejects a filter whose path names no embed",
    request: "DELETE /vessels?voyages.fare=gt.100&select=id",
    headers: representation,
    status: 400,
    check: (answer) => expect(answer.json().code).toBe("PGRST108"),
  },
  {
    title: "R-DEL-1 DELETE of a referenced row is rejected",
    request: "DELETE /ports?id=eq.1",
    status: 409,
    check: (answer) => expect(answer.json().code).toBe("23503"),
  },
  {
    title: "R-DEL-1 DELETE by a role without the grant is rejected",
    request: "DELETE /vessels?id=eq.1",
    headers: rolledBack(),
    role: "sea_deckhand",
    status: 403,
    check: (answer) => expect(answer.json().code).toBe("42501"),
  },
  {
    title: "R-DEL-1 DELETE of one row returns an object for the object type",
    request: "DELETE /vessels?id=eq.1&select=name",
    headers: { ...representation, accept: "application/vnd.pgrst.object+json" },
    status: 200,
    answer: { name: "Ariel" },
  },
]);
