/** A GraphQL API of tests: a real server of graphql-http, which keeps its requests. */
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { buildSchema, GraphQLError, type GraphQLSchema } from "graphql";
import { createHandler } from "graphql-http";
import { useServer } from "graphql-ws/use/ws";
import { afterAll } from "vitest";
import { WebSocketServer } from "ws";

/** A keep-alive would close the connection of a reader that pauses for longer than its interval. */
const NO_KEEP_ALIVE = 0;

export const SDL = `
  "The root of the shop."
  type Query {
    countries(continent: Continent, named: CountryFilter, codes: [ID!]): [Country!]!
    country(code: ID!): Country
    search(text: String!): [Found!]!
    node(id: ID!): Node
    secret: String
    failing: String
    mine(owner: String!, filter: MineFilter): String
    big: Big
    ratio: Float
    echo(value: Big, float: Float): Big
  }
  type Mutation {
    add(word: String!): [String!]!
    fail: String
  }
  enum Continent { EU AS }
  input CountryFilter { starts: String = "S", continent: Continent }
  input MineFilter { tenant: String!, words: [String!] }
  interface Node { id: ID! }
  type Country implements Node { id: ID! code: ID! name: String! continent: Continent broken: String }
  type City implements Node { id: ID! title: String! }
  union Found = Country | City
  scalar Big
`;

const COUNTRIES = [
  { __typename: "Country", id: "c1", code: "SE", name: "Sweden", continent: "EU" },
  { __typename: "Country", id: "c2", code: "JP", name: "Japan", continent: "AS" },
  { __typename: "Country", id: "c3", code: "ES", name: "Spain", continent: "EU" },
];
const CITIES = [{ __typename: "City", id: "t1", title: "Stockholm" }];

interface Filter {
  readonly starts: string;
}

/** The resolvers. The mutation `add` adds to `words`. */
export const createRoot = (words: string[] = []) => ({
  countries: ({
    continent,
    named,
    codes,
  }: {
    readonly continent?: string;
    readonly named?: Filter;
    readonly codes?: readonly string[];
  }) =>
    COUNTRIES.filter(
      (country) =>
        (continent === undefined || country.continent === continent) &&
        (named === undefined || country.name.startsWith(named.starts)) &&
        (codes === undefined || codes.includes(country.code)),
    ).map((country) => ({
      ...country,
      broken: () => {
        throw new GraphQLError(`no data for ${country.code}`, { extensions: { code: "BROKEN" } });
      },
    })),
  country: ({ code }: { readonly code: string }) => COUNTRIES.find((country) => country.code === code),
  search: ({ text }: { readonly text: string }) => [
    ...COUNTRIES.filter(({ name }) => name.startsWith(text)),
    ...CITIES.filter(({ title }) => title.startsWith(text)),
  ],
  node: ({ id }: { readonly id: string }) => [...COUNTRIES, ...CITIES].find((entry) => entry.id === id),
  secret: () => "treasure",
  failing: () => {
    throw new GraphQLError("out of order", { extensions: { code: "BROKEN", detail: 7 } });
  },
  mine: ({ owner, filter }: { readonly owner: string; readonly filter?: unknown }) =>
    JSON.stringify({ owner, filter: filter ?? null }),
  ratio: () => 1.5,
  echo: ({ value, float }: { readonly value?: unknown; readonly float?: unknown }) => value ?? float,
  add: ({ word }: { readonly word: string }) => {
    words.push(word);
    return [...words];
  },
  fail: () => {
    throw new GraphQLError("the word is rejected");
  },
});

interface RemoteServer {
  readonly url: string;
  /** The requests so far, without introspection. */
  readonly requests: { readonly headers: IncomingHttpHeaders; readonly body: any }[];
  /** The words that mutations have added. */
  readonly words: string[];
  /** Returns an answer in place of the schema's result, or `wait` to send none. */
  answer: ((body: string) => { readonly status: number; readonly text: string } | "wait" | undefined) | undefined;
  /** The cookies that each answer sets. */
  cookies: string[];
  introspections: number;
  /** True if WebSockets are rejected by the protocol. */
  isRejecting: boolean;
  /** The WebSockets so far: the headers of the upgrade, the payload of `connection_init`, and the operations. */
  readonly sockets: {
    readonly headers: IncomingHttpHeaders;
    readonly payload: any;
    readonly operations: any[];
    isOpen: boolean;
    close(code: number): void;
    /** Ends the connection without a close frame. */
    terminate(): void;
    send(text: string): void;
    /** Returns the bytes that the network has not taken yet. */
    countUnsentBytes(): number;
  }[];
  stop(): Promise<void>;
  start(): Promise<void>;
}

const listen = (server: Server, port: number): Promise<void> =>
  new Promise((resolve, reject) => server.once("error", reject).listen(port, "127.0.0.1", () => resolve()));

/** Starts a server that the file stops at its end. */
export const startRemote = async (schema: string | GraphQLSchema = SDL): Promise<RemoteServer> => {
  const words: string[] = [];
  const handle = createHandler({
    schema: typeof schema === "string" ? buildSchema(schema) : schema,
    rootValue: createRoot(words),
  });
  const create = (): Server => {
    const http = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const text = Buffer.concat(chunks).toString();
        if (text.includes("__schema")) remote.introspections += 1;
        else remote.requests.push({ headers: request.headers, body: JSON.parse(text) });
        const answer = remote.answer?.(text);
        if (answer === "wait") return;
        response.setHeader("set-cookie", remote.cookies);
        if (answer !== undefined) {
          response.writeHead(answer.status, { "content-type": "application/json" }).end(answer.text);
          return;
        }
        const { method = "", url = "", headers } = request;
        void handle({
          method,
          url,
          headers: headers as Record<string, string>,
          body: text,
          raw: request,
          context: {},
        }).then(([body, { status, headers: responseHeaders }]) =>
          response.writeHead(status, responseHeaders).end(body),
        );
      });
    });
    listenForSockets(http);
    return http;
  };
  const listenForSockets = (http: Server): void => {
    const sockets = new WebSocketServer({ server: http });
    useServer(
      {
        schema: typeof schema === "string" ? buildSchema(schema) : schema,
        onConnect: ({ extra, connectionParams }) => {
          const { socket, request } = extra;
          const connection = {
            headers: request.headers,
            payload: connectionParams,
            operations: [] as any[],
            isOpen: true,
            close: (code: number) => socket.close(code),
            terminate: () => socket.terminate(),
            send: (text: string) => socket.send(text),
            countUnsentBytes: () => socket.bufferedAmount,
          };
          socket.on("close", () => (connection.isOpen = false));
          connectionBySocket.set(socket, connection);
          remote.sockets.push(connection);
          return !remote.isRejecting;
        },
        onSubscribe: ({ extra }, _id, payload) => void connectionBySocket.get(extra.socket)?.operations.push(payload),
      },
      sockets,
      NO_KEEP_ALIVE,
    );
  };
  const connectionBySocket = new WeakMap<object, RemoteServer["sockets"][number]>();
  let server = create();
  await listen(server, 0);
  const { port } = server.address() as AddressInfo; // a listening server has an address
  const remote: RemoteServer = {
    url: `http://127.0.0.1:${port}/graphql`,
    requests: [],
    words,
    answer: undefined,
    cookies: [],
    introspections: 0,
    isRejecting: false,
    sockets: [],
    stop: () => {
      for (const socket of remote.sockets) socket.terminate();
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
    start: () => {
      server = create();
      return listen(server, port);
    },
  };
  afterAll(() => remote.stop());
  return remote;
};
