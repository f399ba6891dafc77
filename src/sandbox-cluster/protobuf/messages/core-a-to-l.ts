// The messages of the core group in the wire format of Kubernetes: fields, numbers and types as k8s.io/api 0.36.3 has them
// (Apache License 2.0), in the notation of message-types.ts.

export const CORE_A_TO_L = `
AWSElasticBlockStoreVolumeSource: volumeID=1 fsType=2 partition=3:int readOnly=4:bool
Affinity: nodeAffinity=1:*NodeAffinity podAffinity=2:*PodAffinity podAntiAffinity=3:*PodAntiAffinity
AppArmorProfile: type=1 localhostProfile=2:*string
AzureDiskVolumeSource: diskName=1 diskURI=2 cachingMode=3:*string fsType=4:*string readOnly=5:*bool kind=6:*string
AzureFileVolumeSource: secretName=1 shareName=2 readOnly=3:bool
CSIVolumeSource: driver=1 readOnly=2:*bool fsType=3:*string volumeAttributes=4:{string} nodePublishSecretRef=5:*LocalObjectReference
Capabilities: add=1:[string] drop=2:[string]
CephFSVolumeSource: monitors=1:[string] path=2 user=3 secretFile=4 secretRef=5:*LocalObjectReference readOnly=6:bool
CinderVolumeSource: volumeID=1 fsType=2 readOnly=3:bool secretRef=4:*LocalObjectReference
ClientIPConfig: timeoutSeconds=1:*int
ClusterTrustBundleProjection: name=1:*string signerName=2:*string labelSelector=3:*meta.LabelSelector optional=5:*bool path=4
ConfigMap: metadata=1:meta.ObjectMeta immutable=4:*bool data=2:{string} binaryData=3:{bytes}
ConfigMapEnvSource: localObjectReference=1:+LocalObjectReference optional=2:*bool
ConfigMapKeySelector: localObjectReference=1:+LocalObjectReference key=2 optional=3:*bool
ConfigMapProjection: localObjectReference=1:+LocalObjectReference items=2:[KeyToPath] optional=4:*bool
ConfigMapVolumeSource: localObjectReference=1:+LocalObjectReference items=2:[KeyToPath] defaultMode=3:*int optional=4:*bool
Container: name=1 image=2 command=3:[string] args=4:[string] workingDir=5 ports=6:[ContainerPort] envFrom=19:[EnvFromSource] env=7:[EnvVar] resources=8:ResourceRequirements resizePolicy=23:[ContainerResizePolicy] restartPolicy=24:*string restartPolicyRules=25:[ContainerRestartRule] volumeMounts=9:[VolumeMount] volumeDevices=21:[VolumeDevice] livenessProbe=10:*Probe readinessProbe=11:*Probe startupProbe=22:*Probe lifecycle=12:*Lifecycle terminationMessagePath=13 terminationMessagePolicy=20 imagePullPolicy=14 securityContext=15:*SecurityContext stdin=16:bool stdinOnce=17:bool tty=18:bool
ContainerExtendedResourceRequest: containerName=1 resourceName=2 requestName=3
ContainerPort: name=1 hostPort=2:int containerPort=3:int protocol=4 hostIP=5
ContainerResizePolicy: resourceName=1 restartPolicy=2
ContainerRestartRule: action=1 exitCodes=2:*ContainerRestartRuleOnExitCodes
ContainerRestartRuleOnExitCodes: operator=1 values=2:[int]
ContainerState: waiting=1:*ContainerStateWaiting running=2:*ContainerStateRunning terminated=3:*ContainerStateTerminated
ContainerStateRunning: startedAt=1:Time
ContainerStateTerminated: exitCode=1:int signal=2:int reason=3 message=4 startedAt=5:Time finishedAt=6:Time containerID=7
ContainerStateWaiting: reason=1 message=2
ContainerStatus: name=1 state=2:ContainerState lastState=3:ContainerState ready=4:bool restartCount=5:int image=6 imageID=7 containerID=8 started=9:*bool allocatedResources=10:{Quantity} resources=11:*ResourceRequirements volumeMounts=12:[VolumeMountStatus] user=13:*ContainerUser allocatedResourcesStatus=14:[ResourceStatus] stopSignal=15:*string
ContainerUser: linux=1:*LinuxContainerUser
DownwardAPIProjection: items=1:[DownwardAPIVolumeFile]
DownwardAPIVolumeFile: path=1 fieldRef=2:*ObjectFieldSelector resourceFieldRef=3:*ResourceFieldSelector mode=4:*int
DownwardAPIVolumeSource: items=1:[DownwardAPIVolumeFile] defaultMode=2:*int
EmptyDirVolumeSource: medium=1 sizeLimit=2:*Quantity
EnvFromSource: prefix=1 configMapRef=2:*ConfigMapEnvSource secretRef=3:*SecretEnvSource
EnvVar: name=1 value=2 valueFrom=3:*EnvVarSource
EnvVarSource: fieldRef=1:*ObjectFieldSelector resourceFieldRef=2:*ResourceFieldSelector configMapKeyRef=3:*ConfigMapKeySelector secretKeyRef=4:*SecretKeySelector fileKeyRef=5:*FileKeySelector
EphemeralContainer: ephemeralContainerCommon=1:EphemeralContainerCommon targetContainerName=2
EphemeralContainerCommon: name=1 image=2 command=3:[string] args=4:[string] workingDir=5 ports=6:[ContainerPort] envFrom=19:[EnvFromSource] env=7:[EnvVar] resources=8:ResourceRequirements resizePolicy=23:[ContainerResizePolicy] restartPolicy=24:*string restartPolicyRules=25:[ContainerRestartRule] volumeMounts=9:[VolumeMount] volumeDevices=21:[VolumeDevice] livenessProbe=10:*Probe readinessProbe=11:*Probe startupProbe=22:*Probe lifecycle=12:*Lifecycle terminationMessagePath=13 terminationMessagePolicy=20 imagePullPolicy=14 securityContext=15:*SecurityContext stdin=16:bool stdinOnce=17:bool tty=18:bool
EphemeralVolumeSource: volumeClaimTemplate=1:*PersistentVolumeClaimTemplate
Event: metadata=1:meta.ObjectMeta involvedObject=2:ObjectReference reason=3 message=4 source=5:EventSource firstTimestamp=6:Time lastTimestamp=7:Time count=8:int type=9 eventTime=10:MicroTime series=11:*EventSeries action=12 related=13:*ObjectReference reportingComponent=14 reportingInstance=15
EventSeries: count=1:int lastObservedTime=2:MicroTime
EventSource: component=1 host=2
ExecAction: command=1:[string]
FCVolumeSource: targetWWNs=1:[string] lun=2:*int fsType=3 readOnly=4:bool wwids=5:[string]
FileKeySelector: volumeName=1 path=2 key=3 optional=4:*bool
FlexVolumeSource: driver=1 fsType=2 secretRef=3:*LocalObjectReference readOnly=4:bool options=5:{string}
FlockerVolumeSource: datasetName=1 datasetUUID=2
GCEPersistentDiskVolumeSource: pdName=1 fsType=2 partition=3:int readOnly=4:bool
GRPCAction: port=1:int service=2:*string
GitRepoVolumeSource: repository=1 revision=2 directory=3
GlusterfsVolumeSource: endpoints=1 path=2 readOnly=3:bool
HTTPGetAction: path=1 port=2:IntOrString host=3 scheme=4 httpHeaders=5:[HTTPHeader]
HTTPHeader: name=1 value=2
HostAlias: ip=1 hostnames=2:[string]
HostIP: ip=1
HostPathVolumeSource: path=1 type=2:*string
ISCSIVolumeSource: targetPortal=1 iqn=2 lun=3:int iscsiInterface=4 fsType=5 readOnly=6:bool portals=7:[string] chapAuthDiscovery=8:bool chapAuthSession=11:bool secretRef=10:*LocalObjectReference initiatorName=12:*string
ImageVolumeSource: reference=1 pullPolicy=2
ImageVolumeStatus: imageRef=1
KeyToPath: key=1 path=2 mode=3:*int
Lifecycle: postStart=1:*LifecycleHandler preStop=2:*LifecycleHandler stopSignal=3:*string
LifecycleHandler: exec=1:*ExecAction httpGet=2:*HTTPGetAction tcpSocket=3:*TCPSocketAction sleep=4:*SleepAction
LimitRange: metadata=1:meta.ObjectMeta spec=2:LimitRangeSpec
LimitRangeItem: type=1 max=2:{Quantity} min=3:{Quantity} default=4:{Quantity} defaultRequest=5:{Quantity} maxLimitRequestRatio=6:{Quantity}
LimitRangeSpec: limits=1:[LimitRangeItem]
LinuxContainerUser: uid=1:int gid=2:int supplementalGroups=3:[int]
LoadBalancerIngress: ip=1 hostname=2 ipMode=3:*string ports=4:[PortStatus]
LoadBalancerStatus: ingress=1:[LoadBalancerIngress]
LocalObjectReference: name=1
`;
