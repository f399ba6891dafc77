// Three rules of the domain in the words of SQL, for statements that count or mark many grants at once. Tests hold each
// against its original: takesSlot (domain/slots.ts) and issueIsDead (domain/binding.ts).

/** Arguments are SQL: alias of the grants table, and what stands for the time. */
export function takesSlot(grant: string, now: string): string {
  return `(${grant}.ended_at is null and case when ${grant}.expires_at is null
    then ${grant}.revoking_since is null else ${grant}.expires_at > ${now} end)`;
}

/** No outcome is stored yet and none was forbidden. */
export function isBeingIssued(grant: string): string {
  return `(${grant}.ended_at is null and ${grant}.expires_at is null and ${grant}.revoking_since is null)`;
}

/** `livingSince` stands for the time at or after which a replica that lives was seen. */
export function issueIsDead(grant: string, now: string, livingSince: string): string {
  return `(${grant}.issuing_until <= ${now} or not exists (
    select 1 from replicas where replicas.id = ${grant}.replica_id and replicas.seen_at >= ${livingSince}
  ))`;
}
