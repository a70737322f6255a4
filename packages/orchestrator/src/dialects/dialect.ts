/** How a client wants tools to be named and described, so that neither it nor its model refuses or loses them. */
export interface Dialect {
  /** Of `clientInfo.name`, in small letters: whole, or its beginning when it ends in `*`. */
  clients: readonly string[];
  names: NameRules;
  schemas: SchemaRules;
}

export interface NameRules {
  /** Characters, with room left for what the client puts before them. */
  longest: number;
  /** Every character that is not taken. */
  foreign: RegExp;
  /** Every character that is taken and then made `_`, so that two names could become one. */
  blurred?: RegExp;
}

/** At the root of an input schema unions are always merged: no model API takes them there. */
export interface SchemaRules {
  refs: 'kept' | 'inlined';
  /** Below the root. `anyOf`: only in this spelling. */
  unions: 'kept' | 'anyOf' | 'merged';
  /** A list in `type`. `nullable`: one type and OpenAPI's word for null. */
  types: 'kept' | 'anyOf' | 'nullable';
  /** Arrays whose items differ by place. `items`: one schema for all of them. */
  tuples: 'prefixItems' | 'items';
  /** `strings`: others are told in the description. */
  enums: 'kept' | 'strings';
  /** Objects say `properties`, arrays say `items`, and both say what they are. */
  complete: boolean;
  /** All others are told in the description. */
  keywords: 'all' | ReadonlySet<string>;
}
