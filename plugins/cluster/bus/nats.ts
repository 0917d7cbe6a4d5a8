/** Passes messages through NATS: `BUS_URL=nats://user:password@host:4222`. Several hosts of a cluster are separated by
 *  commas, and `tls://` requires encryption. @rule X-BUS-4 */
import { setTimeout as pause } from "node:timers/promises";
import type { NatsConnection, NodeConnectionOptions, TokenAuth, UserPass } from "@nats-io/transport-node";
import { getErrorMessage, definePlugin, importPackage } from "../../../core/index.ts";
import { openBusHook, type BusHandlers, type BusTransport } from "../api.ts";

const RECONNECT_MS = 500;
/** The interval of pings. A server that does not answer two pings in a row counts as lost. */
const PING_MS = 2000;
const CONNECT_MS = 5000;
const CLOSE_MS = 500;
/** The default size limit of a server, which applies until the connection reports the actual limit. */
const DEFAULT_MAX_BYTES = 1024 * 1024;

/** Passes the messages of the bus through NATS. */
export const natsBus = definePlugin({
  name: "nats-bus",
  requires: ["bus"],
  apply: (_hooks, context) => {
    const { logger, options } = context;
    context.use(openBusHook).tap("nats-bus", (url, namespace, handlers) => {
      if (!/^(nats|tls):\/\//i.test(url)) return undefined;
      const readUrl = (): string => options.freshUrl?.("busUrl") ?? url;
      return createNatsBus(readUrl, namespace, handlers, (reason) =>
        logger.warn("the bus cannot be reached yet; trying again", { reason }),
      );
    });
  },
});

const parseUrls = (text: string): readonly URL[] => text.split(",").map((url) => new URL(url.trim()));

/** Returns the credentials of the first URL that has some: user and password, or a token in the place of the user. */
const readCredentials = (text: string): UserPass | TokenAuth | undefined => {
  const { username = "", password = "" } = parseUrls(text).find((url) => url.username !== "") ?? {};
  const [user, pass] = [decodeURIComponent(username), decodeURIComponent(password)];
  return user === "" ? undefined : pass === "" ? { auth_token: user } : { user, pass };
};

/** Builds the options of a connection. `readUrl` is called again for each connection, because credentials may
 *  rotate. */
const buildOptions = (readUrl: () => string): NodeConnectionOptions => {
  const urls = parseUrls(readUrl());
  return {
    servers: urls.map(({ host }) => host),
    ...(readCredentials(readUrl()) === undefined ? {} : { authenticator: () => readCredentials(readUrl()) }),
    ...(urls.some(({ protocol }) => protocol === "tls:") ? { tls: {} } : {}),
  };
};

const createNatsBus = (
  readUrl: () => string,
  namespace: string,
  { onMessage, onConnect, onDisconnect }: BusHandlers,
  logUnreachable: (reason: string) => void,
): BusTransport => {
  const subscriptions = new Map<string, (() => void) | undefined>();
  const buildSubject = (topic: string): string => `${namespace}.${topic}`;
  let connection: NatsConnection | undefined;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;

  const listen = (natsConnection: NatsConnection, topic: string): void => {
    const subscription = natsConnection.subscribe(buildSubject(topic), {
      callback: (error, message) => {
        if (error === null) onMessage(topic, message.string());
      },
    });
    subscriptions.set(topic, () => subscription.unsubscribe());
  };

  const follow = async (openedConnection: NatsConnection): Promise<void> => {
    for await (const { type } of openedConnection.status()) {
      if (type === "disconnect") onDisconnect("the connection was lost");
      else if (type === "reconnect") onConnect(); // subscriptions are already restored
    }
  };

  const connect = async (hasFailed = false): Promise<void> => {
    try {
      const nats = (await importPackage(
        "@nats-io/transport-node",
        "nats-bus",
      )) as typeof import("@nats-io/transport-node");
      const openedConnection = await nats.connect({
        ...buildOptions(readUrl),
        name: namespace,
        noEcho: true,
        maxReconnectAttempts: -1,
        reconnectTimeWait: RECONNECT_MS,
        pingInterval: PING_MS,
        timeout: CONNECT_MS,
        ignoreAuthErrorAbort: true, // passwords may change at runtime
      });
      if (isClosed) return void (await openedConnection.close());
      connection = openedConnection;
      void follow(openedConnection);
      for (const topic of subscriptions.keys()) listen(openedConnection, topic);
      await openedConnection.flush();
      onConnect();
    } catch (error) {
      if (isClosed) return;
      if (!hasFailed) logUnreachable(getErrorMessage(error));
      timer = setTimeout(() => void connect(true), RECONNECT_MS * 2);
    }
  };

  void connect();
  return {
    get maxBytes() {
      return connection?.info?.max_payload ?? DEFAULT_MAX_BYTES;
    },
    publish: (topic, text) => connection?.publish(buildSubject(topic), text),
    subscribe: (topic) => {
      subscriptions.set(topic, undefined);
      if (connection !== undefined) listen(connection, topic);
    },
    unsubscribe: (topic) => {
      subscriptions.get(topic)?.();
      subscriptions.delete(topic);
    },
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      // A lost server does not answer, so the wait is limited.
      await Promise.race([connection?.flush().catch(() => undefined), pause(CLOSE_MS, undefined, { ref: false })]);
      await connection?.close();
    },
  };
};
