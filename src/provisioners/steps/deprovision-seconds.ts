// How long deprovisioning may take where nothing but our own work is waited for.

/** A silent cluster holds a deprovisioning for two minutes (contract 3); the rest is room for a busy runner. */
export const DEPROVISION_SECONDS = 10 * 60;
