// Who we are to clusters: the installation's id, and the key that signs the marks on what we make there. The key is
// made at the first start of all and kept sealed; replicas that start at once agree on the first one stored.
import { Secret } from '../domain/secret.ts';
import type { Marker } from '../kubernetes/grant-mark.ts';
import type { Tx } from '../storage/database.ts';
import { markKeyPlace, readInstallation, storeMarkKey } from '../storage/installation.ts';
import type { Sealer } from '../storage/sealing.ts';

export interface MarkerParts {
  readonly sealer: Sealer;
  /** 32 bytes that nobody can foresee. */
  readonly drawKey: () => Buffer;
}

/** @throws SealingError when the stored key cannot be opened: without it our own objects would look foreign to us */
export async function loadMarker(tx: Tx, { sealer, drawKey }: MarkerParts): Promise<Marker> {
  const { id, sealedMarkKey } = await readInstallation(tx);
  const place = markKeyPlace(id);
  const stored =
    sealedMarkKey ??
    (await storeMarkKey(tx, sealer.seal(new Secret(drawKey().toString('base64')), place)));
  const key = Buffer.from(sealer.open(stored, place).reveal(), 'base64');
  return { installation: id, key: new Secret(key) };
}
