/** Describes connections through a pooler in transaction mode. Such a connection is shared: each transaction may run on
 *  another backend, which other clients use before and afterwards. Therefore, no statement is prepared, and each
 *  transaction removes earlier traces and its own. */

/** The facts on which the cleaning after user-defined code depends. There is one object per combination, so the objects
 *  can be compared by identity. */
export interface Sharing {
  /** True if `jit` has its default, so that each transaction must switch `jit` off. */
  readonly setsJit: boolean;
  /** True if the login role may use PL/pgSQL, by which the cleaning runs dynamic SQL. */
  readonly hasPlpgsql: boolean;
}

const ALL_SHARINGS: readonly Sharing[] = [false, true].flatMap((setsJit) =>
  [false, true].map((hasPlpgsql) => ({ setsJit, hasPlpgsql })),
);

/** Returns the one object of a combination, so that callers can compare the objects by identity. */
export const findSharing = (setsJit: boolean, hasPlpgsql: boolean): Sharing =>
  // The list has all combinations.
  ALL_SHARINGS.find((sharing) => sharing.setsJit === setsJit && sharing.hasPlpgsql === hasPlpgsql) as Sharing;

/** The facts about the backend of a new connection. */
export interface Backend {
  readonly isShared: boolean;
  /** True if `jit` was switched off for the whole connection. */
  readonly hasNoJit: boolean;
  /** The facts for transactions, if the connection is shared or later proves to be shared. */
  readonly sharing: Sharing;
}

/** A backend about which no facts were read. */
export const UNKNOWN_BACKEND: Backend = {
  isShared: false,
  hasNoJit: false,
  sharing: findSharing(false, false),
};

/** The one backend of an embedded database. */
export const EMBEDDED_BACKEND: Backend = {
  isShared: false,
  hasNoJit: false,
  sharing: findSharing(false, true),
};

/** Returns the sharing of a connection, or undefined if the connection has its own backend. */
export const getSharing = ({ backend }: { readonly backend: Backend }): Sharing | undefined =>
  backend.isShared ? backend.sharing : undefined;
