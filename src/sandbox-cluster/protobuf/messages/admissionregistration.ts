// The messages of the group admissionregistration in the wire format of Kubernetes: fields, numbers and types as k8s.io/api 0.36.3 has them
// (Apache License 2.0), in the notation of message-types.ts.

export const ADMISSION_MESSAGES = `
AuditAnnotation: key=1 valueExpression=2
ExpressionWarning: fieldRef=2 warning=3
MatchCondition: name=1 expression=2
MatchResources: namespaceSelector=1:*meta.LabelSelector objectSelector=2:*meta.LabelSelector resourceRules=3:[NamedRuleWithOperations] excludeResourceRules=4:[NamedRuleWithOperations] matchPolicy=7:*string
MutatingWebhook: name=1 clientConfig=2:WebhookClientConfig rules=3:[RuleWithOperations] failurePolicy=4:*string matchPolicy=9:*string namespaceSelector=5:*meta.LabelSelector objectSelector=11:*meta.LabelSelector sideEffects=6:*string timeoutSeconds=7:*int admissionReviewVersions=8:[string] reinvocationPolicy=10:*string matchConditions=12:[MatchCondition]
MutatingWebhookConfiguration: metadata=1:meta.ObjectMeta webhooks=2:[MutatingWebhook]
NamedRuleWithOperations: resourceNames=1:[string] ruleWithOperations=2:+RuleWithOperations
ParamKind: apiVersion=1 kind=2
ParamRef: name=1 namespace=2 selector=3:*meta.LabelSelector parameterNotFoundAction=4:*string
Rule: apiGroups=1:[string] apiVersions=2:[string] resources=3:[string] scope=4:*string
RuleWithOperations: operations=1:[string] rule=2:+Rule
ServiceReference: namespace=1 name=2 path=3:*string port=4:*int
TypeChecking: expressionWarnings=1:[ExpressionWarning]
ValidatingAdmissionPolicy: metadata=1:meta.ObjectMeta spec=2:ValidatingAdmissionPolicySpec status=3:ValidatingAdmissionPolicyStatus
ValidatingAdmissionPolicyBinding: metadata=1:meta.ObjectMeta spec=2:ValidatingAdmissionPolicyBindingSpec
ValidatingAdmissionPolicyBindingSpec: policyName=1 paramRef=2:*ParamRef matchResources=3:*MatchResources validationActions=4:[string]
ValidatingAdmissionPolicySpec: paramKind=1:*ParamKind matchConstraints=2:*MatchResources validations=3:[Validation] failurePolicy=4:*string auditAnnotations=5:[AuditAnnotation] matchConditions=6:[MatchCondition] variables=7:[Variable]
ValidatingAdmissionPolicyStatus: observedGeneration=1:int typeChecking=2:*TypeChecking conditions=3:[meta.Condition]
ValidatingWebhook: name=1 clientConfig=2:WebhookClientConfig rules=3:[RuleWithOperations] failurePolicy=4:*string matchPolicy=9:*string namespaceSelector=5:*meta.LabelSelector objectSelector=10:*meta.LabelSelector sideEffects=6:*string timeoutSeconds=7:*int admissionReviewVersions=8:[string] matchConditions=11:[MatchCondition]
ValidatingWebhookConfiguration: metadata=1:meta.ObjectMeta webhooks=2:[ValidatingWebhook]
Validation: expression=1 message=2 reason=3:*string messageExpression=4
Variable: name=1 expression=2
WebhookClientConfig: url=3:*string service=1:*ServiceReference caBundle=2:bytes
`;
