/**
 * Connections to an address that was checked. The runtime's own sockets, because their TLS takes the user's certificates
 * and needs no permission but the address (node:tls asks for one that cannot be granted alone).
 *
 * @module
 */
import { Duplex } from "node:stream";

/**
 * Connects.
 *
 * @param url names the host, for TLS; it is not resolved
 * @param address an IP address: where the connection goes
 */
export async function connect(url: URL, address: string): Promise<Deno.Conn> {
  const secure = url.protocol === "https:";
  const port = url.port === "" ? (secure ? 443 : 80) : Number(url.port);
  const plain = await Deno.connect({ hostname: address, port });
  if (!secure) return plain;
  const hostname = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  try {
    const wrapped = await Deno.startTls(plain, { hostname, alpnProtocols: ["http/1.1"] });
    try {
      await wrapped.handshake();
      return wrapped;
    } catch (error) {
      wrapped.close();
      throw error;
    }
  } catch (error) {
    try {
      plain.close();
    } catch {
      // TLS has taken it.
    }
    throw error;
  }
}

/** Whether another address may do better. */
export function unreached(error: unknown): boolean {
  const { ConnectionRefused, TimedOut, NetworkUnreachable, AddrNotAvailable } = Deno.errors;
  return [ConnectionRefused, TimedOut, NetworkUnreachable, AddrNotAvailable].some((kind) =>
    error instanceof kind
  ) ||
    /\b(?:EHOSTUNREACH|ENETUNREACH|unreachable|no route to host|address family)\b/i.test(String(error));
}

/** A connection as the stream that node:http writes to. Destroying it closes the connection. */
export function streamOf(connection: Deno.Conn): Duplex {
  const buffer = new Uint8Array(65_536);
  return new Duplex({
    read() {
      connection.read(buffer).then(
        (size) => this.push(size === null ? null : buffer.slice(0, size)),
        (error) => this.destroy(error),
      );
    },
    write(chunk: Uint8Array, _encoding, done) {
      writeAll(connection, chunk).then(() => done(), done);
    },
    final(done) {
      // A server may take the end of what is written for the end of all.
      done();
    },
    destroy(error, done) {
      try {
        connection.close();
      } catch {
        // It is closed.
      }
      done(error);
    },
  });
}

async function writeAll(connection: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
}
