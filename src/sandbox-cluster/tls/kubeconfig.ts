// The text of a kubeconfig. Each value is quoted as JSON, which is YAML that nobody misreads.

export interface KubeconfigContent {
  readonly name: string;
  readonly server: string;
  readonly authorityPem: string;
  readonly user: { readonly token: string } | { readonly certPem: string; readonly keyPem: string };
}

export function renderKubeconfig({ name, server, authorityPem, user }: KubeconfigContent): string {
  const credential =
    'token' in user
      ? [`token: ${JSON.stringify(user.token)}`]
      : [
          `client-certificate-data: ${quotedBase64(user.certPem)}`,
          `client-key-data: ${quotedBase64(user.keyPem)}`,
        ];
  const quoted = JSON.stringify(name);
  return [
    'apiVersion: v1',
    'kind: Config',
    'clusters:',
    `  - name: ${quoted}`,
    '    cluster:',
    `      server: ${JSON.stringify(server)}`,
    `      certificate-authority-data: ${quotedBase64(authorityPem)}`,
    'users:',
    `  - name: ${quoted}`,
    '    user:',
    ...credential.map((line) => `      ${line}`),
    'contexts:',
    `  - name: ${quoted}`,
    '    context:',
    `      cluster: ${quoted}`,
    `      user: ${quoted}`,
    `current-context: ${quoted}`,
    '',
  ].join('\n');
}

function quotedBase64(text: string): string {
  return JSON.stringify(Buffer.from(text, 'utf8').toString('base64'));
}
