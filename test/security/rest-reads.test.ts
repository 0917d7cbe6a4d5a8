import { describe, expect, test } from "vitest";
import { fullCompat } from "../../presets/index.ts";
import { startApi } from "../support/api.ts";
import { collectErrors } from "../support/logger.ts";
import { HOSTILE_STRINGS } from "./hostile-strings.ts";

const { logger, lines: internalErrors } = collectErrors();
const api = await startApi({ dbAggregatesEnabled: true, logger });

const quote = (text: string): string => `"${text.replace(/["\\]/g, "\\$&")}"`;
const encode = encodeURIComponent;

/** Sends a request and expects success or an intentional error. */
const send = async (path: string) => {
  const answer = await api.get(path);
  expect(internalErrors, path).toEqual([]);
  expect(answer.status, `${path}: ${answer.text.slice(0, 300)}`).toBeLessThan(500);
  return answer;
};

describe.each(HOSTILE_STRINGS)("%j", (text) => {
  const name = quote(text);

  test("R-SEL-3 a hostile string as an alias is the key of the response", async () => {
    expect((await send(`/vessels?select=${encode(`${name}:name`)}&id=eq.1`)).json()).toEqual([{ [text]: "Ariel" }]);
    expect((await send(`/vessels?select=${encode(`${name}:ports(${name}:name)`)}&id=eq.1`)).json()).toEqual([
      { [text]: { [text]: "Oslo" } },
    ]);
    expect((await send(`/vessels?select=id,...ports(${encode(`${name}:name`)})&id=eq.1`)).json()).toEqual([
      { id: 1, [text]: "Oslo" },
    ]);
    expect((await send(`/ports?select=id,...vessels(${encode(`${name}:id`)})&vessels.id=eq.1&id=eq.1`)).json()).toEqual(
      [{ id: 1, [text]: [1] }],
    );
    expect((await send(`/vessels?select=${encode(`${name}:tonnage.max()`)}`)).json()).toEqual([{ [text]: 853 }]);
  });

  test("R-SEL-1 a hostile string as a column is unknown", async () => {
    for (const path of [
      `/vessels?select=${encode(name)}`,
      `/vessels?${encode(name)}=is.null`,
      `/vessels?order=${encode(name)}`,
      `/vessels?or=${encode(`(${name}.is.null)`)}`,
    ]) {
      expect((await send(path)).json().code, path).toBe("42703");
    }
  });

  test("R-FLT-3 a hostile string as an operand of any operator is a value", async () => {
    expect((await send(`/vessels?name=${encode(`eq.${text}`)}`)).json()).toEqual([]);
    expect((await send(`/vessels?name=${encode(`in.(${quote(text)},Fram)`)}&select=id`)).json()).toEqual([{ id: 2 }]);
    expect((await send(`/vessels?or=${encode(`(name.eq.${quote(text)},id.eq.1)`)}&select=id`)).json()).toEqual([
      { id: 1 },
    ]);
    expect((await send(`/rpc/greet?name=${encode(text)}`)).json()).toBe(`Ahoy, ${text}`);
    const operators = new Set(
      fullCompat({})
        .plugins.flatMap((plugin) => plugin.operators ?? [])
        .flatMap((spec) => (spec.operand === "fields" || spec.rest === false ? [] : (spec.rest ?? spec.name))),
    );
    for (const operator of operators) {
      for (const path of [
        `/vessels?name=${encode(`${operator}.${text}`)}`,
        `/vessels?specs->>crew=${encode(`not.${operator}.${text}`)}`,
        `/kinds?c_ltree=${encode(`${operator}.${text}`)}`,
      ])
        await send(path);
    }
  });

  test("R-LEX-6 a hostile string as a key of a JSON path is a value", async () => {
    expect((await send(`/vessels?select=${encode(`k:specs->${name}->>${name}`)}&id=eq.1`)).json()).toEqual([
      { k: null },
    ]);
    expect((await send(`/vessels?${encode(`specs->${name}`)}=is.null&select=id&order=id`)).json()).toHaveLength(3);
    expect((await send(`/vessels?order=${encode(`specs->>${name}`)},id&select=id`)).json()).toHaveLength(3);
  });

  test("R-SEL-4 a hostile string as the type of a cast is rejected", async () => {
    for (const path of [
      `/vessels?select=${encode(`name::${text}`)}`,
      `/vessels?select=${encode(`tonnage.sum()::${text}`)}`,
    ])
      expect((await send(path)).status).toBe(400);
  });

  test("R-EMB-1 a hostile string as a relation, hint, function or schema is unknown", async () => {
    expect((await send(`/${encode(text)}`)).status).toBe(404);
    expect((await send(`/rpc/${encode(text)}`)).json().code).toBe("PGRST202");
    expect((await send(`/vessels?select=${encode(`${name}(*)`)}`)).json().code).toBe("PGRST200");
    expect((await send(`/vessels?select=${encode(`ports!${name}(*)`)}`)).json().code).toBe("PGRST200");
    expect((await send(`/vessels?${encode(`${name}.name`)}=eq.1`)).json().code).toBe("PGRST108");
  });

  test("R-PRF-4 a hostile string in a header is a value", async () => {
    if (!/^[\x20-\x7e]*$/.test(text)) return; // headers cannot contain this string
    for (const headers of [
      { "accept-profile": text },
      { prefer: `timezone=${text}` },
      { accept: text },
      { range: text },
      { "x-anything": text, cookie: `a=${text}` },
    ]) {
      const answer = await api.get("/vessels?select=id", { headers });
      expect(internalErrors).toEqual([]);
      expect(answer.status, answer.text).toBeLessThan(500);
    }
  });
});

test("R-PROF-5 the data is unchanged after all hostile strings", async () => {
  expect((await api.get("/ports?select=id&order=id")).json()).toEqual([{ id: 1 }, { id: 2 }]);
});
