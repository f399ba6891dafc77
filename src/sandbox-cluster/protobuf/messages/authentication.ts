// The messages of the group authentication in the wire format of Kubernetes: fields, numbers and types as k8s.io/api 0.36.3 has them
// (Apache License 2.0), in the notation of message-types.ts.

export const AUTHENTICATION_MESSAGES = `
BoundObjectReference: kind=1 apiVersion=2 name=3 uid=4
SelfSubjectReview: metadata=1:meta.ObjectMeta status=2:SelfSubjectReviewStatus
SelfSubjectReviewStatus: userInfo=1:UserInfo
TokenRequest: metadata=1:meta.ObjectMeta spec=2:TokenRequestSpec status=3:TokenRequestStatus
TokenRequestSpec: audiences=1:[string] expirationSeconds=4:*int boundObjectRef=3:*BoundObjectReference
TokenRequestStatus: token=1 expirationTimestamp=2:Time
TokenReview: metadata=1:meta.ObjectMeta spec=2:TokenReviewSpec status=3:TokenReviewStatus
TokenReviewSpec: token=1 audiences=2:[string]
TokenReviewStatus: authenticated=1:bool user=2:UserInfo audiences=4:[string] error=3
UserInfo: username=1 uid=2 groups=3:[string] extra=4:{ExtraValue}
`;
