// Stands between a broker and PostgreSQL, knows which statements have been carried out, and can keep the answer of one
// to itself: what a process that dies right after a write never hears. It reads as much of the protocol (version 3) as
// that takes: the texts of statements, and where an answer ends.

import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** What the server has carried out, whose answer is about to be passed on. */
export interface CarriedOut {
  readonly text: string;
  /** Of a commit: the statements that it makes last. */
  readonly committed: readonly string[];
}

/** @returns whether the answer is kept from the client, from here on all answers of that connection */
export type Watcher = (statement: CarriedOut) => boolean;

export interface StatementProxy {
  readonly url: string;
  /** Takes the place of the watcher before; undefined watches nothing. */
  watch(watcher: Watcher | undefined): void;
  stop(): Promise<void>;
}

export async function startStatementProxy(databaseUrl: string): Promise<StatementProxy> {
  const to = new URL(databaseUrl);
  const proxy = new Proxy({ host: to.hostname, port: Number(to.port) });
  const url = new URL(to);
  url.port = String(await proxy.listen());
  return {
    url: url.href,
    watch: (watcher) => proxy.watch(watcher),
    stop: () => proxy.stop(),
  };
}

class Proxy {
  readonly #target: { readonly host: string; readonly port: number };
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  #watcher: Watcher | undefined;

  constructor(target: { readonly host: string; readonly port: number }) {
    this.#target = target;
    this.#server = createServer((client) => this.#join(client));
  }

  async listen(): Promise<number> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    const address = this.#server.address();
    return typeof address === 'object' ? (address?.port ?? 0) : 0;
  }

  watch(watcher: Watcher | undefined): void {
    this.#watcher = watcher;
  }

  async stop(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #join(client: Socket): void {
    const server = connect(this.#target);
    const session = new Session((statement) => this.#watcher?.(statement) ?? false);
    const pass = (from: Socket, into: Socket, filter: (data: Buffer) => Buffer) => {
      this.#sockets.add(from);
      from.on('error', () => undefined);
      from.on('close', () => {
        this.#sockets.delete(from);
        into.destroy();
      });
      from.on('data', (data) => into.write(filter(data)));
    };
    pass(client, server, (data) => session.sent(data));
    pass(server, client, (data) => session.answered(data));
  }
}

/** A message after the start-up: a letter, and a length that counts itself but not the letter. */
interface Message {
  readonly type: string;
  readonly body: Buffer;
  readonly whole: Buffer;
}

const READY_FOR_QUERY = 'Z';

/** Notifications, which belong to no answer, and what is asked for at the start, which the client answers before its end. */
const PASSED_AT_ONCE: ReadonlySet<string> = new Set(['A', 'R']);

class Session {
  readonly #carriedOut: Watcher;
  readonly #named = new Map<string, string>();
  /** One list of texts for each answer that is still to come. */
  readonly #flights: string[][] = [];
  #flight: string[] = [];
  /** Texts since the last `begin`. */
  #transaction: string[] = [];
  #isStarted = false;
  #isKeptBack = false;
  #fromClient: Buffer = Buffer.alloc(0);
  #fromServer: Buffer = Buffer.alloc(0);

  constructor(carriedOut: Watcher) {
    this.#carriedOut = carriedOut;
  }

  sent(data: Buffer): Buffer {
    this.#fromClient = Buffer.concat([this.#fromClient, data]);
    if (!this.#isStarted) {
      // The start-up message has no letter, and is answered by what ends with a ReadyForQuery as well.
      if (
        this.#fromClient.length < 4 ||
        this.#fromClient.length < this.#fromClient.readInt32BE(0)
      ) {
        return data;
      }
      this.#fromClient = this.#fromClient.subarray(this.#fromClient.readInt32BE(0));
      this.#isStarted = true;
      this.#flights.push([]);
    }
    const { messages, rest } = split(this.#fromClient);
    this.#fromClient = rest;
    for (const message of messages) this.#note(message);
    return data;
  }

  #note({ type, body }: Message): void {
    switch (type) {
      case 'Q':
        this.#flights.push([textAt(body, 0).text]);
        break;
      case 'P': {
        const name = textAt(body, 0);
        this.#named.set(name.text, textAt(body, name.end).text);
        break;
      }
      case 'B': {
        const portal = textAt(body, 0);
        this.#flight.push(this.#named.get(textAt(body, portal.end).text) ?? '');
        break;
      }
      case 'S':
        this.#flights.push(this.#flight);
        this.#flight = [];
        break;
      default:
    }
  }

  #tell(text: string): boolean {
    if (/^(begin|start)\b/i.test(text)) this.#transaction = [];
    this.#transaction.push(text);
    const committed = /^commit\b/i.test(text) ? this.#transaction : [];
    return this.#carriedOut({ text, committed });
  }

  /** What may be passed on of it. */
  answered(data: Buffer): Buffer {
    this.#fromServer = Buffer.concat([this.#fromServer, data]);
    const { messages, rest } = split(this.#fromServer);
    this.#fromServer = rest;
    const passed: Buffer[] = [];
    let held: Buffer[] = [];
    for (const message of messages) {
      if (PASSED_AT_ONCE.has(message.type) && !this.#isKeptBack) {
        passed.push(message.whole);
        continue;
      }
      held.push(message.whole);
      if (message.type === READY_FOR_QUERY) {
        const texts = this.#flights.shift() ?? [];
        for (const text of texts) this.#isKeptBack ||= this.#tell(text);
        if (!this.#isKeptBack) passed.push(...held);
        held = [];
      }
    }
    // The beginning of an answer waits for its end: until then it is not known what becomes of it.
    this.#fromServer = Buffer.concat([...held, this.#fromServer]);
    return Buffer.concat(passed);
  }
}

function split(data: Buffer): { readonly messages: readonly Message[]; readonly rest: Buffer } {
  const messages: Message[] = [];
  let rest = data;
  while (rest.length >= 5 && rest.length >= rest.readInt32BE(1) + 1) {
    const end = rest.readInt32BE(1) + 1;
    messages.push({
      type: String.fromCodePoint(rest[0] ?? 0),
      body: rest.subarray(5, end),
      whole: rest.subarray(0, end),
    });
    rest = rest.subarray(end);
  }
  return { messages, rest };
}

/** A text that a zero ends. */
function textAt(body: Buffer, start: number): { readonly text: string; readonly end: number } {
  const end = body.indexOf(0, start);
  return { text: body.toString('utf8', start, end), end: end + 1 };
}
