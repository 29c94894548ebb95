import type { RequestListener } from "node:http";
import { createServer, type Server, type ServerOptions } from "node:https";
import type { SecureContextOptions } from "node:tls";
import type { CertificateSource, TlsMaterial } from "../security/certificates.ts";

const MIN_TLS_VERSION = "TLSv1.2";

/**
 * Creates a server that takes TLS connections alone. With client authorities in the material, a client that shows no
 * certificate of theirs gets no connection. New connections get the newest certificates; open ones are finished with
 * those they began with.
 */
export function createTlsServer(
  source: CertificateSource,
  options: ServerOptions & { readonly headersTimeout: number },
  handler: RequestListener,
  onError: (error: unknown) => void,
): Server {
  const material = source.current();
  const isMutual = material.clientAuthorities !== undefined;
  const server = createServer(
    {
      ...options,
      ...secureContextOf(material),
      requestCert: isMutual,
      rejectUnauthorized: isMutual,
      handshakeTimeout: options.headersTimeout,
    },
    handler,
  );
  const unsubscribe = source.subscribe((replacement) => {
    try {
      // A session that is resumed shows no certificate again. The new context knows none of the old one's sessions.
      server.setSecureContext(secureContextOf(replacement));
    } catch (error) {
      onError(error);
    }
  });
  server.on("close", unsubscribe);
  return server;
}

function secureContextOf({ certificate, privateKey, clientAuthorities }: TlsMaterial): SecureContextOptions {
  return {
    cert: certificate,
    key: privateKey,
    minVersion: MIN_TLS_VERSION,
    ...(clientAuthorities === undefined ? undefined : { ca: clientAuthorities }),
  };
}
