// The messages of the group rbac in the wire format of Kubernetes: fields, numbers and types as k8s.io/api 0.36.3 has them
// (Apache License 2.0), in the notation of message-types.ts.

export const RBAC_MESSAGES = `
AggregationRule: clusterRoleSelectors=1:[meta.LabelSelector]
ClusterRole: metadata=1:meta.ObjectMeta rules=2:[PolicyRule] aggregationRule=3:*AggregationRule
ClusterRoleBinding: metadata=1:meta.ObjectMeta subjects=2:[Subject] roleRef=3:RoleRef
PolicyRule: verbs=1:[string] apiGroups=2:[string] resources=3:[string] resourceNames=4:[string] nonResourceURLs=5:[string]
Role: metadata=1:meta.ObjectMeta rules=2:[PolicyRule]
RoleBinding: metadata=1:meta.ObjectMeta subjects=2:[Subject] roleRef=3:RoleRef
RoleRef: apiGroup=1 kind=2 name=3
Subject: kind=1 apiGroup=2 name=3 namespace=4
`;
