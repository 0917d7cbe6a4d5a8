import { expect, test } from "vitest";
import { rolledBack, startApi } from "../support/api.ts";
import { cases } from "../support/cases.ts";

const api = await startApi();

cases(api, [
  {
    title: "R-FMT-1 rows are separated as json_agg separates them, and Content-Length counts every byte",
    request: "GET /vessels?select=id&id=lt.3&order=id",
    bytes: '[{"id":1}, \n {"id":2}]',
    responseHeaders: { "Content-Length": "22" },
  },
  {
    title: "R-FMT-1 the keys of a row have the order of select",
    request: "GET /vessels?select=name,id&id=eq.1",
    bytes: '[{"name":"Ariel","id":1}]',
  },
  {
    title: "R-FMT-1 numeric values keep their scale, and bigint values their digits",
    request: "GET /kinds?select=c_numeric,c_bigint&id=eq.1",
    bytes: '[{"c_numeric":12.340000,"c_bigint":9007199254740993}]',
  },
  {
    title: "R-FMT-1 R-FMT-1a embedded values keep the text of JSON",
    request: "GET /ports?select=name,vessels(specs)&id=eq.1&vessels.id=eq.2",
    bytes:
      '[{"name":"Oslo","vessels":[{"specs":{"crew": 12, "tags": ["a"], "engine": {"kw": 220, "maker": "Akers"}}}]}]',
  },
  {
    title: "R-FMT-1 Content-Length counts bytes and not characters",
    request: "GET /مو?select=اسم",
    bytes: '[{"اسم":"نجم"}]',
    responseHeaders: { "Content-Length": String(Buffer.byteLength('[{"اسم":"نجم"}]')) },
  },
  {
    title: "R-FMT-1 a read without rows has the body []",
    request: "GET /vessels?id=eq.0",
    bytes: "[]",
    responseHeaders: { "Content-Length": "2" },
  },
  {
    title: "R-FMT-2 json columns keep their text",
    request: "GET /kinds?select=c_json&id=eq.1",
    bytes: '[{"c_json":{"z":1, "a" : 2,"z":3}}]',
  },
  {
    title: "R-FMT-2 jsonb columns have PostgreSQL's own format",
    request: "GET /kinds?select=c_jsonb&id=eq.1",
    bytes: '[{"c_jsonb":{"a": {"n": null}, "z": 1}}]',
  },
  {
    title: "R-FMT-2 values of interval, bytea, uuid, inet and bit are JSON strings",
    request: "GET /kinds?select=c_interval,c_bytea,c_uuid,c_inet,c_bit&id=eq.1",
    bytes:
      '[{"c_interval":"1 day 02:00:00","c_bytea":"\\\\xdeadbeef","c_uuid":"3f2504e0-4f89-41d3-9a0c-0305e82c3301","c_inet":"10.0.0.1","c_bit":"101"}]',
  },
  {
    title: "R-FMT-2 money values are JSON strings",
    request: "GET /kinds?select=c_money&id=eq.1",
    answer: [{ c_money: expect.stringMatching(/1.?234.50/) }],
  },
  {
    title: "R-FMT-2 dates and times are strings in ISO format",
    request: "GET /kinds?select=c_date,c_timestamp,c_time&id=eq.1",
    bytes: '[{"c_date":"2020-02-29","c_timestamp":"2020-02-29T10:00:00","c_time":"10:00:00"}]',
  },
  {
    title: "R-FMT-2 timestamptz values have the time zone of the transaction",
    request: "GET /kinds?select=c_timestamptz&id=eq.1",
    headers: { prefer: "timezone=America/New_York" },
    bytes: '[{"c_timestamptz":"2020-02-29T05:00:00-05:00"}]',
    responseHeaders: { "Preference-Applied": "timezone=America/New_York" },
  },
  {
    title: "R-FMT-2 ranges are strings, and arrays are JSON arrays",
    request: "GET /charters?select=period,seats,holidays&id=eq.1",
    bytes: '[{"period":"[2024-01-01,2024-02-01)","seats":"[1,5)","holidays":["2024-01-06"]}]',
  },
  {
    title: "R-FMT-2 enums and padded characters are strings",
    request: "GET /kinds?select=c_rating,c_char,c_boolean,c_real&id=eq.1",
    bytes: '[{"c_rating":"able","c_char":"char ","c_boolean":true,"c_real":1.5}]',
  },
  {
    title: "R-FMT-2 composite values are objects",
    request: "GET /beacons?select=pos,cells,lamps&id=eq.1",
    bytes: '[{"pos":{"lat":59.9,"lon":10.7},"cells":[[1,2,3],[4,5,6]],"lamps":[{"lat":1,"lon":2}]}]',
  },
  {
    title: "R-FMT-2 keys with null values are kept",
    request: "GET /kinds?select=c_bigint,c_json,c_rating&id=eq.2",
    bytes: '[{"c_bigint":null,"c_json":null,"c_rating":null}]',
  },
  {
    title: "R-FMT-1 a representation has the same bytes",
    request: "PATCH /vessels?id=lt.3&select=id&order=id",
    headers: rolledBack("return=representation"),
    body: { tonnage: 1 },
    bytes: '[{"id":1}, \n {"id":2}]',
    responseHeaders: { "Content-Length": "22" },
  },
  {
    title: "R-FMT-1 the rows of a function have the same format",
    request: "GET /rpc/vessels_of?port=1&select=id",
    bytes: '[{"id":1}, \n {"id":2}]',
  },
  {
    title: "R-FMT-1 a function's values have the format of json_agg",
    request: "GET /rpc/tonnages",
    bytes: "[853, 402, 47]",
  },
]);

test("R-FMT-1 the body of a read is the text that PostgreSQL prints", async () => {
  const [row] = await api.sql(
    `select coalesce(json_agg(t), '[]')::text as body from (select * from sea.kinds order by id) t`,
  );
  // Both the statement and the request use the server's time zone.
  expect((await api.get("/kinds?order=id")).text).toBe(row?.["body"]);
});
