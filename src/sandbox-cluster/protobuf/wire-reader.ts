// Reads the wire format of Protocol Buffers: fields by number, and their plain values. What they mean is left to
// decode-protobuf.ts.

export interface WireField {
  readonly number: number;
  /** Of a number: its 64 bits. Of text, bytes and messages: what they are made of. */
  readonly value: bigint | Buffer;
}

const VARINT = 0;
const FIXED_64 = 1;
const LENGTH_DELIMITED = 2;
const FIXED_32 = 5;

/** Ten groups of seven bits hold 64. */
const MAX_VARINT_BYTES = 10;

/** Throws a RangeError where the bytes are no message. */
export function* readFields(bytes: Buffer): Generator<WireField> {
  const reader = new Reader(bytes);
  while (!reader.isAtEnd()) {
    const tag = Number(reader.varint());
    yield { number: tag >>> 3, value: reader.value(tag & 7) };
  }
}

/** Of a varint or a fixed 64-bit integer. */
export function signed(value: bigint): number {
  return Number(BigInt.asIntN(64, value));
}

class Reader {
  readonly #bytes: Buffer;
  #position = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  isAtEnd(): boolean {
    return this.#position >= this.#bytes.length;
  }

  varint(): bigint {
    let value = 0n;
    for (let index = 0; index < MAX_VARINT_BYTES; index += 1) {
      const byte = this.#take(1).readUInt8();
      value |= BigInt(byte & 0x7f) << BigInt(7 * index);
      if (byte < 0x80) return value;
    }
    throw new RangeError('a number is too long');
  }

  value(wireType: number): bigint | Buffer {
    switch (wireType) {
      case VARINT:
        return this.varint();
      case FIXED_64:
        return this.#take(8);
      case FIXED_32:
        return this.#take(4);
      case LENGTH_DELIMITED:
        return this.#take(Number(this.varint()));
      default:
        throw new RangeError(`no wire type: ${wireType}`);
    }
  }

  #take(length: number): Buffer {
    const end = this.#position + length;
    if (end > this.#bytes.length) throw new RangeError('a message ends too early');
    const taken = this.#bytes.subarray(this.#position, end);
    this.#position = end;
    return taken;
  }
}
