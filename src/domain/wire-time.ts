// The one form in which a time leaves the broker.

/** UTC `yyyy-mm-ddThh:mm:ss.sZ` with exactly one fraction digit, cut and not rounded (OSB 2.17, Binding Metadata Object). */
export function toWireTime(at: Date): string {
  return at.toISOString().replace(/(\.\d)\d\dZ$/, '$1Z');
}
