import { describe, expect, test } from "vitest";
import { rolledBack, startApi } from "../support/api.ts";
import { collectErrors } from "../support/logger.ts";
import { HOSTILE_STRINGS } from "./hostile-strings.ts";

const { logger, lines: internalErrors } = collectErrors();
const api = await startApi({ logger });

const returnRows = rolledBack("return=representation");
const quote = (text: string): string => `"${text.replace(/["\\]/g, "\\$&")}"`;
const encode = encodeURIComponent;

const send = async (
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = returnRows,
) => {
  const answer = await api.request(method, path, { headers, body });
  expect(internalErrors, `${method} ${path}`).toEqual([]);
  expect(answer.status, `${method} ${path}: ${answer.text.slice(0, 300)}`).toBeLessThan(500);
  return answer;
};

describe.each(HOSTILE_STRINGS)("%j", (text) => {
  test("R-BODY-3 a hostile string as a value is stored unchanged", async () => {
    expect((await send("POST", "/ports?select=name,country", { name: text, country: text })).json()).toEqual([
      { name: text, country: text },
    ]);
    expect((await send("PATCH", "/ports?id=eq.1&select=name", { name: text })).json()).toEqual([{ name: text }]);
    expect(
      (await send("POST", "/vessels?select=specs,flags", { name: "x", specs: { [text]: text }, flags: [text] })).json(),
    ).toEqual([{ specs: { [text]: text }, flags: [text] }]);
    expect((await send("POST", "/ports?columns=name&select=name", [{ name: text, [text]: 1 }])).json()).toEqual([
      { name: text },
    ]);
    const form = await send("POST", "/ports?select=name", `name=${encode(text)}`, {
      ...returnRows,
      "content-type": "application/x-www-form-urlencoded",
    });
    expect(form.json()).toEqual([{ name: text }]);
    if (text === "NULL") return; // this string means null in CSV
    const csv = await send("POST", "/ports?select=name", `name\n"${text.replaceAll('"', '""')}"\n`, {
      ...returnRows,
      "content-type": "text/csv",
    });
    expect(csv.json()).toEqual([{ name: text }]);
  });

  test("R-BODY-5 a hostile string as a column is unknown", async () => {
    const errorMessage = `Could not find the '${text}' column of 'ports' in the schema cache`;
    expect(
      (
        await send("POST", "/ports", Buffer.from(`{${JSON.stringify(text)}:1}`), {
          ...returnRows,
          "content-type": "application/json",
        })
      ).json().message,
    ).toBe(errorMessage);
    expect(
      (
        await send("PATCH", "/ports", Buffer.from(`[{${JSON.stringify(text)}:1}]`), {
          ...returnRows,
          "content-type": "application/json",
        })
      ).json().message,
    ).toBe(errorMessage);
    expect((await send("POST", `/ports?columns=${encode(quote(text))}`, { name: "x" })).json().message).toBe(
      errorMessage,
    );
    expect(
      (
        await send("POST", "/ports", `"${text.replaceAll('"', '""')}"\nx\n`, {
          ...returnRows,
          "content-type": "text/csv",
        })
      ).json().message,
    ).toBe(errorMessage);
    expect(
      (
        await send("POST", "/ports", `${encode(text)}=x`, {
          ...returnRows,
          "content-type": "application/x-www-form-urlencoded",
        })
      ).json().message,
    ).toBe(errorMessage);
  });

  test("R-UPS-2 a hostile string as a conflict target is unknown", async () => {
    const answer = await send(
      "POST",
      `/ports?on_conflict=${encode(quote(text))}`,
      { name: "x" },
      rolledBack("resolution=merge-duplicates"),
    );
    expect(answer.json().code).toBe("42703");
  });

  test("R-PUT-3 R-WRT-2 a hostile string as a key is compared, and returned in Location", async () => {
    expect(
      (
        await send("PUT", `/signals?code=${encode(`eq.${text}`)}&select=code,meaning`, { code: text, meaning: "m" })
      ).json(),
    ).toEqual([{ code: text, meaning: "m" }]);
    expect(
      (await send("PUT", `/signals?code=${encode(`eq.${text}`)}`, { code: `${text}x`, meaning: "m" })).json().code,
    ).toBe("PGRST115");
    const createAnswer = await send(
      "POST",
      "/signals",
      { code: text, meaning: "m" },
      rolledBack("return=headers-only"),
    );
    const location = new URL(createAnswer.headers["location"] ?? "", "http://x");
    expect([location.pathname, location.searchParams.get("code")]).toEqual(["/signals", `eq.${text}`]);
  });

  test("R-RPC-4 a hostile string as an argument is a value", async () => {
    expect((await send("POST", "/rpc/greet", { name: text })).json()).toBe(`Ahoy, ${text}`);
    expect((await send("GET", `/rpc/join_words?separator=-&words=${encode(text)}&words=b`)).json()).toBe(`${text}-b`);
    expect((await send("POST", "/rpc/join_words", { separator: "-", words: [text, "b"] })).json()).toBe(`${text}-b`);
    expect((await send("POST", "/rpc/raw_text", text, { "content-type": "text/plain" })).json()).toBe(text);
    expect(
      (
        await send("POST", "/rpc/raw_json", Buffer.from(`{"k":${JSON.stringify(text)}}`), {
          "content-type": "application/json",
        })
      ).json(),
    ).toEqual({ k: text });
  });

  test("R-RPC-7 a hostile string as the name of an argument matches no function", async () => {
    expect(
      (
        await send("POST", "/rpc/greet", Buffer.from(`{${JSON.stringify(text)}:1}`), {
          "content-type": "application/json",
        })
      ).json().code,
    ).toBe("PGRST202");
    expect((await send("POST", `/rpc/greet?columns=${encode(quote(text))}`, {})).json().code).toBe("PGRST202");
    expect(
      (
        await send("POST", "/rpc/greet", `${encode(text)}=1`, { "content-type": "application/x-www-form-urlencoded" })
      ).json().code,
    ).toBe("PGRST202");
  });

  test("R-MED-1 R-BODY-1 a hostile string as a media type is unknown", async () => {
    if (!/^[\x20-\x7e]+$/.test(text)) return; // headers cannot contain this string
    expect((await api.get("/ports", { headers: { accept: `application/${text}` } })).status).toBe(406);
    expect((await send("POST", "/ports", "{}", { "content-type": text })).json().code).toBe("PGRST102");
    await send("POST", "/ports", "{}", {
      prefer: text,
      accept: `application/vnd.pgrst.plan+json; for="${text}"; options=${text}`,
    });
  });
});

test("R-TX-6 the data is unchanged after all hostile strings", async () => {
  expect((await api.get("/ports?select=id,name&order=id")).json()).toEqual([
    { id: 1, name: "Oslo" },
    { id: 2, name: "Leith" },
  ]);
  expect(
    (
      await api.get("/signals?select=code&order=meaning", {
        headers: { accept: "application/vnd.pgrst.array+json;nulls=stripped" },
      })
    ).json(),
  ).toHaveLength(2);
});
