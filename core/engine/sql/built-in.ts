/** A declared part that states what its SQL consists of. */
export interface BuiltIn {
  /** Built-in operators and functions that its SQL names without a schema. If present, even if empty, it promises that
   *  the SQL calls only built-ins and does not depend on the caller. Absent: the SQL may do anything. @rule R-TX-10 */
  readonly builtIn?: readonly string[];
}
