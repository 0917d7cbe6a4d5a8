import { request as httpRequest } from "node:http";
import fc from "../support/fast-check.ts";
import { describe, expect, test } from "vitest";
import { definePlugin, RelApiError } from "../../core/index.ts";
import { readBodyHook, receiveBodyHook } from "../../plugins/rest/api.ts";
import { rolledBack, startApi } from "../support/api.ts";
import { cases } from "../support/cases.ts";

const api = await startApi();

const representation = rolledBack("return=representation");
const csv = { "content-type": "text/csv", ...representation };
const form = { "content-type": "application/x-www-form-urlencoded", ...representation };
const json = { "content-type": "application/json", ...representation };

const bad = (message: string): Record<string, unknown> => ({ code: "PGRST102", details: null, hint: null, message });

cases(api, [
  // Types.
  {
    title: "R-BODY-1 a body without a content type is read as JSON",
    request: "POST /ports?select=name",
    headers: representation,
    body: '{"name":"Bergen"}',
    status: 201,
    answer: [{ name: "Bergen" }],
  },
  {
    title: "R-BODY-1 parameters of the content type are ignored",
    request: "POST /ports?select=name",
    headers: { ...representation, "content-type": "application/json; charset=latin1; =; x" },
    body: '{"name":"Bergen"}',
    answer: [{ name: "Bergen" }],
  },
  {
    title: "R-BODY-1 the content type is read in any letter case",
    request: "POST /ports?select=name",
    headers: { ...representation, "content-type": "Application/JSON" },
    body: '{"name":"Bergen"}',
    answer: [{ name: "Bergen" }],
  },
  {
    title: "R-BODY-1 R-BODY-1a an unknown content type is shown as sent",
    request: "POST /ports",
    headers: { "content-type": "image/png; x=y" },
    body: "x",
    status: 400,
    answer: bad("Content-Type not acceptable: image/png; x=y"),
  },
  {
    title: "R-BODY-1 R-BODY-1a an unknown content type is shown in its own alphabet",
    request: "POST /ports",
    headers: { "content-type": Buffer.from("text/är").toString("latin1") },
    body: "x",
    status: 400,
    answer: bad("Content-Type not acceptable: text/är"),
  },
  {
    title: "R-BODY-1 R-BODY-1a a known content type is shown without parameters",
    request: "POST /ports",
    headers: { "content-type": "text/plain; charset=utf-8" },
    body: "x",
    status: 400,
    answer: bad("Content-Type not acceptable: text/plain"),
  },
  {
    title: "R-BODY-1 R-BODY-1a the object media type is rejected as a content type",
    request: "PATCH /ports",
    headers: { "content-type": "application/vnd.pgrst.object+json" },
    body: "{}",
    status: 400,
    answer: bad("Content-Type not acceptable: application/vnd.pgrst.object+json"),
  },
  {
    title: "R-BODY-1 a body on DELETE is ignored",
    request: "DELETE /logbook?entry=eq.none",
    headers: { "content-type": "image/png" },
    body: "x",
    status: 204,
  },
  {
    title: "R-BODY-1 a body on GET is ignored",
    request: "GET /logbook?entry=eq.none",
    headers: { "content-type": "image/png" },
    body: "x",
    status: 200,
    answer: [],
  },

  // JSON.
  {
    title: "R-BODY-2 a single object is one row",
    request: "POST /ports?select=name",
    headers: representation,
    body: ' \n{"name":"A"}\t',
    answer: [{ name: "A" }],
  },
  {
    title: "R-BODY-2 rows are inserted in the order of the array",
    request: "POST /ports?select=name",
    headers: representation,
    body: [{ name: "B" }, { name: "A" }],
    answer: [{ name: "B" }, { name: "A" }],
  },
  {
    title: "R-BODY-2 keys in another order are the same keys",
    request: "POST /ports?select=name,country",
    headers: json,
    body: '[{"name":"A","country":"X"},{"country":"Y","name":"B"}]',
    answer: [
      { name: "A", country: "X" },
      { name: "B", country: "Y" },
    ],
  },
  {
    title: "R-BODY-2 an escaped key is the same key",
    request: "POST /ports?select=name",
    headers: json,
    body: '[{"name":"A"},{"n\\u0061me":"B"}]',
    answer: [{ name: "A" }, { name: "B" }],
  },
  {
    title: "R-BODY-2 objects with different keys are rejected",
    request: "POST /vessels",
    body: [{ name: "A" }, { name: "B", tonnage: 3 }],
    status: 400,
    answer: bad("All object keys must match"),
  },
  {
    title: "R-BODY-2 an array with an element that is not an object is rejected",
    request: "POST /vessels",
    body: [{ name: "A" }, 1],
    status: 400,
    answer: bad("All object keys must match"),
  },
  {
    title: "R-BODY-2 an array of scalar values is rejected",
    request: "POST /vessels",
    body: [1],
    status: 400,
    answer: bad("All object keys must match"),
  },
  {
    title: "R-BODY-2 an empty array inserts no row",
    request: "POST /vessels",
    headers: representation,
    body: [],
    status: 201,
    answer: [],
  },
  ...["5", '"text"', "null", "true"].map((text) => ({
    title: `R-BODY-2 ${text} counts as no row`,
    request: "POST /vessels",
    headers: json,
    body: text,
    status: 201,
    answer: [],
  })),
  ...[
    "",
    " ",
    "{",
    "[{}",
    '{"a":1,}',
    "[{}],",
    '{"a":01}',
    "{'a':1}",
    '{"a":"\t"}',
    '{"a":\u00a01}',
    "nul",
    "[{},]",
  ].map((text) => ({
    title: `R-BODY-2 the body ${JSON.stringify(text)} is rejected as invalid JSON`,
    request: "POST /vessels",
    headers: json,
    body: text,
    status: 400,
    answer: bad("Empty or invalid json"),
  })),
  {
    title: "R-BODY-2 bytes that are not UTF-8 are rejected as invalid JSON",
    request: "POST /vessels",
    headers: json,
    body: Buffer.from([0x7b, 0x22, 0x6e, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d]),
    status: 400,
    answer: bad("Empty or invalid json"),
  },
  {
    title: "R-BODY-2 a mismatch of keys is reported before invalid JSON that follows",
    request: "POST /vessels",
    headers: json,
    body: '[{"name":"A"},{"b":1},',
    status: 400,
    answer: bad("Empty or invalid json"),
  },

  // The text of values.
  {
    title: "R-BODY-3 numbers keep their digits",
    request: "POST /kinds?select=c_bigint,c_numeric",
    headers: json,
    body: '{"id":9,"c_bigint":9007199254740993,"c_numeric":12345678901234.123456}',
    bytes: '[{"c_bigint":9007199254740993,"c_numeric":12345678901234.123456}]',
  },
  {
    title: "R-BODY-3 json columns keep duplicate keys and spaces",
    request: "POST /kinds?select=c_json",
    headers: json,
    body: '{"id":9,"c_json":{"b" : 1,"a":2,"b":3}}',
    bytes: '[{"c_json":{"b" : 1,"a":2,"b":3}}]',
  },
  {
    title: "R-BODY-3 escaped and literal Unicode characters are stored unchanged",
    request: "POST /ports?select=name",
    headers: json,
    body: '{"name":"\\u00c5lesund \ud83d\udea2"}',
    answer: [{ name: "Ålesund 🚢" }],
  },
  {
    title: "R-BODY-3 a JSON array is written to an array column",
    request: "POST /vessels?select=flags",
    headers: representation,
    body: { name: "A", flags: ["PA", 'a,"b"'] },
    answer: [{ flags: ["PA", 'a,"b"'] }],
  },
  {
    title: "R-BODY-3 the text of an array is accepted for an array column",
    request: "POST /vessels?select=flags",
    headers: representation,
    body: { name: "A", flags: "{1,2}" },
    answer: [{ flags: ["1", "2"] }],
  },
  {
    title: "R-BODY-3 JSON text is converted to the type of its column",
    request: "POST /voyages?select=departs,fare",
    headers: representation,
    body: { departs: "2020-02-29", fare: "1.50" },
    bytes: '[{"departs":"2020-02-29","fare":1.50}]',
  },
  {
    title: "R-BODY-3 nested JSON values are written to a jsonb column",
    request: "POST /vessels?select=specs",
    headers: representation,
    body: { name: "A", specs: { a: [1, { b: null }] } },
    answer: [{ specs: { a: [1, { b: null }] } }],
  },

  // Columns.
  {
    title: "R-BODY-4 keys that columns does not list are ignored",
    request: "POST /vessels?columns=name&select=name,tonnage",
    headers: representation,
    body: { name: "A", tonnage: 5, nope: 1 },
    status: 201,
    answer: [{ name: "A", tonnage: null }],
  },
  {
    title: "R-BODY-4 listed columns that an object does not have become null",
    request: "POST /vessels?columns=name,tonnage&select=name,tonnage",
    headers: representation,
    body: [{ name: "A" }, { name: "B", tonnage: 3 }],
    answer: [
      { name: "A", tonnage: null },
      { name: "B", tonnage: 3 },
    ],
  },
  {
    title: "R-BODY-4 `columns` limits the columns that PATCH writes",
    request: "PATCH /vessels?id=eq.1&columns=tonnage&select=name,tonnage",
    headers: representation,
    body: { name: "ignored", tonnage: 1 },
    answer: [{ name: "Ariel", tonnage: 1 }],
  },
  {
    title: "R-BODY-4 R-BODY-4a with columns an element that is not an object is the database's error",
    request: "POST /vessels?columns=name",
    body: [1],
    status: 400,
    check: (answer) => expect(answer.json().code).toBe("22023"),
  },
  {
    title: "R-BODY-4 R-BODY-4a with columns an empty body is the database's error",
    request: "POST /vessels?columns=name",
    body: "",
    status: 400,
    check: (answer) => expect(answer.json().code).toBe("22P02"),
  },
  {
    title: "R-BODY-4 R-BODY-4a with columns invalid JSON is the database's error",
    request: "POST /vessels?columns=name",
    body: "{",
    status: 400,
    check: (answer) => expect(answer.json().code).toBe("22P02"),
  },
  {
    title: "R-BODY-4 R-BODY-4a columns has no effect on PUT",
    request: "PUT /ports?id=eq.1&columns=id&select=name",
    headers: representation,
    body: { id: 1, name: "New" },
    answer: [{ name: "New" }],
  },
  {
    title: "R-BODY-4 R-BODY-4a columns has no effect with CSV",
    request: "POST /vessels?columns=name&select=name,tonnage",
    headers: csv,
    body: "name,tonnage\nA,5\n",
    answer: [{ name: "A", tonnage: 5 }],
  },
  {
    title: "R-BODY-4 R-BODY-4a columns has no effect with forms",
    request: "POST /vessels?columns=name&select=name,tonnage",
    headers: form,
    body: "name=A&tonnage=5",
    answer: [{ name: "A", tonnage: 5 }],
  },
  {
    title: "R-BODY-4 an empty value of columns is a parse error",
    request: "POST /vessels?columns=",
    body: { name: "A" },
    status: 400,
    check: (answer) => expect(answer.json().code).toBe("PGRST100"),
  },

  // Names.
  {
    title: "R-BODY-5 a key that is not a column of the relation is rejected",
    request: "POST /vessels",
    body: { nmae: "A" },
    status: 400,
    answer: {
      code: "PGRST204",
      details: null,
      hint: null,
      message: "Could not find the 'nmae' column of 'vessels' in the schema cache",
    },
  },
  {
    title: "R-BODY-5 an unknown column in columns is rejected before the body is parsed",
    request: "POST /vessels?columns=nmae",
    body: "{",
    status: 400,
    answer: {
      code: "PGRST204",
      details: null,
      hint: null,
      message: "Could not find the 'nmae' column of 'vessels' in the schema cache",
    },
  },
  {
    title: "R-BODY-5 PATCH rejects an unknown column",
    request: "PATCH /vessels?id=eq.1",
    body: { nope: 1 },
    status: 400,
    check: (answer) => expect(answer.json().code).toBe("PGRST204"),
  },
  {
    title: "R-BODY-5 PUT rejects an unknown column",
    request: "PUT /ports?id=eq.1",
    body: { id: 1, nope: 1 },
    status: 400,
    check: (answer) => expect(answer.json().code).toBe("PGRST204"),
  },

  // CSV.
  {
    title: "R-BODY-6 CSV gives rows with the column names of its first line",
    request: "POST /vessels?select=name,tonnage",
    headers: csv,
    body: "name,tonnage\nA,5\nB,6",
    status: 201,
    answer: [
      { name: "A", tonnage: 5 },
      { name: "B", tonnage: 6 },
    ],
  },
  {
    title:
      "R-BODY-6 R-BODY-6a in compatibility mode NULL is null with and without quotes, and an empty field is the empty string",
    request: "POST /ports?select=name,country",
    headers: csv,
    body: 'name,country\nA,NULL\nB,"NULL"\nC,\n',
    answer: [
      { name: "A", country: null },
      { name: "B", country: null },
      { name: "C", country: "" },
    ],
  },
  {
    title: "R-BODY-6 R-BODY-6b a CSV line with more fields than the header is rejected",
    request: "POST /ports",
    headers: csv,
    body: "name\nA,x\nB\n",
    status: 400,
    answer: bad("All lines must have same number of fields"),
  },
  {
    title: "R-BODY-6 R-BODY-6b a CSV line with an additional empty field is rejected",
    request: "POST /ports",
    headers: csv,
    body: "name,country\nA,x,\n",
    status: 400,
    answer: bad("All lines must have same number of fields"),
  },
  {
    title: "R-BODY-6 R-BODY-6b a CSV line with more fields than a header with a repeated name is rejected",
    request: "POST /ports",
    headers: csv,
    body: 'name,name\r\n"A","B","C"',
    status: 400,
    answer: bad("All lines must have same number of fields"),
  },
  {
    title: "R-BODY-6 R-BODY-6b CSV lines that all have too few fields insert fewer columns",
    request: "POST /crew?select=vessel_id,sailor_id,rank",
    headers: csv,
    body: "vessel_id,sailor_id,rank\n3,1\n3,2\n",
    answer: [
      { vessel_id: 3, sailor_id: 1, rank: "hand" },
      { vessel_id: 3, sailor_id: 2, rank: "hand" },
    ],
  },
  {
    title: "R-BODY-6 R-BODY-6b CSV lines with different numbers of fields are rejected",
    request: "POST /ports",
    headers: csv,
    body: "name,country\nA\nB,x\n",
    status: 400,
    answer: bad("All lines must have same number of fields"),
  },
  {
    title: "R-BODY-6 R-BODY-6c CSV lines end in LF, CRLF or CR",
    request: "POST /ports?select=name",
    headers: csv,
    body: "name\r\nA\rB\nC",
    answer: [{ name: "A" }, { name: "B" }, { name: "C" }],
  },
  {
    title: "R-BODY-6 R-BODY-6c blank CSV lines are skipped",
    request: "POST /ports?select=name",
    headers: csv,
    body: 'name\n\nA\n""\n\r\nB\n',
    answer: [{ name: "A" }, { name: "B" }],
  },
  {
    title: "R-BODY-6 R-BODY-6c doubled quotes inside a quoted CSV field are one quote",
    request: "POST /ports?select=name",
    headers: csv,
    body: 'name\n"say ""hi"", all\nof you"\n',
    answer: [{ name: 'say "hi", all\nof you' }],
  },
  {
    title: "R-BODY-6 R-BODY-6c CSV with only a header inserts no row",
    request: "POST /ports",
    headers: csv,
    body: "name,country\n",
    status: 201,
    answer: [],
  },
  {
    title: "R-BODY-6 R-BODY-6c if two CSV columns have one name, the last one is written",
    request: "POST /ports?select=name",
    headers: csv,
    body: "name,name\nA,B\n",
    answer: [{ name: "B" }],
  },
  {
    title: "R-BODY-6 spaces belong to the column names of CSV",
    request: "POST /ports",
    headers: csv,
    body: "name, country\nA,B\n",
    status: 400,
    check: (answer) =>
      expect(answer.json().message).toBe("Could not find the ' country' column of 'ports' in the schema cache"),
  },
  {
    title: "R-BODY-6 a CSV field is converted to the type of its column",
    request: "POST /ports",
    headers: csv,
    body: "id,name\nx,A\n",
    status: 400,
    check: (answer) => expect(answer.json().code).toBe("22P02"),
  },

  // Forms.
  {
    title: "R-BODY-7 a form gives one row of text values",
    request: "POST /vessels?select=name,tonnage",
    headers: form,
    body: "name=Fair+wind%26&tonnage=7",
    status: 201,
    answer: [{ name: "Fair wind&", tonnage: 7 }],
  },
  {
    title: "R-BODY-7 the last of repeated names is written, and a name without = is empty",
    request: "POST /ports?select=name,country",
    headers: form,
    body: "name=A&name=B&country",
    answer: [{ name: "B", country: "" }],
  },
  {
    title: "R-BODY-7 invalid escapes in a form stay as they are",
    request: "POST /ports?select=name",
    headers: form,
    body: "name=100%",
    answer: [{ name: "100%" }],
  },
  {
    title: "R-BODY-7 a form may contain unescaped characters and invalid escapes",
    request: "POST /ports?select=name,country",
    headers: form,
    body: "name=S\u00e9te \u20ac 5%&country=\u00fc%C3%BC",
    answer: [{ name: "S\u00e9te \u20ac 5%", country: "\u00fc\u00fc" }],
  },
  ...[
    "name=a%C3%28b",
    "name=%FF",
    "name=%A9",
    "name=%ed%a0%80",
    "na%C3me=A",
    "name=%C3%A9%A9",
    "name=%EF%BF%BD%FF",
    Buffer.from([0x6e, 0x3d, 0xff]),
    Buffer.from([0x6e, 0x3d, 0xc3]),
  ].map((body, i) => ({
    title: `R-BODY-7 a form that is not UTF-8 is rejected (${i + 1})`,
    request: "POST /ports?select=name",
    headers: form,
    body,
    status: 400,
    answer: bad("The body is not UTF-8"),
  })),
  {
    title: "R-BODY-7 a form may contain the replacement character",
    request: "POST /ports?select=name",
    headers: form,
    body: "name=100%\ufffd%EF%BF%BD%F0%9F%98%80",
    answer: [{ name: "100%\ufffd\ufffd\u{1f600}" }],
  },
  {
    title: "R-BODY-7 R-RPC-6 arguments of a function in a form that is not UTF-8 are rejected",
    request: "POST /rpc/add_numbers",
    headers: form,
    body: "a=1&b=%FF",
    status: 400,
    answer: bad("The body is not UTF-8"),
  },
  {
    title: "R-BODY-7 an empty form is an object without keys",
    request: "POST /voyages?select=vessel_id",
    headers: form,
    body: "",
    status: 201,
    answer: [{ vessel_id: null }],
  },

  // Texts of the CSV reader.
  {
    title: "R-BODY-8 an empty CSV body is a parse error",
    request: "POST /ports",
    headers: csv,
    body: "",
    status: 400,
    answer: bad('parse error (not enough input) at ""'),
  },
  {
    title: "R-BODY-8 a CSV header without a line end is a parse error",
    request: "POST /ports",
    headers: csv,
    body: "name",
    status: 400,
    answer: bad('parse error (not enough input) at ""'),
  },
  {
    title: "R-BODY-8 R-BODY-8a a quote inside an unquoted CSV field is a parse error that shows the rest",
    request: "POST /ports",
    headers: csv,
    body: 'name\nA"B,é\n',
    status: 400,
    answer: bad('parse error (Failed reading: satisfy) at "\\"B,\\195\\169\\n"'),
  },
  {
    title: "R-BODY-8 R-BODY-8a text after a closing CSV quote is a parse error that shows the rest",
    request: "POST /ports",
    headers: csv,
    body: 'name\n"A"B\n',
    status: 400,
    answer: bad('parse error (Failed reading: satisfy) at "B\\n"'),
  },
  {
    title: "R-BODY-8 R-BODY-8a a parse error of CSV shows a long rest truncated",
    request: "POST /ports",
    headers: csv,
    body: `name\nA"${"x".repeat(120)}`,
    status: 400,
    answer: bad(`parse error (Failed reading: satisfy) at "${"x".repeat(99)} (truncated)`),
  },
]);

/** Rows of a long body are parsed one after the other. */
const paddedLength = fc.constantFrom(0, 65_537);

test("R-BODY-2 a list with one changed byte is accepted exactly if it is valid JSON", async () => {
  const list = JSON.stringify(
    Array.from({ length: 3 }, (_, i) => ({ a: i, "b\n": [`x${i}`, true], c: null, d: -1.5 })),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.nat({ max: list.length - 1 }),
      fc.constantFrom("", ...'{}[]",:\\0e.- tn\t'),
      fc.boolean(),
      paddedLength,
      async (index, byte, isInserted, length) => {
        const body = (list.slice(0, index) + byte + list.slice(isInserted ? index : index + 1)).padEnd(length);
        let isList = false;
        try {
          const [first, ...rest] = JSON.parse(body).map((row: object) => JSON.stringify(Object.keys(row).sort()));
          isList = rest.every((keys: string) => keys === first);
        } catch {
          // The body is not JSON.
        }
        const answer = await api.post("/nowhere", { headers: json, body });
        expect([body.trimEnd(), answer.json().code]).toEqual([body.trimEnd(), isList ? "PGRST205" : "PGRST102"]);
      },
    ),
    { numRuns: 400 },
  );
});

test("R-BODY-2 the keys that relapi finds are those of the document in any notation", async () => {
  const keys = fc.constantFrom("name", "country", "c\u00e9", "__proto__", "");
  const rows = fc.array(fc.dictionary(keys, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }), {
    minLength: 1,
    maxLength: 3,
  });
  await fc.assert(
    fc.asyncProperty(rows, fc.integer({ min: 0, max: 2 }), paddedLength, async (value, indent, length) => {
      const body = JSON.stringify(value, null, indent).padEnd(length);
      const answer = await api.post("/nowhere", { headers: json, body });
      const [first, ...rest] = value.map((row) => JSON.stringify(Object.keys(row).sort()));
      // The relation does not exist, which is reported only if the body was valid.
      expect(answer.json().code).toBe(rest.every((set) => set === first) ? "PGRST205" : "PGRST102");
    }),
    { numRuns: 150 },
  );
});

const lineBodies = definePlugin({
  name: "line-bodies",
  requires: ["rest"],
  apply: (_hooks, context) => {
    context.use(readBodyHook).tap("line-bodies", (body, { name }) => {
      if (name !== "application/x-ndjson") return undefined;
      const lines = body.toString("utf8").split("\n").filter(Boolean);
      const [first] = lines;
      if (first === undefined) throw new RelApiError({ code: "bad-body", status: 400, message: "no lines" });
      const keys = Object.keys(JSON.parse(first)).sort();
      return { text: `[${lines.join(",")}]`, shape: "array", keys, isEmpty: false };
    });
  },
});
const wrappedBodies = definePlugin({
  name: "wrapped-bodies",
  requires: ["rest"],
  apply: (_hooks, context) => {
    context
      .use(readBodyHook)
      .tap("wrapped-bodies", (body, { name }) =>
        name === "text/x-wrapped" ? { json: Buffer.from(`[${body.toString("utf8")}]`) } : undefined,
      );
  },
});
const wrappedHeaders = { "content-type": "text/x-wrapped", ...representation };

const lines = { "content-type": "application/x-ndjson; charset=utf-8", ...representation };

cases(await startApi({ parts: [lineBodies, wrappedBodies] }), [
  {
    title: "X-BODY-1 JSON that a plugin's body format produces is inspected like a JSON body",
    request: "POST /ports",
    headers: wrappedHeaders,
    body: '{"name":"Narvik"},{"country":"NO"}',
    status: 400,
    answer: bad("All object keys must match"),
  },
  {
    title: "X-BODY-1 columns selects keys of JSON that a plugin's body format produces",
    request: "POST /ports?columns=name&select=name",
    headers: wrappedHeaders,
    body: '{"name":"Narvik","nothing":1}',
    status: 201,
    answer: [{ name: "Narvik" }],
  },
  {
    title: "X-BODY-1 a plugin adds a body format",
    request: "POST /ports?select=name",
    headers: lines,
    body: '{"name":"Vadsø"}\n{"name":"Alta"}\n',
    status: 201,
    answer: [{ name: "Vadsø" }, { name: "Alta" }],
  },
  {
    title: "X-BODY-1 a body format of a plugin works for calls of functions",
    request: "POST /rpc/add_numbers",
    headers: lines,
    body: '{"a":1,"b":2}',
    answer: 3,
  },
  {
    title: "X-BODY-1 a body format of a plugin can reject a body",
    request: "POST /ports",
    headers: lines,
    body: "\n",
    status: 400,
    answer: bad("no lines"),
  },
]);

/** The response to a body that arrives in these pieces, each a separate event. */
const inPieces = (path: string, pieces: readonly Uint8Array[]): Promise<string> =>
  new Promise((resolve, reject) => {
    const clientRequest = httpRequest(`${api.url}${path}`, { method: "POST", headers: { ...csv } }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => resolve(`${response.statusCode} ${Buffer.concat(chunks).toString()}`));
    });
    clientRequest.on("error", reject);
    for (const piece of pieces) if (piece.length > 0) clientRequest.write(piece);
    clientRequest.end();
  });

const split = (bytes: Buffer, places: readonly number[]): readonly Buffer[] => {
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [...ends, bytes.length].map((end, i) => bytes.subarray(i === 0 ? 0 : ends[i - 1], end));
};

test("X-BODY-2 R-BODY-6 R-BODY-8 a CSV body has the same result in any division into chunks", async () => {
  const part = fc.constantFrom(
    "name",
    "country",
    ",",
    "\n",
    "\r\n",
    "\r",
    '"',
    '""',
    "é",
    "🚢",
    "NULL",
    "a",
    "H",
    "\x0e",
    "\ufeff",
  );
  const odd = fc.constantFrom(Buffer.from([0xc3]), Buffer.from([0xf0, 0x9f]), Buffer.from([0xff]), Buffer.from("\n"));
  const bodies = fc.oneof(
    { weight: 3, arbitrary: fc.array(part, { maxLength: 14 }).map((parts) => Buffer.from(parts.join(""))) },
    { weight: 3, arbitrary: fc.array(part, { maxLength: 14 }).map((parts) => Buffer.from(`name\n${parts.join("")}`)) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.array(part, { maxLength: 6 }), odd, fc.array(part, { maxLength: 6 }))
        .map(([before, bytes, after]) =>
          Buffer.concat([Buffer.from(`name,country\n${before.join("")}`), bytes, Buffer.from(after.join(""))]),
        ),
    },
  );
  await fc.assert(
    fc.asyncProperty(bodies, fc.array(fc.nat(60), { maxLength: 20 }), async (body, places) => {
      const path = "/ports?select=name,country";
      const answer = async (pieces: readonly Buffer[]): Promise<string> =>
        (await inPieces(path, pieces)).replace(/Failing row contains \(\d+/, ""); // each run has a new key
      expect(await answer(split(body, places))).toBe(await answer([body]));
    }),
    { numRuns: 150 },
  );
});

test.each([
  [
    "invalid CSV whose rest arrives later",
    [`name\nA"`, "x".repeat(60), "y".repeat(60)],
    `at "${"x".repeat(60)}${"y".repeat(39)} (truncated)`,
  ],
  ["invalid CSV with a short rest", ['name\nA"', "\x01", "9é"], 'at "\\"\\SOH9\\195\\169"'],
  [
    "invalid CSV before bytes that are not UTF-8",
    ['name\nA"b', Buffer.from([0xc3]), Buffer.from([0x28])],
    "The body is not UTF-8",
  ],
  ["half a character at the end", ["name\nA", Buffer.from([0xf0, 0x9f])], "The body is not UTF-8"],
  ["a quote that is not closed", ['name\n"A', "\n"], "not enough input"],
  [
    "a last line with too many fields",
    [`name\n${"A\n".repeat(50_000)}`, "B,C\n"],
    "All lines must have same number of fields",
  ],
] as const)("R-BODY-8 a CSV body in chunks is rejected: %s", async (_, pieces, message) => {
  const count = async (): Promise<unknown> => api.sql("select count(*) from sea.ports");
  const before = await count();
  const answer = await inPieces(
    "/ports",
    pieces.map((piece) => Buffer.from(piece)),
  );
  expect(answer).toContain("400 ");
  expect(JSON.parse(answer.slice(4))).toMatchObject({ code: "PGRST102" });
  expect(JSON.parse(answer.slice(4)).message).toContain(message);
  expect(await count()).toEqual(before);
});

test("R-BODY-6 a CSV field may be longer than a chunk", async () => {
  const longName = `${'"a"'.repeat(50_000)}é`;
  const body = Buffer.from(`name,country\n"${longName.replaceAll('"', '""')}",NO\nB,NULL\n`);
  const pieces = Array.from({ length: Math.ceil(body.length / 5000) }, (_, i) =>
    body.subarray(i * 5000, (i + 1) * 5000),
  );
  const answer = await inPieces("/ports?select=name,country", pieces);
  expect(JSON.parse(answer.slice(4))).toEqual([
    { name: longName, country: "NO" },
    { name: "B", country: null },
  ]);
});

test("X-BODY-2 an error of a body reader is sent before the rest of the body arrives", async () => {
  let byteCount = 0;
  const countedBodies = definePlugin({
    name: "counted-bodies",
    requires: ["rest"],
    apply: (_hooks, context) => {
      context.use(receiveBodyHook).tap("counted-bodies", ({ name }) => {
        if (name !== "text/x-counted") return undefined;
        return {
          take: (piece) => {
            byteCount += piece.length;
            if (byteCount > 5) throw new RelApiError({ code: "bad-body", status: 400, message: "too many of them" });
          },
          end: () => ({ text: `{"a":${byteCount},"b":0}`, shape: "object", keys: ["a", "b"], isEmpty: false }),
        };
      });
    },
  });
  const ownApi = await startApi({ parts: [countedBodies] });
  const headers = { "content-type": "text/x-counted" };
  expect((await ownApi.post("/rpc/add_numbers", { headers, body: "12345" })).json()).toBe(5);
  const status = await new Promise((resolve, reject) => {
    const clientRequest = httpRequest(`${ownApi.url}/ports`, { method: "POST", headers }, (response) => {
      resolve(response.statusCode);
      clientRequest.destroy();
    });
    clientRequest.on("error", reject);
    clientRequest.write("12345678"); // the body never ends
  });
  expect(status).toBe(400);
});

test("R-BODY-7 X-BODY-2 R-BODY-7a a form has the same result in any division into chunks", async () => {
  const encodedName = "caf%C3%A9+%E2%82%AC%F0%9F%98%80%22%5C%0A".repeat(6000);
  const body = Buffer.from(`country=x&name=${encodedName}%4%41&&country=y%2B`);
  const send = (cuts: readonly number[]): Promise<string> =>
    new Promise((resolve, reject) => {
      const request = httpRequest(
        { port: api.port, host: "127.0.0.1", method: "POST", path: "/ports?select=name,country", headers: form },
        (response) => {
          let text = "";
          response
            .setEncoding("utf8")
            .on("data", (part: string) => (text += part))
            .on("end", () => resolve(text));
        },
      ).on("error", reject);
      let from = 0;
      for (const end of [...cuts, body.length]) {
        request.write(body.subarray(from, end));
        from = end;
      }
      request.end();
    });
  const expected = [{ name: `${'caf\u00e9 \u20ac\u{1f600}"\\\n'.repeat(6000)}%4A`, country: "y+" }];
  expect(JSON.parse(await send([]))).toEqual(expected);
  for (let offset = 11; offset < 60; offset++)
    expect(JSON.parse(await send([offset, offset + 1, 65_536 + offset]))).toEqual(expected);
});

describe("R-BODY-9 byte order marks", () => {
  const MARK = "\ufeff";

  cases(api, [
    ...(
      [
        ["an object", "/ports?select=name", json, '{"name":"Bergen"}', [{ name: "Bergen" }]],
        ["an array", "/ports?select=name", json, '[{"name":"Bergen"}]', [{ name: "Bergen" }]],
        ["without a type", "/ports?select=name", representation, '{"name":"Bergen"}', [{ name: "Bergen" }]],
        ["named columns", "/ports?select=name&columns=name", json, '{"name":"Bergen","x":1}', [{ name: "Bergen" }]],
        ["CSV", "/ports?select=name", csv, "name\nBergen\n", [{ name: "Bergen" }]],
        ["CSV with a quoted name", "/ports?select=name", csv, '"name"\nBergen', [{ name: "Bergen" }]],
        ["arguments", "/rpc/add_numbers", json, '{"a":1,"b":2}', 3],
        ["a json parameter", "/rpc/raw_json", json, '{"a":1}', { a: 1 }],
      ] as const
    ).map(([title, path, headers, body, answer]) => ({
      title: `R-BODY-9 a byte order mark is ignored: ${title}`,
      request: `POST ${path}`,
      headers,
      body: MARK + body,
      answer,
    })),
    {
      title: "R-BODY-9 R-HNT-5 a body that is only a byte order mark is empty",
      request: "POST /ports",
      headers: json,
      body: MARK,
      status: 400,
    },
    {
      title: "R-BODY-9 a byte order mark is kept in plain text",
      request: "POST /rpc/raw_text",
      headers: { "content-type": "text/plain", ...representation },
      body: `${MARK}x`,
      check: (answer) => expect(answer.text).toContain(`${MARK}x`),
    },
    {
      title: "R-BODY-9 only the first byte order mark is removed",
      request: "POST /ports?select=name",
      headers: csv,
      body: `${MARK}name\n${MARK}Bergen`,
      answer: [{ name: `${MARK}Bergen` }],
    },
  ]);

  test("R-BODY-9 G-HTTP-1 a byte order mark is removed from GraphQL requests and batches", async () => {
    const query = '{"query":"{ __typename }"}';
    const answer = { data: { __typename: "query_root" } };
    expect((await api.post("/v1/graphql", { headers: json, body: MARK + query })).json()).toEqual(answer);
    expect((await api.post("/v1/graphql", { headers: json, body: `${MARK}[${query}]` })).json()).toEqual([answer]);
  });

  test("R-BODY-9 X-BODY-2 a byte order mark is removed from CSV that arrives byte by byte", async () => {
    const pieces = [...Buffer.from(`${MARK}name\nBergen`)].map((byte) => Buffer.from([byte]));
    expect(await inPieces("/ports?select=name", pieces)).toBe('201 [{"name":"Bergen"}]');
  });
});

describe("R-BODY-10 JSON objects for hstore", async () => {
  const ownApi = await startApi({ dbSchemas: ["hs"], dbTxEnd: "commit" });
  const [{ at: extensionSchema }] = (await ownApi.sql(
    "select n.nspname as at from pg_extension e join pg_namespace n on n.oid = e.extnamespace where extname = 'hstore'",
  )) as [{ at: string }];
  await ownApi.sql(`
    create schema hs;
    grant usage on schema hs to sea_anon;
    create domain hs.labels as ${extensionSchema}.hstore;
    create table hs.odd (id int primary key, h ${extensionSchema}.hstore, l hs.labels);
    create function hs.echo(h ${extensionSchema}.hstore) returns ${extensionSchema}.hstore language sql stable as $$ select h $$;
    grant all on hs.odd to sea_anon;
  `);
  await ownApi.reload();
  const objects = [
    { a: "1" },
    {},
    { a: null, "b c": 'x"y', "d\\": "\\", "=>": ", ", é: "🚢", "": "" },
  ] as readonly Readonly<Record<string, string | null>>[];

  test("R-BODY-10 hstore values can be written as they are read, in rows, arguments and filters", async () => {
    for (const [i, h] of objects.entries()) {
      const insertAnswer = await ownApi.post("/odd", {
        headers: { prefer: "return=representation" },
        body: { id: i, h, l: h },
      });
      expect([insertAnswer.status, insertAnswer.json()]).toEqual([201, [{ id: i, h, l: h }]]);
      expect((await ownApi.patch(`/odd?id=eq.${i}`, { body: { h } })).status).toBe(204);
      expect((await ownApi.put(`/odd?id=eq.${i}`, { body: insertAnswer.json()[0] })).status).toBe(204);
      expect((await ownApi.post("/rpc/echo", { body: { h } })).json()).toEqual(h);
      for (const column of ["h", "l"]) {
        const value = encodeURIComponent(JSON.stringify(h));
        expect((await ownApi.get(`/odd?select=id&${column}=eq.${value}`)).json()).toEqual([{ id: i }]);
        expect((await ownApi.get(`/odd?select=id&${column}=cs.${value}&id=eq.${i}`)).json()).toEqual([{ id: i }]);
      }
    }
    const bulk = [
      { id: 10, h: null, l: "a=>1" },
      { id: 11, h: { n: 5, o: { p: [1] } }, l: {} },
    ];
    expect(
      (await ownApi.post("/odd?select=h,l", { headers: { prefer: "return=representation" }, body: bulk })).json(),
    ).toEqual([
      { h: null, l: { a: "1" } },
      { h: { n: "5", o: '{"p":[1]}' }, l: {} },
    ]);
    expect((await ownApi.get("/odd?select=id&h=eq.a=>1")).json()).toEqual([{ id: 0 }]);
  });

  test("G-TYP-41 GraphQL accepts hstore values in literals, variables and filters", async () => {
    for (const [i, h] of objects.entries()) {
      const id = 20 + i;
      const query = "mutation ($o: hs_odd_insert_input!) { insert_hs_odd_one(object: $o) { h l } }";
      expect((await ownApi.gql(query, { o: { id, h, l: h } })).data).toEqual({ insert_hs_odd_one: { h, l: h } });
      const find = "query ($h: hstore, $id: Int) { hs_odd(where: {h: {_eq: $h}, id: {_eq: $id}}) { id } }";
      expect((await ownApi.gql(find, { h, id })).data).toEqual({ hs_odd: [{ id }] });
    }
    const literal =
      'mutation { update_hs_odd(where: {id: {_eq: 20}}, _set: {h: {a: "2", b: 3, c: null}}) { returning { h } } }';
    expect((await ownApi.gql(literal)).data).toEqual({
      update_hs_odd: { returning: [{ h: { a: "2", b: "3", c: null } }] },
    });
    const insertMany = "mutation ($o: [hs_odd_insert_input!]!) { insert_hs_odd(objects: $o) { returning { h } } }";
    expect(
      (
        await ownApi.gql(insertMany, {
          o: [
            { id: 31, h: { a: "1" } },
            { id: 32, h: "b=>2" },
          ],
        })
      ).data,
    ).toEqual({
      insert_hs_odd: { returning: [{ h: { a: "1" } }, { h: { b: "2" } }] },
    });
  });

  test("R-ERR-3 G-DBE-8 an invalid hstore value is 400 in every place that accepts one", async () => {
    const bad = async (path: string, body?: unknown): Promise<number> =>
      (await (body === undefined ? ownApi.get(path) : ownApi.post(path, { body }))).status;
    expect(await bad("/odd?h=eq.a=")).toBe(400);
    expect(await bad("/odd?h=cs.{a")).toBe(400);
    expect(await bad("/odd", { id: 40, h: "a=" })).toBe(400);
    expect(await bad("/odd", { id: 40, h: 5 })).toBe(400);
    expect(await bad("/rpc/echo?h=a=")).toBe(400);
    expect(await bad("/rpc/echo", { h: "a=" })).toBe(400);
    const { errors } = await ownApi.gql('{ hs_odd(where: {h: {_eq: "a="}}) { id } }');
    expect(errors[0].extensions.code).toBe("data-exception");
  });
});
