// `kyma` of the configuration file: what is the same for all Kyma runtimes of this installation.
import { isJsonObject } from '../domain/json.ts';
import type { KymaInstallation, KymaModule } from '../domain/kyma-installation.ts';
import { integerBetween, type Kind, textLike } from './kinds.ts';
import { below, mappingAt, type Place, readSection } from './section.ts';

const RESOURCE_NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

const resourceName = textLike(
  RESOURCE_NAME,
  'the name of a Kubernetes object (up to 253 lower-case letters, digits, dashes and dots)',
);

const CHANNEL = /^[a-z]{3,32}$/;

const channel = textLike(CHANNEL, 'the name of a channel (3 to 32 lower-case letters)');

const modules: Kind<readonly KymaModule[]> = {
  allowed: 'a list of modules, each with its name, and a channel where it is another one',
  read: (value) => {
    if (!Array.isArray(value)) {
      return undefined;
    }
    const read = value.map(readModule);
    return read.every((each) => each !== undefined) ? read : undefined;
  },
};

/** The channel that follows releases at the pace that is meant for production. */
const DEFAULT_CHANNEL = 'regular';

/** A cluster takes many minutes: ten seconds are no wait for a person, and no load on the control plane. */
const DEFAULT_POLL_SECONDS = 10;

const pollSeconds = integerBetween(1, 60);

const DEFAULT_SECRET_BINDINGS = { aws: 'aws', azure: 'azure', gcp: 'gcp' };

export function readKymaInstallation(value: unknown, place: Place): KymaInstallation {
  const mapping = mappingAt(value, place);
  const kinds = { channel, modules, pollSeconds };
  const given = readSection(mapping, { kinds, subsections: ['secretBindings'] }, place);
  const at = below(place, 'secretBindings');
  const names = { aws: resourceName, azure: resourceName, gcp: resourceName };
  return {
    channel: given.channel ?? DEFAULT_CHANNEL,
    modules: given.modules ?? [],
    pollSeconds: given.pollSeconds ?? DEFAULT_POLL_SECONDS,
    secretBindings: {
      ...DEFAULT_SECRET_BINDINGS,
      ...readSection(mappingAt(mapping['secretBindings'], at), { kinds: names }, at),
    },
  };
}

function readModule(value: unknown): KymaModule | undefined {
  if (!isJsonObject(value)) {
    return undefined;
  }
  const { name, channel: own, ...others } = value;
  const isSound =
    typeof name === 'string' &&
    RESOURCE_NAME.test(name) &&
    (own === undefined || (typeof own === 'string' && CHANNEL.test(own))) &&
    Object.keys(others).length === 0;
  return isSound ? { name, ...(typeof own === 'string' ? { channel: own } : {}) } : undefined;
}
