// A dependency of @peculiar/x509 refuses to load where Reflect cannot be asked for class metadata; what it then asks for
// (constructor parameters to inject) is nowhere set. So the answer is "none". Import it before that package.

const NO_METADATA = { getMetadata: () => undefined, getOwnMetadata: () => undefined };

if (!('getMetadata' in Reflect)) Object.assign(Reflect, NO_METADATA);
