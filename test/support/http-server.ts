/** HTTP servers of tests. */
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { atFileEnd } from "./file-end.ts";

/** Starts a server on a free port, and returns the port. The server is closed with the file. */
export const startHttpServer = async (listener: RequestListener): Promise<number> => {
  const server = createServer(listener);
  server.keepAliveTimeout = 0; // a server that closes an idle connection could reject a request that is already sent
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  atFileEnd(async () => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port; // the server listens on TCP
};
