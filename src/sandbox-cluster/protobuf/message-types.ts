// The types of messages, read from a line each: `Name: field=number:type …`. A type is string unless said; `*` is an
// optional value, which counts when it is zero; `[x]` a list, `{x}` a map by text, `+x` a message whose fields are the
// outer's. Types of another group have it in front: `core.Container`.

import { ADMISSION_MESSAGES } from './messages/admissionregistration.ts';
import { APPS_MESSAGES } from './messages/apps.ts';
import { AUTHENTICATION_MESSAGES } from './messages/authentication.ts';
import { AUTHORIZATION_MESSAGES } from './messages/authorization.ts';
import { AUTOSCALING_MESSAGES } from './messages/autoscaling.ts';
import { BATCH_MESSAGES } from './messages/batch.ts';
import { COORDINATION_MESSAGES } from './messages/coordination.ts';
import { CORE_A_TO_L } from './messages/core-a-to-l.ts';
import { CORE_M_TO_Z } from './messages/core-m-to-z.ts';
import { META_MESSAGES } from './messages/meta.ts';
import { NETWORKING_MESSAGES } from './messages/networking.ts';
import { POLICY_MESSAGES } from './messages/policy.ts';
import { RBAC_MESSAGES } from './messages/rbac.ts';
import { STORAGE_MESSAGES } from './messages/storage.ts';

export interface FieldType {
  readonly name: string;
  readonly shape: 'one' | 'optional' | 'list' | 'map' | 'inline';
  /** `string`, `int`, `bool`, `bytes`, `double`, a special type, or the full name of a message. */
  readonly type: string;
}

export interface MessageType {
  readonly name: string;
  readonly fields: ReadonlyMap<number, FieldType>;
}

const GROUPS: Readonly<Record<string, string>> = {
  admissionregistration: ADMISSION_MESSAGES,
  apps: APPS_MESSAGES,
  authentication: AUTHENTICATION_MESSAGES,
  authorization: AUTHORIZATION_MESSAGES,
  autoscaling: AUTOSCALING_MESSAGES,
  batch: BATCH_MESSAGES,
  coordination: COORDINATION_MESSAGES,
  core: CORE_A_TO_L + CORE_M_TO_Z,
  meta: META_MESSAGES,
  networking: NETWORKING_MESSAGES,
  policy: POLICY_MESSAGES,
  rbac: RBAC_MESSAGES,
  storage: STORAGE_MESSAGES,
};

function readMessage(group: string, line: string): MessageType {
  const [name = '', ...fields] = line.split(' ');
  return {
    name: `${group}.${name.slice(0, -1)}`,
    fields: new Map(fields.map((field) => readField(group, field))),
  };
}

const FIELD = /^(\w+)=(\d+)(?::([*+[{]?)([\w.]+)[\]}]?)?$/;

const SHAPES: Readonly<Record<string, FieldType['shape']>> = {
  '*': 'optional',
  '[': 'list',
  '{': 'map',
  '+': 'inline',
};

/** Those that are no messages of a group. */
const PLAIN_TYPES: ReadonlySet<string> = new Set(
  ['string int bool bytes double', 'Time MicroTime Quantity IntOrString', 'RawExtension FieldsV1']
    .concat('ExtraValue Ignored')
    .flatMap((names) => names.split(' ')),
);

function readField(group: string, text: string): readonly [number, FieldType] {
  const [, name = '', number, mark = '', type = 'string'] = FIELD.exec(text) ?? [];
  const isWhole = PLAIN_TYPES.has(type) || type.includes('.');
  return [
    Number(number),
    { name, shape: SHAPES[mark] ?? 'one', type: isWhole ? type : `${group}.${type}` },
  ];
}

const MESSAGES = new Map(
  Object.entries(GROUPS).flatMap(([group, text]) =>
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => readMessage(group, line))
      .map((message) => [message.name, message] as const),
  ),
);

/** `core.Pod`. */
export function messageType(name: string): MessageType | undefined {
  return MESSAGES.get(name);
}
