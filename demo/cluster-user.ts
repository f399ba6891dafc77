// Who uses the kubeconfig in the story: a stock program that reads the file which the demo has written, and nothing
// else.

/** What one use came to; a refusal of the cluster is a result. */
export interface Use {
  readonly outcome: 'done' | 'refused' | 'failed';
  /** What was asked, then what came back. */
  readonly lines: readonly string[];
}

export interface ClusterUser {
  /** As a title of a step has it. */
  readonly name: string;
  listNamespaces(kubeconfigFile: string): Promise<Use>;
  createConfigMap(kubeconfigFile: string, name: string): Promise<Use>;
  /** `done` also where there is none. */
  deleteConfigMap(kubeconfigFile: string, name: string): Promise<Use>;
}

/** In the namespace that kubectl takes where a kubeconfig names none. */
export const NAMESPACE = 'default';
