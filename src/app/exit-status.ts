// What the server binary tells a shell (docs/configuration.md, "Commands").

export const EXIT_DONE = 0;

/** Something failed. */
export const EXIT_FAILED = 1;

/** Wrong usage or a configuration with faults: nothing was begun. */
export const EXIT_USAGE = 2;
