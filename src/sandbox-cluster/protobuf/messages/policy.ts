// The messages of the group policy in the wire format of Kubernetes: fields, numbers and types as k8s.io/api 0.36.3 has them
// (Apache License 2.0), in the notation of message-types.ts.

export const POLICY_MESSAGES = `
PodDisruptionBudget: metadata=1:meta.ObjectMeta spec=2:PodDisruptionBudgetSpec status=3:PodDisruptionBudgetStatus
PodDisruptionBudgetSpec: minAvailable=1:*IntOrString selector=2:*meta.LabelSelector maxUnavailable=3:*IntOrString unhealthyPodEvictionPolicy=4:*string
PodDisruptionBudgetStatus: observedGeneration=1:int disruptedPods=2:{Time} disruptionsAllowed=3:int currentHealthy=4:int desiredHealthy=5:int expectedPods=6:int conditions=7:[meta.Condition]
`;
