/** An API with its `/metrics`. */
import type { PresetPart } from "../../core/index.ts";
import { adminServer, metrics } from "../../plugins/operations/index.ts";
import { startApi, type StartOptions, type TestApi } from "./api.ts";

export interface MeasuredApi extends TestApi {
  /** The URL of the admin listener. */
  readonly adminUrl: string;
  /** The metrics of this project, by name with labels. */
  metrics(): Promise<Readonly<Record<string, number>>>;
}

export const startMeasured = async (
  options: StartOptions,
  measures: readonly PresetPart[] = [metrics],
): Promise<MeasuredApi> => {
  let port = 0;
  const api = await startApi({
    parts: [
      ...measures,
      adminServer({ port: 0, host: "127.0.0.1", onListening: (listeningPort) => (port = listeningPort) }),
    ],
    ...options,
  });
  const read = async (): Promise<Readonly<Record<string, number>>> => {
    // On a busy machine the listener may close an idle connection while the next request is sent on it.
    const response = await fetch(`http://127.0.0.1:${port}/metrics`, { headers: { connection: "close" } });
    const text = await response.text();
    return Object.fromEntries(
      text
        .split("\n")
        .filter((line) => line.startsWith("relapi_"))
        .map((line) => line.split(" "))
        .map(([name, number]) => [name, Number(number)]),
    );
  };
  return { ...api, adminUrl: `http://127.0.0.1:${port}`, metrics: read };
};
