/** A headless Chromium, driven over its debugging protocol: enough to open a page, run something on it and take its
 *  picture. */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WebSocket } from "ws";
import { until } from "../support/until.ts";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

export const chromium: string | undefined = PLACES.find((place) => existsSync(place));

export interface Page {
  /** Value of an expression, awaited; must be plain. */
  evaluate<Value>(expression: string): Promise<Value>;
  /** Until the expression is truthy. */
  until(expression: string): Promise<void>;
  /** What the person prefers, as pages can ask. */
  prefer(scheme: "light" | "dark"): Promise<void>;
  /** Of the viewport, a PNG. */
  screenshot(): Promise<Buffer>;
  /** Errors and requests to other hosts seen so far. */
  readonly faults: readonly string[];
  close(): Promise<void>;
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: any;
  readonly result?: any;
  readonly error?: { readonly message: string };
}

/** What Chromium says to an expression while it goes from one page to the next. */
const BETWEEN_PAGES = /context was destroyed|cannot find (?:default execution )?context|target navigated/i;

/** Every other host is unreachable, so that a page that needs one shows it. `before`: run in the page before its own
 *  scripts. */
export const openPage = async (url: string, before = ""): Promise<Page> => {
  if (chromium === undefined) throw new Error("no Chromium here");
  const profile = mkdtempSync(join(tmpdir(), "relapi-browser-"));
  const args = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--window-size=1280,800",
    "--remote-debugging-port=0",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    `--user-data-dir=${profile}`,
    "about:blank",
  ];
  // a group of its own: its helper processes write to the profile until they are ended as well
  const child = spawn(chromium, args, { detached: true });
  const endpoint = await new Promise<string>((resolve, reject) => {
    let output = "";
    child.stderr.on("data", (text: Buffer) => {
      output += text.toString();
      const found = /DevTools listening on (ws:\S+)/.exec(output)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once("exit", () => reject(new Error(`Chromium ended: ${output.slice(-500)}`)));
  });
  const socket = new WebSocket(endpoint);
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  const waiting = new Map<number, (message: Message) => void>();
  const faults: string[] = [];
  const host = new URL(url).host;
  socket.on("message", (data) => {
    const message = JSON.parse(String(data)) as Message;
    if (message.id !== undefined) waiting.get(message.id)?.(message);
    if (message.method === "Runtime.exceptionThrown")
      faults.push(
        String(message.params.exceptionDetails.exception?.description ?? message.params.exceptionDetails.text),
      );
    if (message.method === "Network.requestWillBeSent") {
      const asked = new URL(message.params.request.url);
      if (asked.protocol.startsWith("http") && asked.host !== host) faults.push(`asked for ${asked.href}`);
    }
  });
  let count = 0;
  let session: string | undefined;
  const call = (method: string, params: object = {}): Promise<any> =>
    new Promise((resolve, reject) => {
      const id = ++count;
      waiting.set(id, (message) => {
        waiting.delete(id);
        if (message.error === undefined) resolve(message.result);
        else reject(new Error(`${method}: ${message.error.message}`));
      });
      socket.send(JSON.stringify({ id, method, params, ...(session === undefined ? {} : { sessionId: session }) }));
    });
  const { targetId } = await call("Target.createTarget", { url: "about:blank" });
  session = (await call("Target.attachToTarget", { targetId, flatten: true })).sessionId as string;
  await call("Page.enable");
  await call("Runtime.enable");
  await call("Network.enable");
  if (before !== "") await call("Page.addScriptToEvaluateOnNewDocument", { source: before });
  await call("Page.navigate", { url });

  const evaluate = async <Value>(expression: string): Promise<Value> => {
    const { result, exceptionDetails } = await call("Runtime.evaluate", {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails !== undefined)
      throw new Error(String(exceptionDetails.exception?.description ?? exceptionDetails.text));
    return result.value as Value;
  };
  return {
    evaluate,
    until: (expression) =>
      until(
        () =>
          evaluate<boolean>(`Boolean(${expression})`).catch((error: Error) => {
            if (BETWEEN_PAGES.test(error.message)) return false;
            throw error;
          }),
        expression,
      ),
    prefer: async (scheme) => {
      await call("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
    },
    screenshot: async () =>
      Buffer.from((await call("Page.captureScreenshot", { format: "png" })).data as string, "base64"),
    faults,
    close: async () => {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      socket.close();
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      await ended;
      rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
};
