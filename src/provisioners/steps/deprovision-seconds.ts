// How long deprovisioning, and suspension, may take where nothing but our own work is waited for.

/** A silent cluster holds either for two minutes (`revoke-bindings`); the rest is room for a busy runner. */
export const DEPROVISION_SECONDS = 10 * 60;
