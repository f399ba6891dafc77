// The kinds of a control plane, as far as the broker and the managers of the tests use them: structural schemas after the
// facts of the real ones, with what is required there required here. A state is any text, since a later manager may
// know more of them.

type Schema = Readonly<Record<string, unknown>>;

const text: Schema = { type: 'string' };
const flag: Schema = { type: 'boolean' };
const count: Schema = { type: 'integer' };
const texts: Schema = { type: 'array', items: text };
const anything: Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

function object(properties: Readonly<Record<string, Schema>>, required: readonly string[]): Schema {
  return { type: 'object', properties, ...(required.length === 0 ? {} : { required }) };
}

function list(items: Schema): Schema {
  return { type: 'array', items };
}

const enabled = object({ enabled: flag }, ['enabled']);

const worker = object(
  {
    name: text,
    machine: object({ type: text, image: anything }, ['type']),
    minimum: count,
    maximum: count,
    maxSurge: count,
    maxUnavailable: count,
    zones: texts,
    volume: anything,
  },
  ['name', 'machine', 'minimum', 'maximum'],
);

const issuer = object(
  {
    clientID: text,
    issuerURL: text,
    groupsClaim: text,
    groupsPrefix: text,
    usernameClaim: text,
    usernamePrefix: text,
    signingAlgs: texts,
    requiredClaims: { type: 'object', additionalProperties: text },
  },
  [],
);

const shoot = object(
  {
    name: text,
    purpose: { type: 'string', enum: ['evaluation', 'testing', 'development', 'production'] },
    region: text,
    platformRegion: text,
    secretBindingName: text,
    licenceType: text,
    enforceSeedLocation: flag,
    kubernetes: object(
      {
        version: text,
        kubeAPIServer: object({ oidcConfig: issuer, additionalOidcConfig: list(issuer) }, []),
      },
      [],
    ),
    networking: object({ type: text, nodes: text, pods: text, services: text }, [
      'nodes',
      'pods',
      'services',
    ]),
    provider: object(
      {
        type: { type: 'string', enum: ['aws', 'azure', 'gcp', 'openstack', 'alicloud', 'gdch'] },
        workers: list(worker),
        additionalWorkers: list(worker),
      },
      ['type', 'workers'],
    ),
    controlPlane: anything,
  },
  ['name', 'purpose', 'region', 'platformRegion', 'secretBindingName', 'networking', 'provider'],
);

const runtimeSpec = object(
  {
    shoot,
    security: object(
      {
        administrators: texts,
        networking: object({ filter: object({ egress: enabled, ingress: enabled }, ['egress']) }, [
          'filter',
        ]),
      },
      ['administrators', 'networking'],
    ),
  },
  ['shoot', 'security'],
);

const status = object({ state: text, conditions: list(anything), provisioningCompleted: flag }, []);

const kymaSpec = object(
  {
    channel: { type: 'string', pattern: '^[a-z]+$', minLength: 3, maxLength: 32 },
    modules: list(object({ name: text, channel: text }, ['name'])),
  },
  ['channel'],
);

const gardenerClusterSpec = object(
  {
    kubeconfig: object(
      { secret: object({ name: text, namespace: text, key: text }, ['name', 'namespace', 'key']) },
      ['secret'],
    ),
    shoot: object({ name: text }, ['name']),
  },
  ['kubeconfig', 'shoot'],
);

interface KindOfControlPlane {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly spec: Schema;
}

const INFRASTRUCTURE = 'infrastructuremanager.kyma-project.io';

const KINDS: readonly KindOfControlPlane[] = [
  {
    group: INFRASTRUCTURE,
    version: 'v1',
    kind: 'Runtime',
    plural: 'runtimes',
    spec: runtimeSpec,
  },
  {
    group: INFRASTRUCTURE,
    version: 'v1',
    kind: 'GardenerCluster',
    plural: 'gardenerclusters',
    spec: gardenerClusterSpec,
  },
  {
    group: 'operator.kyma-project.io',
    version: 'v1beta2',
    kind: 'Kyma',
    plural: 'kymas',
    spec: kymaSpec,
  },
];

export const DEFINITIONS = KINDS.map(({ group, version, kind, plural, spec }) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
    versions: [
      {
        name: version,
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: object({ spec, status }, []) },
      },
    ],
  },
}));
