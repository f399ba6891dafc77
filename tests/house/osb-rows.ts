// The rows of the checklist that we hold OSB 2.17 to, in short words of our own, by the groups and numbers under which
// code and tests name them. A row without a test has the reason here, in words for users; osb-coverage.test.ts makes
// docs/osb-coverage.md of it and of the titles of tests.

export interface OsbRow {
  readonly says: string;
  /** Why no test shows it; absent where tests do. */
  readonly reason?: string;
}

export interface OsbGroup {
  readonly title: string;
  /** Number of the first row; the others follow it. */
  readonly first: number;
  readonly rows: readonly (string | readonly [says: string, reason: string])[];
}

const NO_ROTATION =
  'Out of scope: bindings are not rotated, plans say `binding_rotatable: false`, and a predecessor is 400.';

export const OSB_GROUPS: readonly OsbGroup[] = [
  {
    title: 'API version',
    first: 1,
    rows: [
      'A request without `X-Broker-API-Version` is refused: 412.',
      'A version that is not served is 412, with one to use instead.',
      'Any 2.x from 2.13 on is served.',
      'The version is asked for on every route.',
      'Blanks around it and repeats do no harm; two different ones are 400.',
    ],
  },
  {
    title: 'Authentication',
    first: 6,
    rows: [
      'Bad, missing or malformed credentials are 401 on every route, with no hint at what exists.',
      'Platforms send basic authentication with every request.',
      '401 names the scheme and wins over all else.',
      'Several mounts or platforms of one broker share ids on purpose.',
    ],
  },
  {
    title: 'Originating and request identity',
    first: 10,
    rows: [
      'The originating identity is a platform and a JSON object in base64.',
      'Cloud Foundry and Kubernetes put different keys into it, and may put more.',
      'It may be missing.',
      'A malformed one is ignored.',
      'The request identity comes back on every answer, whatever its status.',
      'The request identity may be logged; however long, it does no harm.',
    ],
  },
  {
    title: 'Messages and ids',
    first: 16,
    rows: [
      'Unknown fields are ignored in every object of OSB; our own parameters are strict.',
      'Fields and headers of our own say whose they are.',
      'Bodies are JSON in both directions, with a charset or without.',
      'A missing content type is served, a foreign one is 400.',
      'A body that is missing, no JSON, no object, or has fields of the wrong type is 400.',
      'A content type without a body means nothing; null and empty optional fields are absent.',
      'Too large is 413, an unknown path 404, a wrong method 405.',
      'No redirects, no CORS, no HEAD and OPTIONS, no limit of rates.',
      'Ids may be anything, percent-encoded, and are decoded once.',
      'Broken encodings, `.`, `..` and NUL are no ids: 400.',
    ],
  },
  {
    title: 'Errors',
    first: 26,
    rows: [
      'A failure has a fitting status, a sentence, and where OSB has one a word.',
      'The words of OSB are `AsyncRequired`, `ConcurrencyError`, `RequiresApp` and `MaintenanceInfoConflict`, with 422.',
      'What is still usable is said in failures of updating and deleting only.',
      'Two failures have the sentences that old clients compare.',
      'No insides and no secrets in descriptions.',
      'After 4xx all is as it was.',
      'After a refused update none of it is applied.',
    ],
  },
  {
    title: 'Catalog',
    first: 33,
    rows: [
      'The catalog is an object with a list of services that is not empty.',
      'Services have names, unique and fit for a command line.',
      'Services have ids that are unique and never change.',
      'Services and plans are described.',
      'Each service and plan says whether it can be bound.',
      'Each service has a plan; plans have unique ids, and names unique in their service.',
      'No permissions are required.',
      'Instances and bindings can be fetched where the catalog says so.',
      'The catalog says whether changes of context are wanted.',
      '`plan_updateable` is spelled so.',
      '`binding_rotatable` is a field of plans.',
      'The time to poll is in whole seconds, and longer than we try.',
      'Schemas are draft-04, whole and small.',
      'Maintenance has a version where there is any.',
      'Texts are of a size that platforms can keep.',
      'The catalog has an ETag.',
      'Services and plans have names for people.',
      'A plan that leaves the catalog does not strand its instances.',
      'Each plan says whether it is free.',
    ],
  },
  {
    title: 'Synchronous and asynchronous',
    first: 52,
    rows: [
      'Without `accepts_incomplete=true`, work on instances is `AsyncRequired`.',
      'With it, such work is 202.',
      'What is answered synchronously is done.',
      'Synchronous operations ignore the flag.',
      'The name of an operation is short, plain and its own.',
      'The order of checks.',
    ],
  },
  {
    title: 'Concurrency',
    first: 58,
    rows: [
      'What another request is in the way of is `ConcurrencyError`.',
      ['Platforms do not clean up after it.', 'A duty of platforms.'],
      'Binds of one instance do not refuse each other.',
      'Equal PUTs at the same time make one thing.',
      'Different PUTs of one id at the same time: one wins, the others are 409.',
    ],
  },
  {
    title: 'Provisioning',
    first: 63,
    rows: [
      'Service, plan, organisation and space are required.',
      'Service and plan must be in the catalog.',
      'Parameters are checked against the schema of the catalog.',
      'After `AsyncRequired` nothing is there.',
      'A maintenance version that the plan does not have is `MaintenanceInfoConflict`.',
      'Accepted is 202 with an operation.',
      'The same request while it runs is 202 with the same operation.',
      'The same request after success is 200.',
      'The same id with other service, plan or parameters is 409.',
      'The id of a failed instance is free again after DELETE.',
      'While it is being deleted, `ConcurrencyError`.',
      ['A dashboard is named in the first answer.', 'Instances have no dashboard.'],
      ['Labels and attributes.', 'Instances have none to tell.'],
      'What was accepted is done without further requests, restarts or not.',
      [
        'A quota or region that is full is 400.',
        'No plan of today has a quota or a region that can be full.',
      ],
      'Nothing is converted: a number in a text is no number.',
      '201 only for what is made within the request, which instances never are.',
    ],
  },
  {
    title: 'Fetching an instance',
    first: 80,
    rows: [
      'Instances can be fetched from their first success on, and are 404 before.',
      'While it is updated, the old view or `ConcurrencyError`.',
      'Service, plan and parameters; what is not there is left out.',
      'Secrets in parameters are left out.',
      'The new view once an update has succeeded.',
      'The old view while it is deleted, 404 after that and after a failed provisioning.',
      'Service and plan in the query are hints.',
    ],
  },
  {
    title: 'Updating',
    first: 87,
    rows: [
      '`service_id` is required, and is that of the instance.',
      'Without `plan_id` the plan stays.',
      'Without parameters they stay.',
      'What cannot be changed is 422 with a word.',
      'Without the flag, `AsyncRequired`.',
      'Another maintenance version than the plan has is a conflict.',
      'Accepted is 202; the same again is 202 with the same operation.',
      'Nothing to change is 200.',
      'The operation is named; without a dashboard the old one stays.',
      '`previous_values` never refuses.',
      'An unknown instance is 404, a busy one `ConcurrencyError`.',
      'A failed update says what is still usable.',
      'A failed update leaves all as it was.',
    ],
  },
  {
    title: 'Deprovisioning',
    first: 100,
    rows: [
      'Both ids are required, whether the instance exists or not.',
      'An unknown instance is 410.',
      'Without the flag, `AsyncRequired`, if the instance exists.',
      'Accepted is 202 with an operation, the same while it runs.',
      'Busy with what is not cancelled is `ConcurrencyError`.',
      'DELETE during provisioning ends it and removes what was made.',
      'All that provisioning made is removed.',
      'Bindings that are left end with their instance.',
      [
        'A failed deprovisioning can be repeated.',
        'It does not fail in plans of today: a cluster that stays silent is given up after two minutes.',
      ],
      'A wrong plan is passed over, a wrong service is 400.',
      'It may be repeated for days.',
    ],
  },
  {
    title: 'Last operation of an instance',
    first: 111,
    rows: [
      'The state is `in progress`, `succeeded` or `failed`.',
      'The description is a sentence.',
      'An unknown instance is 404; a deleted one is told as such for a day, then 410.',
      'An end is not forgotten at once.',
      'Service and plan in the query may be absent or old.',
      'An operation is told by its own outcome; an unknown one means the latest.',
      'Malformed is 400, empty is absent.',
      '`Retry-After` in seconds, where it is sent.',
      'Polling changes nothing, and a restart forgets nothing.',
      'The platform may give up first and delete.',
    ],
  },
  {
    title: 'Binding',
    first: 121,
    rows: [
      'Service and plan are required, and those of the instance; parameters are checked.',
      'Made is 201 with credentials that work.',
      'The same again is 200 with the same.',
      'Other parameters are 409.',
      'Another request in the way is `ConcurrencyError`; no app is demanded.',
      'Endpoints are whole where they are sent; they are not.',
      'Expiry and renewal are told in UTC.',
      'Each binding has a credential of its own, and nothing that needs a permission.',
      'An unknown instance is 404; one that cannot be bound now or never is refused by its reason.',
      'It is quick, and what it began is found by a DELETE; an expired binding is issued anew.',
    ],
  },
  {
    title: 'Rotation',
    first: 131,
    rows: [
      ['Only where the plan says so.', NO_ROTATION],
      ['The predecessor must be good.', NO_ROTATION],
      ['Both bindings live.', NO_ROTATION],
      ['Answers are those of a bind.', NO_ROTATION],
      ['Parameters are inherited.', NO_ROTATION],
      ['No binding succeeds itself.', NO_ROTATION],
    ],
  },
  {
    title: 'Fetching and ending a binding',
    first: 137,
    rows: [
      'Bindings can be fetched; unknown ones are 404.',
      'What is fetched has the credentials; expired is 404.',
      'The last operation of a binding that lives is `succeeded`, else 404.',
      'It is not forgotten at once.',
      'Both ids are required; an unknown binding is 410.',
      'Done is 200, and then the cluster refuses the token.',
      'Requests at the same time leave nothing that lives.',
      'It works for expired bindings and with ids that the catalog no longer has.',
      'It is never `AsyncRequired`.',
    ],
  },
  {
    title: 'Orphans',
    first: 146,
    rows: [
      'The DELETE after whatever was answered is 200, 202 or 410.',
      [
        'The broker may clean up by itself.',
        'Nobody sweeps yet: a DELETE, a repeat of the PUT, or deleting the instance finishes what was left.',
      ],
      'A DELETE while the PUT is still served elsewhere never leaves a late success.',
    ],
  },
  {
    title: 'Context',
    first: 149,
    rows: [
      'Platforms tell different things of themselves, and these change.',
      'Nothing of it is required.',
      '`bind_resource` may name more than an app.',
      'No dashboard client, no sharing.',
    ],
  },
];
