/** The route of the guide. */
import { expect, test } from "vitest";
import { startApi } from "../support/api.ts";
import { bearer } from "../support/tokens.ts";
import { searchRoute } from "./search-route.ts";

const api = await startApi({
  compatMode: false,
  dbSchemas: ["public"],
  anonRole: "music_reader",
  parts: [searchRoute],
});

test("X-SURF-1 X-CALL-5 the route answers with rows of two relations", async () => {
  const answer = await api.get("/search?text=ABB");
  expect([answer.status, answer.headers["content-type"]]).toEqual([200, "application/json; charset=utf-8"]);
  expect(answer.json()).toEqual({ artists: [{ name: "Abba" }], albums: [] });
});

test("X-CALL-5 the route has the rights of the caller and the errors of REST", async () => {
  const answer = await api.get("/search?text=a", { headers: bearer({ role: "music_nobody" }) });
  expect([answer.status, answer.json().code]).toEqual([403, "42501"]);
});

test("X-CALL-5 the text of the search is a value, not syntax", async () => {
  const answer = await api.get(`/search?text=${encodeURIComponent("x&select=*,%\")'")}`);
  expect([answer.status, answer.json()]).toEqual([200, { artists: [], albums: [] }]);
});

test("X-SURF-1 an error of the route itself has its own form", async () => {
  const answer = await api.get("/search?text=a", { headers: { authorization: "Bearer x.y.z" } });
  expect(answer.status).toBe(401);
  expect(Object.keys(answer.json())).toEqual(["code", "message"]);
});
