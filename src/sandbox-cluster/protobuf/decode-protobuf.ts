// Turns an object in the wire format of Kubernetes into the JSON that it stands for: what clients written in Go send
// for the built-in kinds, kubectl among them. Answers are JSON, which they take as well.

import type { JsonObject, JsonValue } from '../api/kube-object.ts';
import { badRequest } from '../api/status.ts';
import { type FieldType, type MessageType, messageType } from './message-types.ts';
import { readFields, signed, type WireField } from './wire-reader.ts';

export const PROTOBUF = 'application/vnd.kubernetes.protobuf';

/** Every object begins with it. */
const MAGIC = Buffer.from('k8s\0', 'latin1');

/** runtime.Unknown, the envelope: type, then the object. */
const ENVELOPE = { type: 1, object: 2 };
const TYPE = { apiVersion: 1, kind: 2 };

/** Throws a 400 where it cannot be read, also where it has a field that is not known here. */
export function decodeProtobuf(bytes: Buffer): JsonObject {
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) {
    throw badRequest('the object provided is unrecognized: it does not begin as one');
  }
  try {
    const envelope = fieldsByNumber(bytes.subarray(MAGIC.length));
    const type = fieldsByNumber(bufferOf(envelope.get(ENVELOPE.type)));
    const apiVersion = textOf(type.get(TYPE.apiVersion));
    const kind = textOf(type.get(TYPE.kind));
    const object = decodeMessage(
      typeFor(apiVersion, kind),
      bufferOf(envelope.get(ENVELOPE.object)),
    );
    return { apiVersion, kind, ...object };
  } catch (error) {
    if (!(error instanceof RangeError || error instanceof SyntaxError)) throw error;
    throw badRequest(`the object provided is unrecognized: ${error.message}`);
  }
}

function typeFor(apiVersion: string, kind: string): MessageType {
  const [group = '', version] = apiVersion.includes('/')
    ? apiVersion.split('/')
    : ['core', apiVersion];
  const isKnown = version === (group === 'autoscaling' ? 'v2' : 'v1');
  const [short] = group.split('.');
  const type = messageType(kind === 'DeleteOptions' ? 'meta.DeleteOptions' : `${short}.${kind}`);
  if (type === undefined || !isKnown) {
    throw new RangeError(`${kind} of ${apiVersion} is read as JSON only`);
  }
  return type;
}

function decodeMessage(type: MessageType, bytes: Buffer): JsonObject {
  const decoded = new Map<string, JsonValue>();
  for (const wire of readFields(bytes)) {
    const field = type.fields.get(wire.number);
    if (field === undefined) {
      throw new RangeError(
        `field ${wire.number} of ${type.name} is not known to a sandbox cluster`,
      );
    }
    addField(decoded, field, wire.value);
  }
  return Object.fromEntries(decoded);
}

function addField(
  decoded: Map<string, JsonValue>,
  field: FieldType,
  wire: WireField['value'],
): void {
  const { name, shape, type } = field;
  if (type === 'Ignored') return;
  if (shape === 'list') {
    const list = decoded.get(name);
    const items = Array.isArray(list) ? (list as JsonValue[]) : [];
    decoded.set(name, [...items, decodeValue(type, wire)]);
    return;
  }
  if (shape === 'map') {
    const map = decoded.get(name) as JsonObject | undefined;
    decoded.set(name, { ...map, ...mapEntry(type, wire) });
    return;
  }
  const value = decodeValue(type, wire);
  if (shape === 'inline') {
    const inner = Object.entries(value as JsonObject);
    for (const [innerName, own] of inner) decoded.set(innerName, own ?? null);
    return;
  }
  if (shape === 'optional' || !isZero(value)) decoded.set(name, value);
}

/** Go writes what is not optional also where it was left out. */
function isZero(value: JsonValue): boolean {
  if (value === '' || value === 0 || value === false || value === null) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

function mapEntry(type: string, wire: WireField['value']): JsonObject {
  const entry = fieldsByNumber(bufferOf(wire));
  const value = entry.get(2);
  return { [textOf(entry.get(1))]: decodeValue(type, value ?? Buffer.alloc(0)) };
}

function decodeValue(type: string, wire: WireField['value']): JsonValue {
  switch (type) {
    case 'string':
      return textOf(wire);
    case 'bytes':
      return bufferOf(wire).toString('base64');
    case 'int':
      return typeof wire === 'bigint' ? signed(wire) : 0;
    case 'bool':
      return wire === 1n;
    case 'double':
      return bufferOf(wire).readDoubleLE();
    default:
      return decodeSpecial(type, bufferOf(wire));
  }
}

function decodeSpecial(type: string, bytes: Buffer): JsonValue {
  switch (type) {
    case 'Time':
    case 'MicroTime':
      return timeOf(bytes, type);
    case 'Quantity':
      return textOf(fieldsByNumber(bytes).get(1));
    case 'IntOrString':
      return intOrString(bytes);
    case 'RawExtension':
      return JSON.parse(textOf(fieldsByNumber(bytes).get(1)) || '{}') as JsonValue;
    case 'ExtraValue':
      return [...readFields(bytes)].map(({ value }) => textOf(value));
    default: {
      const message = messageType(type);
      if (message === undefined) throw new RangeError(`${type} is read as JSON only`);
      return decodeMessage(message, bytes);
    }
  }
}

function timeOf(bytes: Buffer, type: 'Time' | 'MicroTime'): JsonValue {
  const fields = fieldsByNumber(bytes);
  const seconds = fields.get(1);
  if (typeof seconds !== 'bigint') return null;
  const nanos = fields.get(2);
  const text = new Date(signed(seconds) * 1_000).toISOString().slice(0, 19);
  if (type === 'Time') return `${text}Z`;
  const micros = Math.floor((typeof nanos === 'bigint' ? signed(nanos) : 0) / 1_000);
  return `${text}.${String(micros).padStart(6, '0')}Z`;
}

function intOrString(bytes: Buffer): JsonValue {
  const fields = fieldsByNumber(bytes);
  const number = fields.get(2);
  if (fields.get(1) === 1n) return textOf(fields.get(3));
  return typeof number === 'bigint' ? signed(number) : 0;
}

/** The last of each number, as readers of single values do. */
function fieldsByNumber(bytes: Buffer): ReadonlyMap<number, WireField['value']> {
  return new Map([...readFields(bytes)].map(({ number, value }) => [number, value]));
}

function bufferOf(value: WireField['value'] | undefined): Buffer {
  return Buffer.isBuffer(value) ? value : Buffer.alloc(0);
}

function textOf(value: WireField['value'] | undefined): string {
  return bufferOf(value).toString('utf8');
}
