// The messages of the group coordination in the wire format of Kubernetes: fields, numbers and types as k8s.io/api 0.36.3 has them
// (Apache License 2.0), in the notation of message-types.ts.

export const COORDINATION_MESSAGES = `
Lease: metadata=1:meta.ObjectMeta spec=2:LeaseSpec
LeaseSpec: holderIdentity=1:*string leaseDurationSeconds=2:*int acquireTime=3:*MicroTime renewTime=4:*MicroTime leaseTransitions=5:*int strategy=6:*string preferredHolder=7:*string
`;
