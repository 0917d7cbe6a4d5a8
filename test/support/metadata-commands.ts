/** Commands of the metadata API. */
import { asAdmin, type TestApi } from "./api.ts";

/** Sends a command as administrator, and returns its answer. */
export const runCommand = async (api: TestApi, type: string, args: unknown = {}): Promise<any> =>
  (await api.post("/v1/metadata", { headers: asAdmin(), body: { type, args } })).json();
