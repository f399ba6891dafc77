// Gives Reflect the three functions that a dependency of @peculiar/x509 insists on when it is loaded (its container asks
// which constructor parameters to inject; here there are none). Import it before the package. Stands in for reflect-metadata.

type Metadata = Map<unknown, unknown>;

const metadataOf = new WeakMap<object, Metadata>();

const additions = {
  defineMetadata(key: unknown, value: unknown, target: object): void {
    const metadata: Metadata = metadataOf.get(target) ?? new Map();
    metadataOf.set(target, metadata.set(key, value));
  },
  getOwnMetadata(key: unknown, target: object): unknown {
    return metadataOf.get(target)?.get(key);
  },
  getMetadata(key: unknown, target: object): unknown {
    for (let at: object | null = target; at !== null; at = Reflect.getPrototypeOf(at)) {
      const value = metadataOf.get(at)?.get(key);
      if (value !== undefined) return value;
    }
    return undefined;
  },
};

if (!('getMetadata' in Reflect)) Object.assign(Reflect, additions);
