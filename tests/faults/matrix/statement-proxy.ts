// Stands between a broker and PostgreSQL, knows which statements have been carried out, and can keep the answer of one
// to itself: what a process that dies right after a write never hears. It reads as much of the protocol (version 3) as
// that takes: the texts of statements, and where an answer ends.

import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

export interface Statement {
  readonly text: string;
  /** Of a commit: the statements that it makes last. */
  readonly committed: readonly string[];
}

/**
 * `cut` breaks the connection; `keep` keeps this answer and all after it on this connection from the client; `refuse`
 * answers as a serialization failure (SQLSTATE 40001), without asking the server.
 */
export interface Watcher {
  /** It is about to be sent to the server. */
  readonly before?: (statement: Statement) => 'pass' | 'cut' | 'refuse';
  /** It was carried out, and its answer is about to be passed on. */
  readonly after?: (statement: Statement) => 'pass' | 'cut' | 'keep';
}

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
    const session = new Session({ client, server, watcher: () => this.#watcher ?? {} });
    const link = (from: Socket, into: Socket, take: (data: Buffer) => void) => {
      this.#sockets.add(from);
      from.on('error', () => undefined);
      from.on('close', () => {
        this.#sockets.delete(from);
        into.destroy();
      });
      from.on('data', take);
    };
    link(client, server, (data) => session.sent(data));
    link(server, client, (data) => session.answered(data));
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

interface SessionParts {
  readonly client: Socket;
  readonly server: Socket;
  readonly watcher: () => Watcher;
}

/** Ends what a client sends at once: one statement, or the steps of one. */
const ENDS_FLIGHT: ReadonlySet<string> = new Set(['Q', 'S', 'X']);

class Session {
  readonly #parts: SessionParts;
  readonly #named = new Map<string, string>();
  /** The statements of each answer that is still to come. */
  readonly #flights: (readonly Statement[])[] = [];
  /** Texts since the last `begin`. */
  #transaction: string[] = [];
  #isStarted = false;
  #isKeptBack = false;
  #fromClient: Buffer = Buffer.alloc(0);
  #fromServer: Buffer = Buffer.alloc(0);

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  sent(data: Buffer): void {
    this.#fromClient = Buffer.concat([this.#fromClient, data]);
    if (!this.#isStarted && !this.#passStart()) return;
    const { messages, rest } = split(this.#fromClient);
    let flight: Message[] = [];
    for (const message of messages) {
      flight.push(message);
      if (ENDS_FLIGHT.has(message.type)) {
        this.#passFlight(flight);
        flight = [];
      }
    }
    this.#fromClient = Buffer.concat([...flight.map(({ whole }) => whole), rest]);
  }

  /** The start-up message has no letter; what answers it ends with a ReadyForQuery as well. */
  #passStart(): boolean {
    const start = this.#fromClient;
    if (start.length < 4 || start.length < start.readInt32BE(0)) return false;
    const end = start.readInt32BE(0);
    this.#parts.server.write(start.subarray(0, end));
    this.#fromClient = start.subarray(end);
    this.#flights.push([]);
    this.#isStarted = true;
    return true;
  }

  #passFlight(flight: readonly Message[]): void {
    const { client, server, watcher } = this.#parts;
    const statements = flight
      .flatMap((message) => this.#textsOf(message))
      .map((text) => this.#note(text));
    const verdicts = statements.map((statement) => watcher().before?.(statement) ?? 'pass');
    if (verdicts.includes('cut')) {
      client.destroy();
      server.destroy();
    } else if (verdicts.includes('refuse')) {
      client.write(serializationFailure(this.#transaction.length > 1));
    } else {
      this.#flights.push(statements);
      server.write(Buffer.concat(flight.map(({ whole }) => whole)));
    }
  }

  #textsOf({ type, body }: Message): readonly string[] {
    switch (type) {
      case 'Q':
        return [textAt(body, 0).text];
      case 'P': {
        const name = textAt(body, 0);
        this.#named.set(name.text, textAt(body, name.end).text);
        return [];
      }
      case 'B': {
        const portal = textAt(body, 0);
        return [this.#named.get(textAt(body, portal.end).text) ?? ''];
      }
      default:
        return [];
    }
  }

  #note(text: string): Statement {
    if (/^(begin|start)\b/i.test(text)) this.#transaction = [];
    this.#transaction.push(text);
    return { text, committed: /^commit\b/i.test(text) ? this.#transaction : [] };
  }

  answered(data: Buffer): void {
    const { messages, rest } = split(Buffer.concat([this.#fromServer, data]));
    let held: Buffer[] = [];
    for (const message of messages) {
      if (PASSED_AT_ONCE.has(message.type)) {
        this.#pass([message.whole]);
        continue;
      }
      held.push(message.whole);
      if (message.type === READY_FOR_QUERY) {
        this.#judge(this.#flights.shift() ?? []);
        this.#pass(held);
        held = [];
      }
    }
    // The beginning of an answer waits for its end: until then it is not known what becomes of it.
    this.#fromServer = Buffer.concat([...held, rest]);
  }

  #judge(statements: readonly Statement[]): void {
    const { client, server, watcher } = this.#parts;
    const verdicts = statements.map((statement) => watcher().after?.(statement) ?? 'pass');
    this.#isKeptBack ||= verdicts.some((verdict) => verdict !== 'pass');
    if (verdicts.includes('cut')) {
      client.destroy();
      server.destroy();
    }
  }

  #pass(parts: readonly Buffer[]): void {
    if (!this.#isKeptBack) this.#parts.client.write(Buffer.concat(parts));
  }
}

/** An error message with its severity, code and text, and that the server is ready for the next statement. */
function serializationFailure(isInTransaction: boolean): Buffer {
  const fields = ['SERROR', 'VERROR', 'C40001', 'Mcould not serialize access'];
  const body = Buffer.from(`${fields.join('\0')}\0\0`, 'utf8');
  return Buffer.concat([
    messageOf('E', body),
    messageOf(READY_FOR_QUERY, Buffer.from(isInTransaction ? 'E' : 'I')),
  ]);
}

function messageOf(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
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
