// A list of requests with many refusals in it, in an order in which each finds what the earlier ones left behind.
// `NS` stands for a namespace of the run, `RUN` for a part of names that lie in no namespace.

import type { RawRequest } from '../../support/raw-requests.ts';

export interface ComparedRequest extends RawRequest {
  /** Instead of the administrator: the account `limited` in NS, nobody, or somebody with a token that is none. */
  readonly as?: 'limited' | 'anonymous' | 'stranger';
}

const MERGE = 'application/merge-patch+json';
const STRATEGIC = 'application/strategic-merge-patch+json';
const JSON_PATCH = 'application/json-patch+json';
const MAPS = '/api/v1/namespaces/NS/configmaps';
const ACCOUNTS = '/api/v1/namespaces/NS/serviceaccounts';
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const REVIEWS = '/apis/authorization.k8s.io/v1';
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

function metadataAs(form: string): string {
  return `application/json;as=${form};g=meta.k8s.io;v=v1,application/json`;
}

const get = (path: string, more: Partial<ComparedRequest> = {}): ComparedRequest => ({
  method: 'GET',
  path,
  ...more,
});
const post = (
  path: string,
  body: unknown,
  more: Partial<ComparedRequest> = {},
): ComparedRequest => ({
  method: 'POST',
  path,
  body,
  ...more,
});
const put = (path: string, body: unknown): ComparedRequest => ({ method: 'PUT', path, body });
const patch = (path: string, body: unknown, contentType = MERGE): ComparedRequest => ({
  method: 'PATCH',
  path,
  body,
  contentType,
});
const remove = (path: string, body?: unknown): ComparedRequest => ({
  method: 'DELETE',
  path,
  body,
});
const named = (name: string, more: object = {}): object => ({ metadata: { name, ...more } });
const precondition = (preconditions: object): object => ({
  kind: 'DeleteOptions',
  apiVersion: 'v1',
  preconditions,
});

const PATHS: readonly ComparedRequest[] = [
  get('/api'),
  get('/apis'),
  get('/api/v1'),
  get('/apis/rbac.authorization.k8s.io'),
  get('/apis/rbac.authorization.k8s.io/v1'),
  get('/apis/nope.example.com'),
  get('/version'),
  get('/readyz'),
  get('/nope'),
  get('/openapi/v3'),
  get('/api/v1/foos'),
  get('/apis/nope.example.com/v1/things'),
  get('/api/v1/namespaces/NS/namespaces'),
  get('/api/v1/configmaps/x'),
  get(`${RBAC}/namespaces/NS/clusterroles`),
  get('/api/v1/namespaces', { accept: 'text/html' }),
  put('/api/v1/namespaces', {}),
  remove('/api/v1/namespaces'),
  { method: 'HEAD', path: '/api/v1/namespaces' },
  { method: 'OPTIONS', path: '/api/v1/namespaces' },
];

const CREATIONS: readonly ComparedRequest[] = [
  post(MAPS, named('Bad_Name')),
  post(MAPS, named('a.b')),
  post(MAPS, { metadata: {} }),
  post(MAPS, { metadata: { generateName: 'made-' } }),
  post(MAPS, { kind: 'Secret', apiVersion: 'v1', ...named('a') }),
  post(MAPS, { kind: 'ConfigMap', apiVersion: 'v2', ...named('a') }),
  post(MAPS, named('a', { resourceVersion: '5' })),
  post(MAPS, named('a', { namespace: 'other' })),
  post(MAPS, named('a', { labels: { a: '--' } })),
  post(MAPS, named('a', { labels: { a: 5 } })),
  post(MAPS, named('a', { annotations: { 'a b': '' } })),
  post(MAPS, named('a', { finalizers: ['x'] })),
  post(MAPS, '{nope'),
  post(MAPS, 'a: b', { contentType: 'text/plain' }),
  post(`${MAPS}?dryRun=Some`, named('a')),
  post(`${MAPS}?dryRun=All`, named('a')),
  get(`${MAPS}/a`),
  post('/api/v1/namespaces/no-such-namespace/configmaps', named('a')),
  post('/api/v1/configmaps', named('a', { namespace: 'NS' })),
  post(MAPS, { ...named('a', { labels: { a: 'b' } }), data: { k: 'v' } }),
  post(MAPS, named('a')),
  post('/api/v1/namespaces', named('with.dots')),
  post('/api/v1/namespaces/NS/secrets', { ...named('s'), stringData: { a: 'b' } }),
  post('/api/v1/namespaces/NS/secrets', { ...named('t'), data: { a: '%%' } }),
  patch('/api/v1/namespaces/NS/secrets/s', { type: 'other' }),
  post('/api/v1/namespaces/NS/pods', { ...named('p'), spec: { containers: [] } }),
];

const READS: readonly ComparedRequest[] = [
  get(`${MAPS}/a`),
  get(`${MAPS}/none`),
  get(MAPS),
  get(`${MAPS}?labelSelector=a%3Db`),
  get(`${MAPS}?labelSelector=a+in+(b`),
  get(`${MAPS}?labelSelector=a+notin+(b),!c`),
  get(`${MAPS}?fieldSelector=metadata.name%3Da`),
  get(`${MAPS}?fieldSelector=spec.x%3Dy`),
  get(`${MAPS}?limit=1`),
  get(`${MAPS}?limit=x`),
  get(`${MAPS}?limit=1&continue=zzz`),
  get(`${MAPS}/a`, { accept: TABLE }),
  get(MAPS, { accept: TABLE }),
  get(`${MAPS}/a`, { accept: metadataAs('PartialObjectMetadata') }),
  get(MAPS, { accept: metadataAs('PartialObjectMetadataList') }),
];

const CHANGES: readonly ComparedRequest[] = [
  put(`${MAPS}/a`, named('a', { resourceVersion: '1' })),
  put(`${MAPS}/a`, named('a', { uid: 'other' })),
  put(`${MAPS}/a`, named('b')),
  put(`${MAPS}/none`, named('none')),
  put(`${MAPS}/a`, { ...named('a'), data: { k: 'w' } }),
  patch(`${MAPS}/a`, { metadata: { uid: 'other' } }),
  patch(`${MAPS}/a`, { metadata: { resourceVersion: '1' } }),
  patch(`${MAPS}/a`, { metadata: { name: 'c' } }),
  patch(`${MAPS}/a`, { data: { k: null, l: 'm' } }),
  patch(`${MAPS}/a`, { data: { n: 'o' } }, STRATEGIC),
  patch(`${MAPS}/a`, [{ op: 'test', path: '/data/l', value: 'other' }], JSON_PATCH),
  patch(`${MAPS}/a`, [{ op: 'remove', path: '/data/none' }], JSON_PATCH),
  patch(`${MAPS}/a`, [{ op: 'replace', path: '/data/l', value: 'p' }], JSON_PATCH),
  patch(`${MAPS}/a`, { data: {} }, 'application/json'),
  patch(`${MAPS}/none`, { data: {} }),
  patch(`${MAPS}/a`, { metadata: { finalizers: ['example.com/mine'] } }),
];

const DELETIONS: readonly ComparedRequest[] = [
  remove(`${MAPS}/a`, precondition({ uid: 'other' })),
  remove(`${MAPS}/a`, precondition({ resourceVersion: '1' })),
  remove(`${MAPS}/a`, { kind: 'Other', apiVersion: 'v1' }),
  remove(`${MAPS}/a`),
  get(`${MAPS}/a`),
  patch(`${MAPS}/a`, { metadata: { finalizers: ['example.com/mine', 'example.com/more'] } }),
  remove(`${MAPS}/a`),
  patch(`${MAPS}/a`, { metadata: { finalizers: null } }),
  get(`${MAPS}/a`),
  remove(`${MAPS}/a`),
  remove(`${MAPS}?labelSelector=a%3Db`),
  remove('/api/v1/namespaces/kube-system'),
  remove('/api/v1/namespaces/NS/secrets/s'),
];

const TOKENS: readonly ComparedRequest[] = [
  post(`${ACCOUNTS}/limited/token`, { spec: { expirationSeconds: 599 } }),
  post(`${ACCOUNTS}/limited/token`, { spec: { expirationSeconds: 4_294_967_297 } }),
  post(`${ACCOUNTS}/limited/token`, { metadata: { uid: 'other' }, spec: {} }),
  post(`${ACCOUNTS}/none/token`, { spec: {} }),
  post(`${ACCOUNTS}/limited/token`, { spec: { expirationSeconds: 600 } }),
  get(`${ACCOUNTS}/limited/token`),
  post(ACCOUNTS, named('short')),
  remove(`${ACCOUNTS}/short`),
];

const ROLES: readonly ComparedRequest[] = [
  post(`${RBAC}/clusterroles`, { ...named('a/b'), rules: [] }),
  post(`${RBAC}/clusterroles`, { ...named('RUN:Upper'), rules: [] }),
  post(`${RBAC}/clusterroles`, { ...named('RUN-x'), rules: 'x' }),
  post(`${RBAC}/clusterroles`, {
    ...named('RUN-x'),
    rules: [{ apiGroups: [''], resources: ['pods'] }],
  }),
  post(`${RBAC}/namespaces/NS/roles`, {
    ...named('x'),
    rules: [{ nonResourceURLs: ['/x'], verbs: ['get'] }],
  }),
  post(`${RBAC}/clusterrolebindings`, {
    ...named('RUN-b'),
    roleRef: { kind: 'ClusterRole', name: 'none' },
    subjects: [{ kind: 'ServiceAccount', name: 'x' }],
  }),
  post(`${RBAC}/clusterrolebindings`, {
    ...named('RUN-b'),
    roleRef: { kind: 'Role', name: 'none' },
  }),
  post(`${RBAC}/clusterrolebindings`, {
    ...named('RUN-b'),
    roleRef: { kind: 'ClusterRole', name: 'none' },
    subjects: [{ kind: 'User', name: 'x' }],
  }),
  patch(`${RBAC}/clusterrolebindings/RUN-b`, { roleRef: { name: 'other' } }),
  patch(`${RBAC}/clusterrolebindings/RUN-b`, { subjects: null }),
  remove(`${RBAC}/clusterrolebindings/RUN-b`),
  put(`${RBAC}/clusterroles/RUN-fresh`, named('RUN-fresh')),
  remove(`${RBAC}/clusterroles/RUN-fresh`),
  remove(`${RBAC}/clusterroles/RUN:Upper`),
];

/** `limited` has `get` of config maps in NS, and `create` of roles and role bindings there. */
const OTHERS: readonly ComparedRequest[] = [
  get(MAPS, { as: 'anonymous' }),
  get('/api/v1', { as: 'anonymous' }),
  get('/version', { as: 'anonymous' }),
  get(MAPS, { as: 'stranger' }),
  get('/version', { as: 'stranger' }),
  get(`${MAPS}/none`, { as: 'limited' }),
  get(MAPS, { as: 'limited' }),
  get('/api', { as: 'limited' }),
  get('/metrics', { as: 'limited' }),
  get('/api/v1/namespaces/default/configmaps/none', { as: 'limited' }),
  post(MAPS, named('x'), { as: 'limited' }),
  post(
    `${RBAC}/namespaces/NS/roles`,
    {
      ...named('more'),
      rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }],
    },
    { as: 'limited' },
  ),
  post(
    `${RBAC}/namespaces/NS/roles`,
    {
      ...named('same'),
      rules: [{ apiGroups: [''], resources: ['configmaps'], resourceNames: ['x'], verbs: ['get'] }],
    },
    { as: 'limited' },
  ),
  post(
    `${RBAC}/namespaces/NS/rolebindings`,
    {
      ...named('more'),
      roleRef: { kind: 'ClusterRole', name: 'cluster-admin' },
    },
    { as: 'limited' },
  ),
  post(
    `${RBAC}/namespaces/NS/rolebindings`,
    {
      ...named('missing'),
      roleRef: { kind: 'Role', name: 'none' },
    },
    { as: 'limited' },
  ),
  post(
    `${RBAC}/namespaces/NS/rolebindings`,
    {
      ...named('same'),
      roleRef: { kind: 'Role', name: 'same' },
    },
    { as: 'limited' },
  ),
];

const QUESTIONS: readonly ComparedRequest[] = [
  post(`${REVIEWS}/selfsubjectaccessreviews`, { spec: {} }),
  post(
    `${REVIEWS}/selfsubjectaccessreviews`,
    {
      spec: { resourceAttributes: { verb: 'get', resource: 'pods' } },
    },
    { as: 'limited' },
  ),
  post(`${REVIEWS}/selfsubjectrulesreviews`, { spec: { namespace: 'NS' } }, { as: 'limited' }),
  post(`${REVIEWS}/subjectaccessreviews`, {
    spec: { user: 'u', resourceAttributes: { verb: 'get', resource: 'pods' } },
  }),
  post(`${REVIEWS}/subjectaccessreviews`, { spec: { user: 'u' } }, { as: 'limited' }),
  post('/apis/authentication.k8s.io/v1/selfsubjectreviews', {}, { as: 'limited' }),
  post('/apis/authentication.k8s.io/v1/selfsubjectreviews', {}, { as: 'anonymous' }),
  post('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: 'x' } }),
  get(`${REVIEWS}/selfsubjectaccessreviews`),
];

const ENDS: readonly ComparedRequest[] = [
  remove('/api/v1/namespaces/NS'),
  post(MAPS, named('late')),
  get('/api/v1/namespaces/NS'),
  put('/api/v1/namespaces/NS/finalize', { ...named('NS'), spec: { finalizers: [] } }),
  get('/api/v1/namespaces/NS'),
];

export const REQUESTS_TO_COMPARE: readonly ComparedRequest[] = [
  ...PATHS,
  ...CREATIONS,
  ...READS,
  ...CHANGES,
  ...DELETIONS,
  ...TOKENS,
  ...ROLES,
  ...OTHERS,
  ...QUESTIONS,
  ...ENDS,
];
