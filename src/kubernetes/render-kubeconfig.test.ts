import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

import { Secret } from '../domain/secret.ts';
import { renderKubeconfig } from './render-kubeconfig.ts';

const token = new Secret('eyJhbGciOiJSUzI1NiJ9.e30.c2ln');

describe('the kubeconfig of a binding', () => {
  it('has one cluster, one context and one user, all of one name', () => {
    const text = renderKubeconfig({
      name: 'my-runtime',
      server: 'https://api.example.com:6443',
      certificateAuthorityData: 'Q0E=',
      tlsServerName: 'kubernetes',
      token,
    });
    expect(text).toBe(`apiVersion: v1
kind: Config
clusters:
  - name: "my-runtime"
    cluster:
      server: "https://api.example.com:6443"
      certificate-authority-data: "Q0E="
      tls-server-name: "kubernetes"
contexts:
  - name: "my-runtime"
    context:
      cluster: "my-runtime"
      user: "my-runtime"
current-context: "my-runtime"
users:
  - name: "my-runtime"
    user:
      token: "eyJhbGciOiJSUzI1NiJ9.e30.c2ln"
`);
  });

  it('says nothing of a CA or a TLS name where there is none', () => {
    const text = renderKubeconfig({ name: 'a', server: 'https://api.example.com', token });
    expect(parse(text)).toMatchObject({
      clusters: [{ name: 'a', cluster: { server: 'https://api.example.com' } }],
    });
    expect(text).not.toMatch(/certificate-authority-data|tls-server-name/);
  });

  it('keeps any name as text, and what is said in it', () => {
    const awkward = fc.constantFrom(
      '123',
      'true',
      '1e5',
      '-',
      'null',
      '~',
      '0x1f',
      'no',
      '.inf',
      '',
    );
    const anyText = fc.oneof(awkward, fc.string({ unit: 'binary' }));
    fc.assert(
      fc.property(anyText, (name) => {
        const text = renderKubeconfig({ name, server: 'https://api.example.com', token });
        expect(text).toMatch(/^[\n\x20-\x7e]*$/);
        expect(parse(text)).toEqual({
          apiVersion: 'v1',
          kind: 'Config',
          clusters: [{ name, cluster: { server: 'https://api.example.com' } }],
          contexts: [{ name, context: { cluster: name, user: name } }],
          'current-context': name,
          users: [{ name, user: { token: 'eyJhbGciOiJSUzI1NiJ9.e30.c2ln' } }],
        });
      }),
    );
  });
});
