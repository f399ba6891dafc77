// Writes the kubeconfig that a binding hands out: one cluster, one context, one user, all of one name. It is made
// whenever it is handed out (at rest there is the token alone), so on every fetch: as a template it takes a few
// microseconds, from a YAML library 220. The shape is fixed, and every value is a quoted scalar.

import type { Secret } from '../domain/secret.ts';

export interface KubeconfigParts {
  /** Name of cluster, context and user. */
  readonly name: string;
  readonly server: string;
  /** Base64 of PEM; left out of the file where absent, so that the reader trusts its own roots. */
  readonly certificateAuthorityData?: string;
  readonly tlsServerName?: string;
  readonly token: Secret;
}

/** YAML with the token in clear. All values are quoted: `true`, `1e5`, `null` or `-` as a name stays text. */
export function renderKubeconfig(parts: KubeconfigParts): string {
  const { server, certificateAuthorityData, tlsServerName, token } = parts;
  const name = quoted(parts.name);
  return `apiVersion: v1
kind: Config
clusters:
  - name: ${name}
    cluster:
      server: ${quoted(server)}
${optionalLine('certificate-authority-data', certificateAuthorityData)}${optionalLine('tls-server-name', tlsServerName)}contexts:
  - name: ${name}
    context:
      cluster: ${name}
      user: ${name}
current-context: ${name}
users:
  - name: ${name}
    user:
      token: ${quoted(token.reveal())}
`;
}

function optionalLine(field: string, value: string | undefined): string {
  return value === undefined ? '' : `      ${field}: ${quoted(value)}\n`;
}

/** A JSON string is a double-quoted scalar of YAML; what is not printable ASCII is escaped, as some readers ask. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(
    NOT_PRINTABLE_ASCII,
    (char) => `\\U${(char.codePointAt(0) ?? 0).toString(16).padStart(8, '0')}`,
  );
}

const NOT_PRINTABLE_ASCII = /[^\x20-\x7e]/gu;
