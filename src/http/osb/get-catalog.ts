// GET /v2/catalog: what can be had here. Platforms ask for it every few minutes, so it has an ETag.
import { createHash } from 'node:crypto';

import { getCatalog } from '../../broker/get-catalog.ts';
import type { OsbParts, OsbScope } from './parts.ts';
import { fromCatalog } from './wire-catalog.ts';

export function getCatalogRoute(scope: OsbScope, { broker }: OsbParts): void {
  scope.get('/catalog', async (request, reply) => {
    const body = JSON.stringify(fromCatalog(await getCatalog(broker)));
    const etag = `"${createHash('sha256').update(body).digest('base64url')}"`;
    void reply.header('ETag', etag);
    return knows(request.headers['if-none-match'], etag)
      ? reply.code(304).send()
      : reply.type('application/json; charset=utf-8').send(body);
  });
}

/** A weak tag counts too: the comparison of If-None-Match is the weak one (RFC 9110, 13.1.2). */
function knows(header: string | undefined, etag: string): boolean {
  const tags = (header ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes(etag) || tags.includes('*');
}
