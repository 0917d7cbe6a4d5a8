/**
 * Runs in each test file. It imports no other module of the project, so that a test of one module loads only that
 * module.
 */
import { afterAll } from "vitest";
import { closeAll } from "./file-end.ts";

afterAll(closeAll);
