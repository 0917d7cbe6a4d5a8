/** Runs in each test file. Imports nothing of the project, so that a test of one module loads that module alone. */
import { afterAll } from "vitest";
import { closeAll } from "./file-end.ts";

afterAll(closeAll);
