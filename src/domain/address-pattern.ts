// How an operator names addresses of own clusters to allow or to deny. What they are compared with, and what is
// refused without them, is the business of kubernetes/address-rules.ts.

export type AddressPattern =
  | {
      readonly kind: 'network';
      readonly family: 'ipv4' | 'ipv6';
      readonly address: string;
      readonly prefixLength: number;
    }
  /** Lower case; `*.` in front stands for any name below it. */
  | { readonly kind: 'host'; readonly name: string };

/** What is denied stays denied, whatever allows it. */
export interface AddressRules {
  readonly allow: readonly AddressPattern[];
  readonly deny: readonly AddressPattern[];
}
