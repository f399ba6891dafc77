// Makes a configuration immutable all the way down. Secrets freeze as they are: what they hold is private to them.

/** Freezes plain objects and lists, and what they contain; returns the same value. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) {
      deepFreeze(part);
    }
  }
  return value;
}
