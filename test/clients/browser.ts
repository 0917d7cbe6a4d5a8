/** A headless Chromium, driven over its debugging protocol: opens pages, evaluates expressions and takes pictures. */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WebSocket } from "ws";
import { until } from "../support/until.ts";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

export const chromium: string | undefined = PLACES.find((place) => existsSync(place));

/** One Chromium. Its pages share no state, like the browsers of different people. */
export interface Browser {
  /**
   * Opens a page. Every other host is unreachable, so that a page that needs one fails. `before`: code that runs in the
   * page before its own scripts.
   */
  open(url: string, before?: string): Promise<Page>;
  close(): Promise<void>;
}

export interface Page {
  /** Returns the value of an expression, awaited. The value must be plain. */
  evaluate<Value>(expression: string): Promise<Value>;
  /** Waits until the expression is truthy. */
  until(expression: string): Promise<void>;
  /** Sets the preferences of the person, which pages can query. */
  prefer(scheme: "light" | "dark"): Promise<void>;
  /** Sets the size of the viewport, in CSS pixels. */
  resize(width: number, height: number): Promise<void>;
  /** Takes a PNG of the viewport. */
  screenshot(): Promise<Buffer>;
  /** Errors and requests to other hosts so far. */
  readonly errors: readonly string[];
  close(): Promise<void>;
}

interface Message {
  readonly id?: number;
  readonly sessionId?: string;
  readonly method?: string;
  readonly params?: any;
  readonly result?: any;
  readonly error?: { readonly message: string };
}

/** The errors of Chromium for an expression while the page changes. */
const BETWEEN_PAGES = /context was destroyed|cannot find (?:default execution )?context|target navigated/i;

export const startBrowser = async (): Promise<Browser> => {
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
  // The browser has a process group of its own, because helper processes write to the profile until they end.
  const child = spawn(chromium, args, { detached: true });
  const endpoint = await new Promise<string>((resolve, reject) => {
    let output = "";
    child.stderr.on("data", (text: Buffer) => {
      output += text.toString();
      const address = /DevTools listening on (ws:\S+)/.exec(output)?.[1];
      if (address !== undefined) resolve(address);
    });
    child.once("exit", () => reject(new Error(`Chromium ended: ${output.slice(-500)}`)));
  });
  const socket = new WebSocket(endpoint);
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  const receivers = new Map<number, (message: Message) => void>();
  /** The pages by their sessions. */
  const listeners = new Map<string, (message: Message) => void>();
  socket.on("message", (data) => {
    const message = JSON.parse(String(data)) as Message;
    if (message.id !== undefined) receivers.get(message.id)?.(message);
    else if (message.sessionId !== undefined) listeners.get(message.sessionId)?.(message);
  });
  let count = 0;
  const send = (method: string, params: object, sessionId?: string): Promise<any> =>
    new Promise((resolve, reject) => {
      const id = ++count;
      receivers.set(id, (message) => {
        receivers.delete(id);
        if (message.error === undefined) resolve(message.result);
        else reject(new Error(`${method}: ${message.error.message}`));
      });
      socket.send(JSON.stringify({ id, method, params, sessionId }));
    });

  const open = async (url: string, before = ""): Promise<Page> => {
    const { browserContextId } = await send("Target.createBrowserContext", {});
    const { targetId } = await send("Target.createTarget", { url: "about:blank", browserContextId });
    const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
    const call = (method: string, params: object = {}): Promise<any> => send(method, params, sessionId);
    const errors: string[] = [];
    const { host } = new URL(url);
    listeners.set(sessionId, ({ method, params }) => {
      if (method === "Runtime.exceptionThrown")
        errors.push(String(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text));
      if (method === "Network.requestWillBeSent") {
        const requestUrl = new URL(params.request.url);
        if (requestUrl.protocol.startsWith("http") && requestUrl.host !== host)
          errors.push(`asked for ${requestUrl.href}`);
      }
    });
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
      resize: async (width, height) => {
        const isMobile = width < 600;
        await call("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: isMobile });
      },
      screenshot: async () =>
        Buffer.from((await call("Page.captureScreenshot", { format: "png" })).data as string, "base64"),
      errors,
      close: async () => {
        listeners.delete(sessionId);
        await send("Target.disposeBrowserContext", { browserContextId });
      },
    };
  };
  return {
    open,
    close: async () => {
      const exit = new Promise((resolve) => child.once("exit", resolve));
      socket.close();
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      await exit;
      rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
};

/** Opens a page in its own Chromium, which ends with the page. */
export const openPage = async (url: string, before?: string): Promise<Page> => {
  const browser = await startBrowser();
  return { ...(await browser.open(url, before)), close: browser.close };
};
