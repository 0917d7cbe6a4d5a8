/** The plugin of the guide about SQL fragments. */
import { expect, test } from "vitest";
import { quoteIdentifier, inlineInteger, joinSql, quoteLiteral, sql, compileSql, bindValue } from "../../core/index.ts";
import { startApi } from "../support/api.ts";
import { until } from "../support/until.ts";
import { requestLog } from "./request-log.ts";

test("X-STEP-1 a plugin writes its own table with quoted names and bound values", async () => {
  const api = await startApi({ parts: [requestLog("app", "request log")] });
  await api.sql(
    'create schema app; create table app."request log" (id serial, method text, path text, status int, role text)',
  );
  const path = "/no'such\"table";
  expect((await api.get(path)).status).toBe(404);
  const rows = () => api.sql('select method, path, status, role from app."request log" where status = 404');
  await until(async () => (await rows()).length > 0, "the request is in the table");
  expect(await rows()).toEqual([{ method: "GET", path: "/no'such%22table", status: 404, role: "sea_anon" }]);
});

test("R-PROF-5 fragments quote names and bind values, as the guide shows", () => {
  const text = (fragment: Parameters<typeof compileSql>[0]): string => compileSql(fragment).text;
  expect(text(quoteIdentifier("app", 'odd"name'))).toBe('"app"."odd""name"');
  expect(compileSql(bindValue("x'y", "text"))).toEqual({ text: "$1::text", slots: [{ fixed: "x'y" }] });
  expect(text(joinSql([quoteIdentifier("a"), quoteIdentifier("b")], " and "))).toBe('"a" and "b"');
  expect(text(quoteLiteral("it's"))).toBe("'it''s'");
  expect(text(inlineInteger(10))).toBe("10");
  // @ts-expect-error: a string is no fragment
  expect(() => sql`select ${"text"}`).toThrow(
    "expected an SQL fragment, not a string: use quoteIdentifier() or bindValue()",
  );
});
