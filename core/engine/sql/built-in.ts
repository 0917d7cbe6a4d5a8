/** Part of a plugin that says what its SQL is made of. */
export interface BuiltIn {
  /** Names of the operators and functions of PostgreSQL that it writes without their schema. Given (be it empty) it
   *  promises that its SQL calls nothing but what PostgreSQL brings and asks for nothing of the caller. Absent: it may
   *  do anything. @rule R-TX-10 */
  readonly builtIn?: readonly string[];
}
