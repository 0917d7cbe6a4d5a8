/** `relapi/live-client` in a real browser, with its own EventSource, and as a module of the package. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { connect, createServer as createTcpServer, type AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { definePlugin, type Counters } from "../../core/index.ts";
import { startApi } from "../support/api.ts";
import { until } from "../support/until.ts";
import { startHttpServer } from "../support/http-server.ts";
import { chromium, openPage } from "./browser.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const source = readFileSync(`${root}plugins/live/patches/client.ts`, "utf8");

test("X-PAT-6 the live client imports nothing, and uses nothing that browsers do not have", () => {
  expect(source).not.toMatch(/^\s*import |\brequire\(|\bimport\(|\b(?:process|Buffer|global)\b\./m);
  const exportedFile = JSON.parse(readFileSync(`${root}package.json`, "utf8")).exports["./live-client"];
  expect(exportedFile).toBe("./dist/plugins/live/patches/client.js");
});

test.skipIf(chromium === undefined)(
  "X-PAT-6 X-PAT-7 the live client keeps its rows current in a browser, by patches and after a restart of the server",
  async () => {
    const clientModule = execFileSync(`${root}node_modules/.bin/esbuild`, ["--loader=ts", "--format=esm"], {
      input: source,
    });
    const pagePort = await startHttpServer((request, response) => {
      const isModule = request.url === "/client.js";
      response.setHeader("content-type", isModule ? "text/javascript" : "text/html");
      response.end(isModule ? clientModule : "<!doctype html><title>rows</title>");
    });

    const options = { dbSchemas: ["public"], anonRole: "music_reader", liveQueryInterval: 50 };
    let api = await startApi(options);
    // The address stays the same when the server is replaced.
    const front = createTcpServer((client) => {
      const upstream = connect(api.port, "127.0.0.1");
      for (const [from, to] of [
        [client, upstream],
        [upstream, client],
      ] as const)
        from.on("error", () => to.destroy()).pipe(to);
    });
    await new Promise<void>((resolve) => front.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void front.close());
    await api.sql(`create table public.line (id int primary key, text text);
      insert into public.line select i, repeat('long ', 10) || i from generate_series(1, 5) i;
      grant select on public.line to music_reader`);
    await api.reload();
    const browser = await openPage(`http://127.0.0.1:${pagePort}/`);
    onTestFinished(() => browser.close());
    await browser.evaluate(`import("/client.js").then(({ createRestPatchApplier }) => {
      window.sent = []; window.shown = []; window.opened = 0;
      const rows = createRestPatchApplier();
      const events = new EventSource("http://127.0.0.1:${(front.address() as AddressInfo).port}/api/line?order=id&live=patch");
      events.onopen = () => opened++;
      events.onmessage = ({ data }) => { sent.push(data); shown.push(rows(data)); };
    })`);
    await browser.until("shown.length === 1 && shown[0].length === 5");
    await api.sql("insert into public.line values (0, 'first')");
    await browser.until("shown.length === 2");
    expect(await browser.evaluate("JSON.parse(sent[1])")).toEqual({
      version: 2,
      patch: [{ op: "add", path: "/0", value: { id: 0, text: "first" } }],
    });
    expect(await browser.evaluate("shown[1].map(({ id }) => id)")).toEqual([0, 1, 2, 3, 4, 5]);
    expect(await browser.evaluate("shown[1][1] === shown[0][0]")).toBe(true);

    // The result is the same afterwards, so no event is sent.
    await api.close();
    let counters: Counters | undefined;
    const counting = definePlugin({ name: "counting", apply: (_, context) => void (counters = context.counters) });
    api = await startApi({ ...options, parts: [counting] });
    await browser.until("opened === 2");
    await until(
      () => counters?.get("live-subscribers") === 1 && counters.get("live-queries-due") === 0,
      "the new server has run the query",
    );
    // A result that was sent would be shown before the next one.
    await api.sql("delete from public.line where id = 3");
    await browser.until("shown.length === 3");
    expect(await browser.evaluate("shown[2].map(({ id }) => id)")).toEqual([0, 1, 2, 4, 5]);
    expect(await browser.evaluate("JSON.parse(sent[2]).version")).toBe(1);
    await api.close();
  },
);
