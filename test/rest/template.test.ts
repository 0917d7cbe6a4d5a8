/** Query strings that differ only in values are planned once, with the same result as planning each. */
import { expect, test } from "vitest";
import { startApi } from "../support/api.ts";

const api = await startApi();

test("R-URL-4 Content-Location has the values of its own request, not those of a similar earlier one", async () => {
  for (const [query, location] of [
    ["name=eq.Oslo&id=gt.0", "/ports?id=gt.0&name=eq.Oslo"],
    ["name=eq.a+b&id=gt.0&name=neq.*", "/ports?id=gt.0&name=eq.a%20b,neq.%2A"],
    ["name=eq.Le%69th;id=gt.1", "/ports?id=gt.1&name=eq.Leith"],
    ["name=eq.%EE%80%800%EE%80%81&id=gt.0", "/ports?id=gt.0&name=eq.%EE%80%800%EE%80%81"],
  ]) {
    const answer = await api.get(`/ports?${query}`);
    expect(answer.headers["content-location"]).toBe(location);
  }
});

test("R-FLT-1 each request uses its own filter values in any order of parameters", async () => {
  const names = async (query: string): Promise<readonly string[]> =>
    ((await api.get(`/vessels?select=name&${query}&order=id`)).json() as { name: string }[]).map((row) => row.name);
  expect(await names("tonnage=gte.400&name=neq.Fram")).toEqual(["Ariel"]);
  expect(await names("tonnage=gte.40&name=neq.Ariel")).toEqual(["Fram", "Gjoa"]);
  expect(await names("name=neq.Ariel&tonnage=gte.400")).toEqual(["Fram"]);
  expect(await names("name=eq.")).toEqual([]);
  expect(await names("home_port_id=eq.1&or=(name.eq.Fram,name.eq.Gjoa)")).toEqual(["Fram"]);
});

test("R-EMB-11 filters on embeds use the values of their own request", async () => {
  const ask = async (tonnage: number) =>
    (await api.get(`/ports?select=name,vessels!inner(name)&vessels.tonnage=gt.${tonnage}&vessels.order=id`)).json();
  expect(await ask(500)).toEqual([{ name: "Oslo", vessels: [{ name: "Ariel" }] }]);
  expect(await ask(400)).toEqual([{ name: "Oslo", vessels: [{ name: "Ariel" }, { name: "Fram" }] }]);
  expect(await ask(900)).toEqual([]);
});
