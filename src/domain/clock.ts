// Where "now" comes from. It is handed to whoever needs it, so that tests can move it and nothing reads the
// machine's clock on its own.

export type Clock = () => Date;

export function addMs(at: Date, ms: number): Date {
  return new Date(at.getTime() + ms);
}

export function addSeconds(at: Date, seconds: number): Date {
  return addMs(at, seconds * 1000);
}
