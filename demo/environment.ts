// The environment of the demo, as it is handed around, and the two switches in it.

export type Environment = Readonly<Record<string, string | undefined>>;

/** Whether nobody is there to press Ctrl-C. Some systems set CI to say that it is not one. */
export function isUnattended(env: Environment): boolean {
  return !['', '0', 'false'].includes((env['CI'] ?? '').toLowerCase());
}

/** https://no-color.org */
export function wantsColours(env: Environment): boolean {
  return (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
}
