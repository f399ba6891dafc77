// After the story: a fresh kubeconfig for the person, and three commands to try. They are tested as they are printed
// (tests/e2e/demo.test.ts): each is one line, and works in any folder.

import type { Credentials } from './data-folder.ts';
import { shownPath } from './data-folder.ts';
import { API_VERSION, type BindingBody, offerOf } from './osb.ts';
import { type Stage, step } from './stage.ts';
import { KUBECONFIG, timeOfDay } from './story.ts';

const BINDING = 'yours';

/** Long enough to look around, and gone by itself after the coffee. */
const LIFETIME_SECONDS = 3_600;

export async function yourTurn(stage: Stage, credentials: Credentials): Promise<void> {
  const { osb, files, narration } = stage;
  narration.heading('Your turn');
  const { body, file } = await step(stage, 'Bind: a kubeconfig for you, for an hour', {
    run: async () => {
      // What an earlier run has left may be about to expire.
      await osb.unbind(BINDING);
      const answer = await osb.bind(BINDING, LIFETIME_SECONDS);
      return { ...answer, file: files.write(KUBECONFIG, answer.body.credentials.kubeconfig) };
    },
    tell: (bound) => [
      `valid until ${timeOfDay(bound.body.metadata.expires_at)}, in ${shownPath(bound.file)}`,
    ],
  });
  narration.plain('\nTry in another terminal:');
  for (const [at, { title, commands }] of suggestions(stage, {
    body,
    file,
    credentials,
  }).entries()) {
    narration.suggestion(`${at + 1}  ${title}`, commands);
  }
  const stays = `the instance stays in ${shownPath(stage.dataFolder)}, and \`npm start\` serves it`;
  narration.plain(
    `\nCtrl-C ends the demo; ${stage.cluster === 'sandbox' ? stays : 'your cluster is then as it was'}.`,
  );
}

interface Suggestion {
  readonly title: string;
  /** More than one: the later do the same by other means. */
  readonly commands: readonly string[];
}

interface Yours {
  readonly body: BindingBody;
  readonly file: string;
  readonly credentials: Credentials;
}

function suggestions(stage: Stage, yours: Yours): readonly Suggestion[] {
  const { files, osb, wish, kubectl = 'kubectl' } = stage;
  const curl = `curl -K ${shellWord(files.write('curl-to-broker', curlToBroker(yours.credentials)))}`;
  const withKubectl = `${shellWord(kubectl)} --kubeconfig ${shellWord(yours.file)} get namespaces`;
  const useIt =
    stage.kubectl === undefined
      ? {
          title: 'Use it, with kubectl where you have it, else with curl',
          commands: [withKubectl, curlToCluster(stage, yours)],
        }
      : { title: 'Use it', commands: [withKubectl] };
  return [
    useIt,
    { title: 'Fetch it again from the broker', commands: [`${curl} ${osb.urlOf(BINDING)}`] },
    {
      title: 'Revoke it; after that, 1 is refused',
      commands: [`${curl} -X DELETE '${osb.urlOf(BINDING)}?${offerOf(wish)}'`],
    },
  ];
}

/**
 * Secrets are in files that nobody else can read, in the form in which curl takes its options: so they are neither on
 * the screen nor in the history of a shell nor in the list of processes, and the commands stay short.
 */
function curlToBroker({ username, password }: Credentials): string {
  return curlOptions([
    `user = ${quoted(`${username}:${password}`)}`,
    `header = "X-Broker-API-Version: ${API_VERSION}"`,
  ]);
}

function curlToCluster({ files }: Stage, { body }: Yours): string {
  const { server, token, certificate_authority_data: authority } = body.credentials;
  const options = [`header = ${quoted(`Authorization: Bearer ${token}`)}`];
  if (authority !== undefined) {
    const pem = Buffer.from(authority, 'base64').toString();
    options.push(`cacert = ${quoted(files.write('cluster-ca.pem', pem))}`);
  }
  const file = files.write('curl-to-cluster', curlOptions(options));
  return `curl -K ${shellWord(file)} ${server}/api/v1/namespaces`;
}

function curlOptions(options: readonly string[]): string {
  return ['silent', 'show-error', String.raw`write-out = "\n"`, ...options, ''].join('\n');
}

/** As curl's files have it. */
function quoted(text: string): string {
  return `"${text.replaceAll('\\', String.raw`\\`).replaceAll('"', String.raw`\"`)}"`;
}

/** As a shell takes it: quoted where it must be. */
function shellWord(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
