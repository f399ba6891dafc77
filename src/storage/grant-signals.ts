// Tells those who wait for a grant, in this process or another, that something became of it. A signal only says "look
// again": the row is the truth, and a signal that is lost costs the time until the wait is looked after anyway.

const CHANNEL = 'runtime_broker_grants';

/** An update of grants whose `awaited` rows are announced when it commits; it gives back the ids that it changed. */
export function toldToWaiters(update: string): string {
  return `with changed as (${update} returning id, awaited)
  select id, case when awaited then pg_notify('${CHANNEL}', id::text) end as told from changed`;
}
