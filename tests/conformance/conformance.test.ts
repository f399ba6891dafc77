// The black-box suite: OSB 2.17 as a platform meets it, over HTTP, against a broker that may be anywhere. It imports
// nothing of the product, and nothing that does. README.md says how to run it; docs/osb-coverage.md, which row of the
// specification is shown where.

import { afterAll, beforeAll, describe } from 'vitest';
import { authenticationCases } from './cases/authentication.ts';
import { bindCases } from './cases/bind.ts';
import { catalogCases } from './cases/catalog.ts';
import { contextCases } from './cases/context.ts';
import { errorCases } from './cases/errors.ts';
import { fetchAndUnbindCases } from './cases/fetch-and-unbind.ts';
import { idCases } from './cases/ids.ts';
import { identityCases } from './cases/identities.ts';
import { lastOperationCases, restartCases } from './cases/last-operation.ts';
import { messageCases } from './cases/messages.ts';
import { syncAsyncCases } from './cases/sync-async.ts';
import { updateCases } from './cases/updating.ts';
import { versionCases } from './cases/version.ts';
import type { OpenSubject } from './subject.ts';
import { type OpenTarget, targets } from './targets.ts';

const GROUPS: readonly ((open: OpenSubject) => void)[] = [
  versionCases,
  authenticationCases,
  identityCases,
  messageCases,
  idCases,
  errorCases,
  catalogCases,
  syncAsyncCases,
  lastOperationCases,
  updateCases,
  bindCases,
  fetchAndUnbindCases,
  contextCases,
];

describe.each(targets(process.env))('OSB 2.17 on $name', (target) => {
  describe.skipIf(!target.isThere)('as a platform meets it', () => {
    let opened: OpenTarget | undefined;
    beforeAll(async () => {
      opened = await target.open();
    });
    afterAll(() => opened?.close());
    const open: OpenSubject = () => {
      if (opened === undefined) throw new Error('the broker is open inside hooks and tests only');
      return opened.subject;
    };
    for (const group of target.isOurs ? [...GROUPS, restartCases] : GROUPS) group(open);
  });
});
