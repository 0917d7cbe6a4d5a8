/** Documents on their way to an answer: requests, operations, and the engine that others are offered. */
import type { BoundValue, Json, Planned, Session } from "../../core/index.ts";
import type { GqlFunctionRequest, GqlLoadedRow } from "./parts.ts";

export interface GqlRequest {
  readonly query: string;
  readonly operationName?: string;
  readonly variables?: Readonly<Record<string, Json>>;
}

/** What depends on the role's schema and the document text alone: parsed, chosen, checked as far as values do not
 *  matter. */
export interface PreparedDocument {
  readonly operation: "query" | "mutation" | "subscription";
  /** Checks and coerces the values; equal shapes give the same `planned` objects. @throws RelApiError */
  bind(variables: Readonly<Record<string, Json>> | undefined): GqlOperation;
}

/** Ready to run: one transaction, its statements in order, and how their bodies make the answer. */
export interface GqlOperation {
  readonly kind: "query" | "mutation" | "subscription";
  /** `read write` also for queries that call VOLATILE functions. */
  readonly access: "read only" | "read write";
  readonly steps: readonly GqlStep[];
  readonly outputs: readonly GqlOutput[];
  /** Functions of plugins that answer fields: they run before the transaction. */
  readonly calls: readonly GqlCall[];
  /** Fields of rows that functions of plugins answer when the transaction is over. */
  readonly loads: readonly GqlLoads[];
  /** To be called when it has run: document and plan are kept from then on. */
  keep(): void;
}

export interface GqlStep {
  readonly planned: Planned;
  readonly values: readonly BoundValue[];
  /** Where errors of the database belong when the statement does not say (G-DBE). */
  readonly path: string;
}

export interface GqlCall {
  /** `plugin "weather", field query_root.weather`, for the log. */
  readonly origin: string;
  /** Of the field. */
  readonly path: string;
  /** The JSON text of the field. */
  run(asked: Pick<GqlFunctionRequest, "session" | "signal">): Promise<string>;
}

/** What functions load for the body of one step. */
export interface GqlLoads {
  readonly step: number;
  /** Where their rows stand in the body. */
  readonly tree: GqlLoadTree;
  readonly fields: readonly GqlLoad[];
}

/** By response name: what is in there, or a number: an object with the columns that this one of the fields needs. */
export type GqlLoadTree = ReadonlyMap<string, GqlLoadTree | number>;

export interface GqlLoad extends Pick<GqlCall, "origin" | "path"> {
  /** Two with the same form answer the same rows with the same text. */
  readonly form: string;
  /** JSON texts in the order of the rows. */
  run(rows: readonly GqlLoadedRow[], asked: Pick<GqlFunctionRequest, "session" | "signal">): Promise<readonly string[]>;
}

/** Pieces of the `data` object, in order of selection. */
export type GqlOutput =
  /** JSON text known already: introspection, `__typename`, writes that touch nothing */
  | { readonly as: string; readonly text: string }
  /** the body of a step is the value */
  | { readonly as: string; readonly step: number }
  /** the body of a step is an object whose keys stand here (`Bundle`) */
  | { readonly bundle: number }
  /** what a call answers */
  | { readonly as: string; readonly call: number }
  /** a list, one element per step: its body; text where it is known already (`update_T_many`) */
  | { readonly as: string; readonly list: readonly (number | string)[] }
  /** a namespace of a mutation */
  | { readonly as: string; readonly of: readonly GqlOutput[] };

/** What the GraphQL plugin offers to others (`GraphqlService`). */
export interface GqlEngine {
  /** The document, from the cache where it is there. @throws RelApiError */
  prepare(request: GqlRequest, session: Session): PreparedDocument;
  /** Runs it; the text of the `data` object. @throws RelApiError */
  run(operation: GqlOperation, session: Session, run?: GqlRunOptions): Promise<string>;
  /** The text of the `data` object from the bodies of the steps. */
  assemble(operation: GqlOperation, bodies: readonly (string | null)[]): string;
  /** The same with what functions load for it. @throws RelApiError */
  complete(operation: GqlOperation, bodies: readonly (string | null)[], session: Session): Promise<string>;
  /** JSON whose numbers keep all their digits, for `readRequest`. @throws SyntaxError */
  parseJson(text: string): Json;
  /** A request object (G-HTTP-1) from such a value. @throws RelApiError */
  readRequest(value: Json): GqlRequest;
  /** `{"errors":[…]}` (G-ERR-1) of an error; anything but a RelApiError is logged and answered as an internal one. */
  encodeErrors(error: unknown, session: Session | undefined): { readonly body: string; readonly status: number };
}

export interface GqlRunOptions {
  readonly settings?: readonly (readonly [name: string, value: string])[];
  readonly onGone?: (listener: () => void) => () => void;
  /** Of writes; commit unless given. @rule G-TX-6 */
  readonly end?: "commit" | "rollback";
}
