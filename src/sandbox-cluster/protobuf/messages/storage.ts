// The messages of the group storage in the wire format of Kubernetes: fields, numbers and types as k8s.io/api 0.36.3 has them
// (Apache License 2.0), in the notation of message-types.ts.

export const STORAGE_MESSAGES = `
StorageClass: metadata=1:meta.ObjectMeta provisioner=2 parameters=3:{string} reclaimPolicy=4:*string mountOptions=5:[string] allowVolumeExpansion=6:*bool volumeBindingMode=7:*string allowedTopologies=8:[core.TopologySelectorTerm]
`;
