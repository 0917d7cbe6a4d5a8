/** HAProxy in front of standalone servers, whose `/ready` it checks. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { folderFor, freePort, startProgram, type Program } from "./support.ts";

export interface Balancer {
  readonly url: string;
  readonly port: number;
  readonly program: Program;
  /** The number of servers that HAProxy considers ready. */
  upCount(): Promise<number>;
}

interface BackendServer {
  readonly port: number;
  readonly adminPort: number;
}

/** The health checks: a server is out after two failed or slow responses in a row. */
const CHECKS = { check: "inter 200ms fall 2", checkTimeout: "2s" };

export const startHaproxy = async (
  servers: readonly BackendServer[],
  { check, checkTimeout }: typeof CHECKS = CHECKS,
): Promise<Balancer> => {
  const folder = folderFor("haproxy");
  const [port, statsPort] = [await freePort(), await freePort()];
  const lines = servers.map(
    (server, i) => `  server s${i} 127.0.0.1:${server.port} check port ${server.adminPort} ${check} rise 1`,
  );
  const file = join(folder, "haproxy.cfg");
  writeFileSync(
    file,
    `global
  maxconn 2000
defaults
  mode http
  timeout connect 2s
  timeout check ${checkTimeout}
  timeout client 60s
  timeout server 60s
  timeout tunnel 1h
  option redispatch
frontend all
  bind 127.0.0.1:${port}
  default_backend relapi
frontend stats
  bind 127.0.0.1:${statsPort}
  stats enable
  stats uri /stats
backend relapi
  balance roundrobin
  option httpchk GET /ready
  http-check expect status 200
${lines.join("\n")}
`,
  );
  const program = await startProgram("haproxy", ["-db", "-f", file], { port });
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    program,
    upCount: async () => {
      // `relapi,s0,0,0,…,UP,…`
      const text = await (await fetch(`http://127.0.0.1:${statsPort}/stats;csv`)).text();
      return text.split("\n").filter((line) => /^relapi,s\d+,.*,UP,/.test(line)).length;
    },
  };
};
