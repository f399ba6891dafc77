// The messages of the core group in the wire format of Kubernetes: fields, numbers and types as k8s.io/api 0.36.3 has them
// (Apache License 2.0), in the notation of message-types.ts.

export const CORE_M_TO_Z = `
ModifyVolumeStatus: targetVolumeAttributesClassName=1 status=2
NFSVolumeSource: server=1 path=2 readOnly=3:bool
Namespace: metadata=1:meta.ObjectMeta spec=2:NamespaceSpec status=3:NamespaceStatus
NamespaceCondition: type=1 status=2 lastTransitionTime=4:Time reason=5 message=6
NamespaceSpec: finalizers=1:[string]
NamespaceStatus: phase=1 conditions=2:[NamespaceCondition]
NodeAffinity: requiredDuringSchedulingIgnoredDuringExecution=1:*NodeSelector preferredDuringSchedulingIgnoredDuringExecution=2:[PreferredSchedulingTerm]
NodeAllocatableResourceClaimStatus: resourceClaimName=1 containers=2:[string] resources=3:{Quantity}
NodeSelector: nodeSelectorTerms=1:[NodeSelectorTerm]
NodeSelectorRequirement: key=1 operator=2 values=3:[string]
NodeSelectorTerm: matchExpressions=1:[NodeSelectorRequirement] matchFields=2:[NodeSelectorRequirement]
ObjectFieldSelector: apiVersion=1 fieldPath=2
ObjectReference: kind=1 namespace=2 name=3 uid=4 apiVersion=5 resourceVersion=6 fieldPath=7
PersistentVolumeClaim: metadata=1:meta.ObjectMeta spec=2:PersistentVolumeClaimSpec status=3:PersistentVolumeClaimStatus
PersistentVolumeClaimCondition: type=1 status=2 lastProbeTime=3:Time lastTransitionTime=4:Time reason=5 message=6
PersistentVolumeClaimSpec: accessModes=1:[string] selector=4:*meta.LabelSelector resources=2:VolumeResourceRequirements volumeName=3 storageClassName=5:*string volumeMode=6:*string dataSource=7:*TypedLocalObjectReference dataSourceRef=8:*TypedObjectReference volumeAttributesClassName=9:*string
PersistentVolumeClaimStatus: phase=1 accessModes=2:[string] capacity=3:{Quantity} conditions=4:[PersistentVolumeClaimCondition] allocatedResources=5:{Quantity} allocatedResourceStatuses=7:{string} currentVolumeAttributesClassName=8:*string modifyVolumeStatus=9:*ModifyVolumeStatus
PersistentVolumeClaimTemplate: metadata=1:meta.ObjectMeta spec=2:PersistentVolumeClaimSpec
PersistentVolumeClaimVolumeSource: claimName=1 readOnly=2:bool
PhotonPersistentDiskVolumeSource: pdID=1 fsType=2
Pod: metadata=1:meta.ObjectMeta spec=2:PodSpec status=3:PodStatus
PodAffinity: requiredDuringSchedulingIgnoredDuringExecution=1:[PodAffinityTerm] preferredDuringSchedulingIgnoredDuringExecution=2:[WeightedPodAffinityTerm]
PodAffinityTerm: labelSelector=1:*meta.LabelSelector namespaces=2:[string] topologyKey=3 namespaceSelector=4:*meta.LabelSelector matchLabelKeys=5:[string] mismatchLabelKeys=6:[string]
PodAntiAffinity: requiredDuringSchedulingIgnoredDuringExecution=1:[PodAffinityTerm] preferredDuringSchedulingIgnoredDuringExecution=2:[WeightedPodAffinityTerm]
PodCertificateProjection: signerName=1 keyType=2 maxExpirationSeconds=3:*int credentialBundlePath=4 keyPath=5 certificateChainPath=6 userAnnotations=7:{string}
PodCondition: type=1 observedGeneration=7:int status=2 lastProbeTime=3:Time lastTransitionTime=4:Time reason=5 message=6
PodDNSConfig: nameservers=1:[string] searches=2:[string] options=3:[PodDNSConfigOption]
PodDNSConfigOption: name=1 value=2:*string
PodExtendedResourceClaimStatus: requestMappings=1:[ContainerExtendedResourceRequest] resourceClaimName=2
PodIP: ip=1
PodOS: name=1
PodReadinessGate: conditionType=1
PodResourceClaim: name=1 resourceClaimName=3:*string resourceClaimTemplateName=4:*string
PodResourceClaimStatus: name=1 resourceClaimName=2:*string
PodSchedulingGate: name=1
PodSchedulingGroup: podGroupName=1:*string
PodSecurityContext: seLinuxOptions=1:*SELinuxOptions windowsOptions=8:*WindowsSecurityContextOptions runAsUser=2:*int runAsGroup=6:*int runAsNonRoot=3:*bool supplementalGroups=4:[int] supplementalGroupsPolicy=12:*string fsGroup=5:*int sysctls=7:[Sysctl] fsGroupChangePolicy=9:*string seccompProfile=10:*SeccompProfile appArmorProfile=11:*AppArmorProfile seLinuxChangePolicy=13:*string
PodSpec: volumes=1:[Volume] initContainers=20:[Container] containers=2:[Container] ephemeralContainers=34:[EphemeralContainer] restartPolicy=3 terminationGracePeriodSeconds=4:*int activeDeadlineSeconds=5:*int dnsPolicy=6 nodeSelector=7:{string} serviceAccountName=8 serviceAccount=9 automountServiceAccountToken=21:*bool nodeName=10 hostNetwork=11:bool hostPID=12:bool hostIPC=13:bool shareProcessNamespace=27:*bool securityContext=14:*PodSecurityContext imagePullSecrets=15:[LocalObjectReference] hostname=16 subdomain=17 affinity=18:*Affinity schedulerName=19 tolerations=22:[Toleration] hostAliases=23:[HostAlias] priorityClassName=24 priority=25:*int dnsConfig=26:*PodDNSConfig readinessGates=28:[PodReadinessGate] runtimeClassName=29:*string enableServiceLinks=30:*bool preemptionPolicy=31:*string overhead=32:{Quantity} topologySpreadConstraints=33:[TopologySpreadConstraint] setHostnameAsFQDN=35:*bool os=36:*PodOS hostUsers=37:*bool schedulingGates=38:[PodSchedulingGate] resourceClaims=39:[PodResourceClaim] resources=40:*ResourceRequirements hostnameOverride=41:*string schedulingGroup=43:*PodSchedulingGroup
PodStatus: observedGeneration=17:int phase=1 conditions=2:[PodCondition] message=3 reason=4 nominatedNodeName=11 hostIP=5 hostIPs=16:[HostIP] podIP=6 podIPs=12:[PodIP] startTime=7:*Time initContainerStatuses=10:[ContainerStatus] containerStatuses=8:[ContainerStatus] qosClass=9 ephemeralContainerStatuses=13:[ContainerStatus] resize=14 resourceClaimStatuses=15:[PodResourceClaimStatus] extendedResourceClaimStatus=18:*PodExtendedResourceClaimStatus allocatedResources=19:{Quantity} resources=20:*ResourceRequirements nodeAllocatableResourceClaimStatuses=21:[NodeAllocatableResourceClaimStatus]
PodTemplate: metadata=1:meta.ObjectMeta template=2:PodTemplateSpec
PodTemplateSpec: metadata=1:meta.ObjectMeta spec=2:PodSpec
PortStatus: port=1:int protocol=2 error=3:*string
PortworxVolumeSource: volumeID=1 fsType=2 readOnly=3:bool
PreferredSchedulingTerm: weight=1:int preference=2:NodeSelectorTerm
Probe: handler=1:+ProbeHandler initialDelaySeconds=2:int timeoutSeconds=3:int periodSeconds=4:int successThreshold=5:int failureThreshold=6:int terminationGracePeriodSeconds=7:*int
ProbeHandler: exec=1:*ExecAction httpGet=2:*HTTPGetAction tcpSocket=3:*TCPSocketAction grpc=4:*GRPCAction
ProjectedVolumeSource: sources=1:[VolumeProjection] defaultMode=2:*int
QuobyteVolumeSource: registry=1 volume=2 readOnly=3:bool user=4 group=5 tenant=6
RBDVolumeSource: monitors=1:[string] image=2 fsType=3 pool=4 user=5 keyring=6 secretRef=7:*LocalObjectReference readOnly=8:bool
ReplicationController: metadata=1:meta.ObjectMeta spec=2:ReplicationControllerSpec status=3:ReplicationControllerStatus
ReplicationControllerCondition: type=1 status=2 lastTransitionTime=3:Time reason=4 message=5
ReplicationControllerSpec: replicas=1:*int minReadySeconds=4:int selector=2:{string} template=3:*PodTemplateSpec
ReplicationControllerStatus: replicas=1:int fullyLabeledReplicas=2:int readyReplicas=4:int availableReplicas=5:int observedGeneration=3:int conditions=6:[ReplicationControllerCondition]
ResourceClaim: name=1 request=2
ResourceFieldSelector: containerName=1 resource=2 divisor=3:Quantity
ResourceHealth: resourceID=1 health=2 message=6:*string
ResourceQuota: metadata=1:meta.ObjectMeta spec=2:ResourceQuotaSpec status=3:ResourceQuotaStatus
ResourceQuotaSpec: hard=1:{Quantity} scopes=2:[string] scopeSelector=3:*ScopeSelector
ResourceQuotaStatus: hard=1:{Quantity} used=2:{Quantity}
ResourceRequirements: limits=1:{Quantity} requests=2:{Quantity} claims=3:[ResourceClaim]
ResourceStatus: name=1 resources=2:[ResourceHealth]
SELinuxOptions: user=1 role=2 type=3 level=4
ScaleIOVolumeSource: gateway=1 system=2 secretRef=3:*LocalObjectReference sslEnabled=4:bool protectionDomain=5 storagePool=6 storageMode=7 volumeName=8 fsType=9 readOnly=10:bool
ScopeSelector: matchExpressions=1:[ScopedResourceSelectorRequirement]
ScopedResourceSelectorRequirement: scopeName=1 operator=2 values=3:[string]
SeccompProfile: type=1 localhostProfile=2:*string
Secret: metadata=1:meta.ObjectMeta immutable=5:*bool data=2:{bytes} stringData=4:{string} type=3
SecretEnvSource: localObjectReference=1:+LocalObjectReference optional=2:*bool
SecretKeySelector: localObjectReference=1:+LocalObjectReference key=2 optional=3:*bool
SecretProjection: localObjectReference=1:+LocalObjectReference items=2:[KeyToPath] optional=4:*bool
SecretVolumeSource: secretName=1 items=2:[KeyToPath] defaultMode=3:*int optional=4:*bool
SecurityContext: capabilities=1:*Capabilities privileged=2:*bool seLinuxOptions=3:*SELinuxOptions windowsOptions=10:*WindowsSecurityContextOptions runAsUser=4:*int runAsGroup=8:*int runAsNonRoot=5:*bool readOnlyRootFilesystem=6:*bool allowPrivilegeEscalation=7:*bool procMount=9:*string seccompProfile=11:*SeccompProfile appArmorProfile=12:*AppArmorProfile
Service: metadata=1:meta.ObjectMeta spec=2:ServiceSpec status=3:ServiceStatus
ServiceAccount: metadata=1:meta.ObjectMeta secrets=2:[ObjectReference] imagePullSecrets=3:[LocalObjectReference] automountServiceAccountToken=4:*bool
ServiceAccountTokenProjection: audience=1 expirationSeconds=2:*int path=3
ServicePort: name=1 protocol=2 appProtocol=6:*string port=3:int targetPort=4:IntOrString nodePort=5:int
ServiceSpec: ports=1:[ServicePort] selector=2:{string} clusterIP=3 clusterIPs=18:[string] type=4 externalIPs=5:[string] sessionAffinity=7 loadBalancerIP=8 loadBalancerSourceRanges=9:[string] externalName=10 externalTrafficPolicy=11 healthCheckNodePort=12:int publishNotReadyAddresses=13:bool sessionAffinityConfig=14:*SessionAffinityConfig ipFamilies=19:[string] ipFamilyPolicy=17:*string allocateLoadBalancerNodePorts=20:*bool loadBalancerClass=21:*string internalTrafficPolicy=22:*string trafficDistribution=23:*string
ServiceStatus: loadBalancer=1:LoadBalancerStatus conditions=2:[meta.Condition]
SessionAffinityConfig: clientIP=1:*ClientIPConfig
SleepAction: seconds=1:int
StorageOSVolumeSource: volumeName=1 volumeNamespace=2 fsType=3 readOnly=4:bool secretRef=5:*LocalObjectReference
Sysctl: name=1 value=2
TCPSocketAction: port=1:IntOrString host=2
Toleration: key=1 operator=2 value=3 effect=4 tolerationSeconds=5:*int
TopologySelectorLabelRequirement: key=1 values=2:[string]
TopologySelectorTerm: matchLabelExpressions=1:[TopologySelectorLabelRequirement]
TopologySpreadConstraint: maxSkew=1:int topologyKey=2 whenUnsatisfiable=3 labelSelector=4:*meta.LabelSelector minDomains=5:*int nodeAffinityPolicy=6:*string nodeTaintsPolicy=7:*string matchLabelKeys=8:[string]
TypedLocalObjectReference: apiGroup=1:*string kind=2 name=3
TypedObjectReference: apiGroup=1:*string kind=2 name=3 namespace=4:*string
Volume: name=1 volumeSource=2:+VolumeSource
VolumeDevice: name=1 devicePath=2
VolumeMount: name=1 readOnly=2:bool recursiveReadOnly=7:*string mountPath=3 subPath=4 mountPropagation=5:*string subPathExpr=6
VolumeMountStatus: name=1 mountPath=2 readOnly=3:bool recursiveReadOnly=4:*string volumeStatus=5:*VolumeStatus
VolumeProjection: secret=1:*SecretProjection downwardAPI=2:*DownwardAPIProjection configMap=3:*ConfigMapProjection serviceAccountToken=4:*ServiceAccountTokenProjection clusterTrustBundle=5:*ClusterTrustBundleProjection podCertificate=6:*PodCertificateProjection
VolumeResourceRequirements: limits=1:{Quantity} requests=2:{Quantity}
VolumeSource: hostPath=1:*HostPathVolumeSource emptyDir=2:*EmptyDirVolumeSource gcePersistentDisk=3:*GCEPersistentDiskVolumeSource awsElasticBlockStore=4:*AWSElasticBlockStoreVolumeSource gitRepo=5:*GitRepoVolumeSource secret=6:*SecretVolumeSource nfs=7:*NFSVolumeSource iscsi=8:*ISCSIVolumeSource glusterfs=9:*GlusterfsVolumeSource persistentVolumeClaim=10:*PersistentVolumeClaimVolumeSource rbd=11:*RBDVolumeSource flexVolume=12:*FlexVolumeSource cinder=13:*CinderVolumeSource cephfs=14:*CephFSVolumeSource flocker=15:*FlockerVolumeSource downwardAPI=16:*DownwardAPIVolumeSource fc=17:*FCVolumeSource azureFile=18:*AzureFileVolumeSource configMap=19:*ConfigMapVolumeSource vsphereVolume=20:*VsphereVirtualDiskVolumeSource quobyte=21:*QuobyteVolumeSource azureDisk=22:*AzureDiskVolumeSource photonPersistentDisk=23:*PhotonPersistentDiskVolumeSource projected=26:*ProjectedVolumeSource portworxVolume=24:*PortworxVolumeSource scaleIO=25:*ScaleIOVolumeSource storageos=27:*StorageOSVolumeSource csi=28:*CSIVolumeSource ephemeral=29:*EphemeralVolumeSource image=30:*ImageVolumeSource
VolumeStatus: image=1:*ImageVolumeStatus
VsphereVirtualDiskVolumeSource: volumePath=1 fsType=2 storagePolicyName=3 storagePolicyID=4
WeightedPodAffinityTerm: weight=1:int podAffinityTerm=2:PodAffinityTerm
WindowsSecurityContextOptions: gmsaCredentialSpecName=1:*string gmsaCredentialSpec=2:*string runAsUserName=3:*string hostProcess=4:*bool
`;
