// Where a binding is: by the ids that the platform gave.

export interface BindingAddress {
  readonly instanceId: string;
  readonly bindingId: string;
}
