// The messages of metadata and options in the wire format of Kubernetes: fields, numbers and types as k8s.io/api 0.36.3 has them
// (Apache License 2.0), in the notation of message-types.ts.

export const META_MESSAGES = `
Condition: type=1 status=2 observedGeneration=3:int lastTransitionTime=4:Time reason=5 message=6
DeleteOptions: gracePeriodSeconds=1:*int preconditions=2:*Preconditions orphanDependents=3:*bool propagationPolicy=4:*string dryRun=5:[string] ignoreStoreReadErrorWithClusterBreakingPotential=6:*bool
FieldSelectorRequirement: key=1 operator=2 values=3:[string]
LabelSelector: matchLabels=1:{string} matchExpressions=2:[LabelSelectorRequirement]
LabelSelectorRequirement: key=1 operator=2 values=3:[string]
ObjectMeta: name=1 generateName=2 namespace=3 selfLink=4 uid=5 resourceVersion=6 generation=7:int creationTimestamp=8:Time deletionTimestamp=9:*Time deletionGracePeriodSeconds=10:*int labels=11:{string} annotations=12:{string} ownerReferences=13:[OwnerReference] finalizers=14:[string] managedFields=17:Ignored
OwnerReference: apiVersion=5 kind=1 name=3 uid=4 controller=6:*bool blockOwnerDeletion=7:*bool
Preconditions: uid=1:*string resourceVersion=2:*string
`;
