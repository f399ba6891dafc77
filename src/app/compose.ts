// Builds every object once, from the configuration and from what differs between a process and a test: clock,
// randomness, log. Nothing is started here.
import { setTimeout as sleep } from 'node:timers/promises';
import { runOperation, STEP_TIMEOUT_MS } from '../background/operation-runner.ts';
import { readFigures, readReadiness } from '../background/status.ts';
import type { Broker, BrokerLimits, Draw } from '../broker/broker.ts';
import { InstanceTurns } from '../broker/instance-turns.ts';
import { ParameterRules } from '../broker/parameter-rules.ts';
import { RuntimeClusters } from '../broker/runtime-clusters.ts';
import type { Config, DatabaseSetting, ListenAddress } from '../config/config.ts';
import type { Clock } from '../domain/clock.ts';
import { Secret } from '../domain/secret.ts';
import type { Authenticator } from '../http/auth/authenticator.ts';
import { basicAuthenticator } from '../http/auth/basic.ts';
import { closedAuthenticator } from '../http/auth/closed.ts';
import { noAuthenticator } from '../http/auth/none.ts';
import { createOperatorServer, createPublicServer } from '../http/server.ts';
import type { ClusterAccess } from '../kubernetes/cluster-access.ts';
import { OpenClusters } from '../kubernetes/open-clusters.ts';
import { readKubeconfig } from '../kubernetes/read-kubeconfig.ts';
import { createLogger, type Logger } from '../observability/logger.ts';
import { ProvisionersByPlan } from '../provisioners/by-plan.ts';
import { ControlPlane } from '../provisioners/kyma/control-plane.ts';
import { kymaProvisioner } from '../provisioners/kyma/kyma.ts';
import { ownClusterProvisioner } from '../provisioners/own-cluster/own-cluster.ts';
import type { Provisioner } from '../provisioners/provisioner.ts';
import { sandboxProvisioner } from '../provisioners/sandbox/sandbox.ts';
import { SandboxHost } from '../provisioners/sandbox/sandbox-host.ts';
import type { EmbeddedDatabase } from '../storage/embedded.ts';
import { GrantSignals } from '../storage/grant-signals.ts';
import { JobEngine } from '../storage/job-engine.ts';
import { Sealer } from '../storage/sealing.ts';
import { addressGuard, type Listening } from './address-guard.ts';
import { runGivenCommand } from './broker-commands.ts';
import { drawKey, randomDraw } from './draw.ts';
import { openDatabase } from './open-database.ts';
import { StartupState } from './startup-state.ts';
import { readVersions } from './versions.ts';

/** What a test may hand in instead of the process's own. */
export interface Surroundings {
  readonly clock: Clock;
  /** `clock` unless said. */
  readonly clusterClock: Clock;
  readonly draw: Draw;
  readonly log: Logger;
}

export interface Composition {
  readonly broker: Broker;
  readonly publicServer: ReturnType<typeof createPublicServer>;
  readonly operatorServer: ReturnType<typeof createOperatorServer>;
  /** Set where the database belongs to this process alone. */
  readonly embedded: EmbeddedDatabase | undefined;
  /** Beside an embedded database only. */
  readonly sandbox: SandboxHost | undefined;
  readonly listen: { readonly public: ListenAddress; readonly operator: ListenAddress };
  readonly openClusters: OpenClusters;
  readonly state: StartupState;
  /** Aborted when background work is to stop. */
  readonly stopping: AbortController;
  readonly drawKey: () => Buffer;
  /** What commands of this machine show, where this process alone has the database. */
  readonly commandSecret: Secret | undefined;
}

/** An issue stops at the create limit and is undone within five more seconds (docs/api.md, "Bind"). */
const UNDO_TIMEOUT_MS = 5_000;

/** Longer than the 12 s in which a revoked token may still be honoured (`revoke-grant.ts`), and below a client's 60 s. */
const DELETE_TIMEOUT_MS = 15_000;

/** Steps stop at their next call once they are told to; the longest call of a cluster client ends within this. */
const STOP_TIMEOUT_MS = 15_000;

export function compose(config: Config, given: Partial<Surroundings> = {}): Composition {
  const { log, clock, clusterClock, draw } = surroundingsOf(config, given);
  const { db, jobs, signals, embedded } = openDatabase(config.database, log);
  const sealer = new Sealer(config.sealingKeys);
  const limits = limitsOf(config);
  const sandbox = sandboxHost(config.database, { clock, draw, log });
  const listening: Listening[] = sandbox === undefined ? [] : [sandbox];
  const controlPlane = controlPlaneAccess(config);
  const guard = addressGuard(config, { listening, controlPlane });
  const openClusters = new OpenClusters({ retireAfterMs: longestUseMs(limits), guard });
  const provisioners = new ProvisionersByPlan(config.plans, [
    ownClusterProvisioner({ clusters: openClusters, guard }),
    ...kymaOn(controlPlane, { config, openClusters, clock, log }),
    ...sandboxOn(sandbox, openClusters),
  ]);
  const state = new StartupState();
  const stopping = new AbortController();
  const pause: Broker['sleep'] = (delayMs, signal) => sleep(delayMs, undefined, { signal });
  const broker: Broker = {
    db,
    sealer,
    jobs: new JobEngine({
      database: jobs,
      clock,
      stopTimeoutMs: STOP_TIMEOUT_MS,
      log,
    }),
    signals: new GrantSignals({ source: signals, clock, sleep: pause, log }),
    turns: new InstanceTurns(),
    provisioners,
    clusters: new RuntimeClusters({ db, sealer, provisioners, openClusters }),
    parameterRules: new ParameterRules(),
    marker: () => state.marker(),
    replicaId: draw.uuid(),
    limits,
    clock,
    clusterClock,
    draw,
    sleep: pause,
    log,
  };
  broker.jobs.onWake((operationId) => runOperation(broker, operationId, stopping.signal));
  const commandSecret =
    embedded === undefined ? undefined : new Secret(drawKey().toString('base64url'));
  const surfaces = servers(config, { broker, state, commandSecret, stopping });
  listening.push(surfaces.publicServer, surfaces.operatorServer);
  return {
    broker,
    ...surfaces,
    listen: { public: config.publicListen, operator: config.operatorListen },
    embedded,
    sandbox,
    openClusters,
    state,
    stopping,
    drawKey,
    commandSecret,
  };
}

/** The configuration was read with the same reader. */
function controlPlaneAccess({ controlPlane }: Config): ClusterAccess | undefined {
  return controlPlane && readKubeconfig(controlPlane.kubeconfig.reveal());
}

/** Beside the keys of instances, which are UUIDs. */
const CONTROL_PLANE_KEY = 'control-plane';

interface KymaSurroundings extends Pick<Surroundings, 'clock' | 'log'> {
  readonly config: Config;
  readonly openClusters: OpenClusters;
}

/** None without a control plane. */
function kymaOn(
  access: ClusterAccess | undefined,
  { config, openClusters: clusters, clock, log }: KymaSurroundings,
): readonly Provisioner[] {
  if (access === undefined) return [];
  const isTrusted = true;
  const controlPlane = new ControlPlane(() =>
    clusters.clientFor(CONTROL_PLANE_KEY, access, { isTrusted }),
  );
  return [kymaProvisioner({ controlPlane, installation: config.kyma, clusters, clock, log })];
}

function sandboxOn(host: SandboxHost | undefined, clusters: OpenClusters): readonly Provisioner[] {
  return host === undefined ? [] : [sandboxProvisioner({ clusters, host })];
}

function surroundingsOf(config: Config, given: Partial<Surroundings>): Surroundings {
  const { log = processLogger(config), clock = () => new Date(), draw = randomDraw } = given;
  return { log, clock, clusterClock: given.clusterClock ?? clock, draw };
}

function limitsOf({ createTimeoutSeconds }: Config): BrokerLimits {
  return {
    createTimeoutMs: createTimeoutSeconds * 1000,
    undoTimeoutMs: UNDO_TIMEOUT_MS,
    deleteTimeoutMs: DELETE_TIMEOUT_MS,
  };
}

/** In a folder that is this process's own, as the embedded database is. */
function sandboxHost(database: DatabaseSetting, surroundings: Omit<Surroundings, 'clusterClock'>) {
  return database.kind === 'embedded'
    ? new SandboxHost({ dataFolder: database.dataFolder, ...surroundings })
    : undefined;
}

/** Of a client of a cluster: by an issue and its undo, by a revocation, or by a step of an operation. */
function longestUseMs({ createTimeoutMs, undoTimeoutMs, deleteTimeoutMs }: BrokerLimits): number {
  return Math.max(createTimeoutMs + undoTimeoutMs, deleteTimeoutMs, STEP_TIMEOUT_MS);
}

type Served = Pick<Composition, 'broker' | 'state' | 'commandSecret' | 'stopping'>;

function servers(config: Config, { broker, state, commandSecret, stopping }: Served) {
  return {
    publicServer: createPublicServer({
      broker,
      authenticator: platformAuthenticatorOf(config),
      log: broker.log,
      defaultRegion: config.defaultRegion,
      isServing: () => state.isServing(),
    }),
    operatorServer: createOperatorServer({
      broker,
      authenticator: operatorAuthenticatorOf(config),
      isServing: () => state.isServing(),
      log: broker.log,
      versions: readVersions(),
      readiness: () => readReadiness(broker, state),
      figures: () => readFigures(broker, state),
      ...(commandSecret === undefined
        ? {}
        : {
            commands: {
              commandSecret,
              runCommand: (given) => runGivenCommand(broker, given, stopping.signal),
            },
          }),
    }),
  };
}

function platformAuthenticatorOf({ platformAuth }: Config): Authenticator {
  return platformAuth.kind === 'none'
    ? noAuthenticator()
    : basicAuthenticator(platformAuth.username, platformAuth.password);
}

function operatorAuthenticatorOf({ operatorAuth }: Config): Authenticator {
  return operatorAuth.kind === 'closed'
    ? closedAuthenticator()
    : basicAuthenticator(operatorAuth.username, operatorAuth.password);
}

function processLogger({ logLevel, logFormat }: Config): Logger {
  const format = logFormat ?? (process.stdout.isTTY ? 'pretty' : 'json');
  return createLogger({ level: logLevel, format });
}
