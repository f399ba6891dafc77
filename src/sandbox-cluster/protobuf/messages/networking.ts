// The messages of the group networking in the wire format of Kubernetes: fields, numbers and types as k8s.io/api 0.36.3 has them
// (Apache License 2.0), in the notation of message-types.ts.

export const NETWORKING_MESSAGES = `
HTTPIngressPath: path=1 pathType=3:*string backend=2:IngressBackend
HTTPIngressRuleValue: paths=1:[HTTPIngressPath]
IPBlock: cidr=1 except=2:[string]
Ingress: metadata=1:meta.ObjectMeta spec=2:IngressSpec status=3:IngressStatus
IngressBackend: service=4:*IngressServiceBackend resource=3:*core.TypedLocalObjectReference
IngressLoadBalancerIngress: ip=1 hostname=2 ports=4:[IngressPortStatus]
IngressLoadBalancerStatus: ingress=1:[IngressLoadBalancerIngress]
IngressPortStatus: port=1:int protocol=2 error=3:*string
IngressRule: host=1 ingressRuleValue=2:+IngressRuleValue
IngressRuleValue: http=1:*HTTPIngressRuleValue
IngressServiceBackend: name=1 port=2:ServiceBackendPort
IngressSpec: ingressClassName=4:*string defaultBackend=1:*IngressBackend tls=2:[IngressTLS] rules=3:[IngressRule]
IngressStatus: loadBalancer=1:IngressLoadBalancerStatus
IngressTLS: hosts=1:[string] secretName=2
NetworkPolicy: metadata=1:meta.ObjectMeta spec=2:NetworkPolicySpec
NetworkPolicyEgressRule: ports=1:[NetworkPolicyPort] to=2:[NetworkPolicyPeer]
NetworkPolicyIngressRule: ports=1:[NetworkPolicyPort] from=2:[NetworkPolicyPeer]
NetworkPolicyPeer: podSelector=1:*meta.LabelSelector namespaceSelector=2:*meta.LabelSelector ipBlock=3:*IPBlock
NetworkPolicyPort: protocol=1:*string port=2:*IntOrString endPort=3:*int
NetworkPolicySpec: podSelector=1:meta.LabelSelector ingress=2:[NetworkPolicyIngressRule] egress=3:[NetworkPolicyEgressRule] policyTypes=4:[string]
ServiceBackendPort: name=1 number=2:int
`;
