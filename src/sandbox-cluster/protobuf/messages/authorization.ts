// The messages of the group authorization in the wire format of Kubernetes: fields, numbers and types as k8s.io/api 0.36.3 has them
// (Apache License 2.0), in the notation of message-types.ts.

export const AUTHORIZATION_MESSAGES = `
FieldSelectorAttributes: rawSelector=1 requirements=2:[meta.FieldSelectorRequirement]
LabelSelectorAttributes: rawSelector=1 requirements=2:[meta.LabelSelectorRequirement]
LocalSubjectAccessReview: metadata=1:meta.ObjectMeta spec=2:SubjectAccessReviewSpec status=3:SubjectAccessReviewStatus
NonResourceAttributes: path=1 verb=2
NonResourceRule: verbs=1:[string] nonResourceURLs=2:[string]
ResourceAttributes: namespace=1 verb=2 group=3 version=4 resource=5 subresource=6 name=7 fieldSelector=8:*FieldSelectorAttributes labelSelector=9:*LabelSelectorAttributes
ResourceRule: verbs=1:[string] apiGroups=2:[string] resources=3:[string] resourceNames=4:[string]
SelfSubjectAccessReview: metadata=1:meta.ObjectMeta spec=2:SelfSubjectAccessReviewSpec status=3:SubjectAccessReviewStatus
SelfSubjectAccessReviewSpec: resourceAttributes=1:*ResourceAttributes nonResourceAttributes=2:*NonResourceAttributes
SelfSubjectRulesReview: metadata=1:meta.ObjectMeta spec=2:SelfSubjectRulesReviewSpec status=3:SubjectRulesReviewStatus
SelfSubjectRulesReviewSpec: namespace=1
SubjectAccessReview: metadata=1:meta.ObjectMeta spec=2:SubjectAccessReviewSpec status=3:SubjectAccessReviewStatus
SubjectAccessReviewSpec: resourceAttributes=1:*ResourceAttributes nonResourceAttributes=2:*NonResourceAttributes user=3 groups=4:[string] extra=5:{ExtraValue} uid=6
SubjectAccessReviewStatus: allowed=1:bool denied=4:bool reason=2 evaluationError=3
SubjectRulesReviewStatus: resourceRules=1:[ResourceRule] nonResourceRules=2:[NonResourceRule] incomplete=3:bool evaluationError=4
`;
