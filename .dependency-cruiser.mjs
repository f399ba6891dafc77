// The law of the layers (docs/architecture.md): folders of src/ form one order and imports only point down, there are
// no cycles, and each third-party package has one home folder. tests/house/layers.test.ts shows that each rule fires.
// What a single file may contain is oxlint's (.oxlintrc.json); what nobody uses is knip's (knip.jsonc).

const BELOW_BROKER = ['domain', 'config', 'observability', 'storage', 'kubernetes', 'provisioners'];

/** Folder of src/ → the folders of src/ it may import, itself aside. A folder that is not here fails. */
const LAYERS = {
  domain: [],
  config: ['domain'],
  observability: ['domain'],
  storage: ['domain', 'observability'],
  kubernetes: ['domain', 'observability'],
  provisioners: ['domain', 'observability', 'kubernetes'],
  'provisioners/sandbox': [
    'domain',
    'observability',
    'kubernetes',
    'provisioners',
    'sandbox-cluster',
  ],
  broker: BELOW_BROKER,
  background: [...BELOW_BROKER, 'broker'],
  // Of background only what it says about itself, for the probes and the operator: HTTP starts no work there.
  http: ['domain', 'observability', 'broker', 'background/status'],
  app: [...BELOW_BROKER, 'broker', 'background', 'http'],
  client: [],
  cli: ['client'],
  'sandbox-cluster': [],
};

/**
 * Package → the folders of src/ that may import it. One home each, so that replacing a package touches one folder;
 * two where two folders speak the same format. A package that is not here may not be imported from src/.
 */
const HOMES = {
  fastify: ['http'],
  '@fastify/[^/]+': ['http'],
  typebox: ['http'],
  jose: ['http'],
  '@peculiar/x509': ['sandbox-cluster'],
  'reflect-metadata': ['sandbox-cluster'],
  kysely: ['storage'],
  pg: ['storage'],
  'pg-boss': ['storage'],
  '@electric-sql/[^/]+': ['storage'],
  undici: ['kubernetes'],
  'kubernetes-types': ['kubernetes'],
  pino: ['observability'],
  'pino-pretty': ['observability'],
  'prom-client': ['observability'],
  yaml: ['config', 'kubernetes'],
  ajv: ['broker'],
  'ajv-draft-04': ['broker'],
  'ajv-formats': ['broker'],
  re2js: ['broker'],
  commander: ['cli', 'app'],
};

/** Tests know everything; they live beside the code they test. */
const TEST = '\\.test\\.ts$';

/** Path of a folder, or of the one file of that name. */
const inside = (names) => `^src/(${names.join('|')})(/|\\.ts$)`;

/** Packages are met by their own path, and by that of their types, e.g. node_modules/@types/pg/. */
const packagePath = (name) => `(^|/)node_modules/(@types/)?${name}/`;

const layerRules = Object.entries(LAYERS).map(([layer, allowed]) => ({
  name: `layer-${layer.replace('/', '-')}`,
  comment: `src/${layer}/ may import ${allowed.join(', ') || 'nothing of ours'}.`,
  severity: 'error',
  from: {
    path: inside([layer]),
    pathNot: [TEST, ...nestedLayers(layer)],
  },
  to: { path: '^src/', pathNot: inside([layer, ...allowed]) },
}));

/** Layers inside a layer have a rule of their own. */
function nestedLayers(layer) {
  const nested = Object.keys(LAYERS).filter((other) => other.startsWith(`${layer}/`));
  return nested.length === 0 ? [] : [inside(nested)];
}

const homeRules = Object.entries(HOMES).map(([name, homes]) => ({
  name: `home-of-${name.replace(/\/\[.*/u, '')}`,
  comment: `${name} is imported in src/${homes.join('/ and src/')}/ only.`,
  severity: 'error',
  from: { path: '^src/', pathNot: [TEST, inside(homes)] },
  to: { path: packagePath(name) },
}));

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    ...layerRules,
    ...homeRules,
    {
      name: 'domain-stands-alone',
      comment: 'The domain imports nothing: no package and no module of Node.',
      severity: 'error',
      from: { path: inside(['domain']), pathNot: TEST },
      to: { pathNot: '^src/' },
    },
    {
      name: 'folder-without-layer',
      comment: 'A new folder of src/ takes a place in LAYERS first.',
      severity: 'error',
      from: { path: '^src/', pathNot: inside(Object.keys(LAYERS)) },
      to: {},
    },
    {
      name: 'package-without-home',
      comment: 'A new package takes a place in HOMES first.',
      severity: 'error',
      from: { path: '^src/', pathNot: TEST },
      to: {
        path: '(^|/)node_modules/',
        pathNot: [packagePath('node'), ...Object.keys(HOMES).map(packagePath)],
      },
    },
    {
      name: 'product-without-test-code',
      comment:
        'What is shipped imports nothing that is not: tests, demo, bench and scripts look down on src/.',
      severity: 'error',
      from: { path: '^src/', pathNot: TEST },
      to: { path: ['^(tests|demo|bench|scripts)/', TEST] },
    },
    {
      name: 'conformance-is-black-box',
      comment:
        'What the product could get wrong on both sides of the wire, it cannot help to judge: not src/, nor tests that know it.',
      severity: 'error',
      from: { path: '^tests/conformance/' },
      to: { path: '^(src|demo|tests/(?!conformance/))' },
    },
    {
      name: 'product-without-dev-dependency',
      comment:
        'Whoever installs the package lacks the development dependencies. Types are gone by then.',
      severity: 'error',
      from: { path: '^src/', pathNot: TEST },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'no-cycle',
      comment: 'Type imports count: a cycle of types is one too in the head of the reader.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-barrel',
      comment: 'No file passes on what another exports: imports name the file where a thing lives.',
      severity: 'error',
      from: {},
      to: { dependencyTypes: ['export'] },
    },
    {
      name: 'no-unresolved',
      comment: 'An import that leads nowhere would escape all rules above.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|coverage|\\.runtime-broker)/' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      mainFields: ['main', 'types'],
    },
  },
};
