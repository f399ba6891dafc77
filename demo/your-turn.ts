// After the story: the cluster is attached once more, and the person is shown commands to try. They are tested as
// they are printed (tests/e2e/demo.test.ts).

import { join } from 'node:path';
import { shortened } from '../tests/support/real-parts/parts.ts';
import { USERNAME } from './broker-process.ts';
import { API_VERSION, PLAN_ID, pathOf, SERVICE_ID } from './osb.ts';
import type { Stage } from './stage.ts';
import { attach } from './story.ts';

const INSTANCE = 'yours';
const BINDING = 'mine';
const CURL_OPTIONS = 'curl-options';

export async function yourTurn(stage: Stage): Promise<void> {
  const { narration } = stage;
  narration.heading('Your turn');
  await attach(stage, { instance: INSTANCE, title: 'Attach the cluster once more, for you' });
  narration.plain(`\nIn another terminal, in ${process.cwd()}:`);
  for (const [at, { title, command }] of suggestions(stage).entries()) {
    narration.suggestion(`${at + 1}  ${title}`, command);
  }
  const file = stage.folder.shown(join(stage.folder.path, CURL_OPTIONS));
  narration.plain(`\n${file} holds the user, the password and the header that OSB demands.`);
  narration.plain('Ctrl-C ends the demo and removes all of it.');
}

/**
 * The password is in a file that nobody else can read, in the form in which curl takes its options: so it is neither
 * on the screen nor in the history of a shell nor in the list of processes, and the commands stay short.
 */
function writeCurlOptions({ folder, broker }: Stage): string {
  return folder.write(
    CURL_OPTIONS,
    [
      'silent',
      'show-error',
      `user = "${USERNAME}:${broker.password}"`,
      `header = "X-Broker-API-Version: ${API_VERSION}"`,
      'header = "Content-Type: application/json"',
      String.raw`write-out = "\n"`,
      '',
    ].join('\n'),
  );
}

interface Suggestion {
  readonly title: string;
  /** The lines of one command. */
  readonly command: readonly string[];
}

function suggestions(stage: Stage): readonly Suggestion[] {
  const { folder, broker, parts, env } = stage;
  const curl = `curl -K ${shellWord(folder.shown(writeCurlOptions(stage)))}`;
  const binding = `${broker.publicUrl}${pathOf(INSTANCE, BINDING)}`;
  // Made here, so that what the shell writes into it is for the person alone.
  const kubeconfig = shellWord(folder.shown(folder.write('my-kubeconfig', '')));
  const body = JSON.stringify({ service_id: SERVICE_ID, plan_id: PLAN_ID });
  const kubectl = shellWord(shortened(parts.kubectl, env));
  return [
    { title: 'See what is on offer', command: [`${curl} ${broker.publicUrl}/v2/catalog`] },
    {
      title: 'Get a kubeconfig for ten minutes',
      command: [
        `${curl} -X PUT \\`,
        `  ${binding} \\`,
        `  -d '${body}' \\`,
        `  | node -p 'JSON.parse(fs.readFileSync(0)).credentials.kubeconfig' > ${kubeconfig}`,
      ],
    },
    { title: 'Use it', command: [`${kubectl} --kubeconfig ${kubeconfig} get namespaces`] },
    {
      title: 'Revoke it; after that, 3 is refused',
      command: [
        `${curl} -X DELETE \\`,
        `  '${binding}?service_id=${SERVICE_ID}&plan_id=${PLAN_ID}'`,
      ],
    },
  ];
}

/** As a shell takes it: quoted where it must be; a home folder's `~` must not be. */
function shellWord(text: string): string {
  return /^~?[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
