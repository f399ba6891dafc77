// The defects that were found in Kyma Environment Broker, in short words of our own, by the numbers under which tests name
// them. A defect without a test has the reason here, in words for users; keb-defects.test.ts makes docs/keb-defects.md of
// it and of the titles of tests.

export interface DefectGroup {
  readonly title: string;
  /** Number of the first; the others follow it. */
  readonly first: number;
  readonly defects: readonly (string | readonly [says: string, reason: string])[];
}

const NO_FIGURES = 'There are no figures of bindings yet; they come with the operators’ side.';
const NO_RUNTIMES =
  'The list of runtimes, with its filter, comes with the operators’ side. The list of bindings tells live from expired.';
const NO_OPENAPI = 'There is no OpenAPI document yet; it comes with the operators’ side.';
const ABOUT_TESTS =
  'It is about tests and not about the broker. All of ours are here; what went untested there is what 1, 2, 5, 8, 9, 25, 29 and 31 are about.';

export const DEFECT_GROUPS: readonly DefectGroup[] = [
  {
    title: 'Binding',
    first: 1,
    defects: [
      'Binds that came together could all pass the limit: it counted first and inserted later.',
      'Of two equal binds at once, one was refused in the words of the database.',
      'A bind that had failed kept its id and its slot until it would have expired, and longer.',
      'What a failed bind had made on the cluster until then stayed there, with all rights.',
      'A bind went on when its binding was deleted meanwhile, and handed out an administrator whom no row knew.',
      'Past its time limit a bind went on unseen; the answer was no JSON, and nobody could ask how it had ended.',
      'An expired binding blocked its id until the next cleanup, half a day later.',
      'Instances that were suspended, going or unusable could be bound.',
      'An instance whose deletion was accepted and had not begun could be bound.',
      'When the operator changed the default lifetime, a repeat without parameters became a conflict.',
      'A lifetime of 0 meant the default, and so did a misspelt parameter.',
      'Nobody compared the service and plan of a request with those of its instance.',
      'Ids that OSB allows and Kubernetes does not were written down first and then failed on the cluster.',
      'Bindings of one id in two instances shared the names of their objects, and a place in one of the stores.',
      'Descriptions for users had the words of clusters and databases in them, with names of hosts and secrets.',
      'Lines printed beside the logger broke the JSON of the log.',
      'Each bind connected anew, twice, and read its access twice.',
      'Instances named `123`, `true` or `null` got kubeconfigs that kubectl does not load.',
      'The first cluster of a kubeconfig was taken instead of the current one, and one without an authority failed when the token was made already.',
      'The administrator could not read URLs that are no resources, such as `/metrics`.',
      'A role or account that had the name already was taken over, with whatever rights it gave.',
      'Where bindings are not supported, binding and asking for its operation were 500.',
      'Refusals were not those of OSB: 422 without its word or for broken JSON, a header with `<nil>`.',
    ],
  },
  {
    title: 'Reading',
    first: 24,
    defects: [
      'A fetch from an unknown instance was 500.',
      'A fetch was 404 while the database was away or the credential could not be opened, and 404 lets a platform forget it.',
      'A fetch did not say when the binding expires, and the catalog not that it can be fetched.',
      'Once deprovisioning had failed, a DELETE removed the row of a binding and left its rights on the cluster.',
      'Bindings came back after suspension and resumption, with kubeconfigs of the runtime before.',
      'One credential that could not be opened kept its whole instance from being bound, and could never be deleted.',
      'A list that shows bindings made a query for each entry, and opened every credential to see whether there is one.',
    ],
  },
  {
    title: 'Deleting and cleaning up',
    first: 31,
    defects: [
      'What could not be revoked, as its cluster was away, was tried in vain again and again without anybody being told.',
      'What had expired stayed on the cluster with all rights for half a day, and longer where 31 applies.',
      'Nobody looked on the clusters for objects that no row knows.',
      'Rows of bindings outlived their instance.',
      'Cleanup ended as a success whatever had failed, and two runs could get in each other’s way.',
      [
        'Figures of bindings could be negative, could not tell none from 0, and had no place for slow requests.',
        NO_FIGURES,
      ],
    ],
  },
  {
    title: 'Around it',
    first: 37,
    defects: [
      'Who had reached the limit could not see what counts, and expired bindings had to be deleted by hand.',
      'Who had made a binding was noted in part, and who fetched it not at all.',
      ['Runtimes whose bindings had all expired were listed as having some.', NO_RUNTIMES],
      ['The published description of the API lacked statuses, routes and fields.', NO_OPENAPI],
      'Instances were served without `accepts_incomplete`, deleted though unknown, and shown with secrets of their parameters.',
      'There was one sealing key that could not be rotated, and a sealed credential opened in any row.',
      ['No public test covered what the hardest of these defects are about.', ABOUT_TESTS],
      'An instance whose deprovisioning had succeeded in part could still be bound.',
      'A revoked token worked again when its binding id was bound again at once.',
    ],
  },
];
