{{- define "fullname" -}}
{{- ternary .Release.Name (printf "%s-%s" .Release.Name .Chart.Name) (contains .Chart.Name .Release.Name) | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- /* Labels of a component: (list $ "receiver") */ -}}
{{- define "selector" -}}
{{- $ := index . 0 -}}
app.kubernetes.io/name: {{ $.Chart.Name }}
app.kubernetes.io/instance: {{ $.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{- define "labels" -}}
{{- $ := index . 0 -}}
{{ include "selector" . }}
app.kubernetes.io/version: {{ $.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $.Release.Service }}
helm.sh/chart: {{ $.Chart.Name }}-{{ $.Chart.Version }}
{{- end }}

{{- /* The component to which SDKs connect. */ -}}
{{- define "entry" -}}
{{- if eq .Values.mode "kafka" }}receiver{{ else }}balancer{{ end }}
{{- end }}

{{- define "container-security" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{- define "pod-security" -}}
runAsNonRoot: true
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- /* The pod of a collector: (list $ "linking" $.Values.linking) */ -}}
{{- define "collector-pod" -}}
{{- $ := index . 0 -}}
{{- $component := index . 1 -}}
{{- $settings := index . 2 -}}
{{- $tls := and $.Values.tls.secretName (or (eq $component "receiver") $.Values.otlp.enabled) -}}
metadata:
  labels:
    {{- include "labels" (list $ $component) | nindent 4 }}
  annotations:
    checksum/config: {{ include "config" (list $ $component) | sha256sum }}
    {{- with $.Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  automountServiceAccountToken: false
  terminationGracePeriodSeconds: 60 # on SIGTERM the collector forwards held data
  {{- with $.Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  securityContext:
    {{- include "pod-security" $ | nindent 4 }}
    runAsUser: 65532
    runAsGroup: 65532
    fsGroup: 65532
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "selector" (list $ $component) | nindent 10 }}
  containers:
    - name: collector
      image: "{{ $.Values.image.repository }}:{{ $.Values.image.tag | default $.Chart.AppVersion }}"
      imagePullPolicy: {{ $.Values.image.pullPolicy }}
      args: [--config=/etc/otelcol-sentry/config.yaml]
      env:
        - name: GOMEMLIMIT # the garbage collector runs more often before the kernel kills the process
          value: {{ div (mul $settings.memoryMiB 4) 5 }}MiB
        - name: INSTANCE
          valueFrom: {fieldRef: {fieldPath: metadata.name}}
        {{- with $.Values.env }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- with $.Values.envFrom }}
      envFrom:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      ports:
        {{- if eq $component (include "receiving" $) }}
        - {name: sentry, containerPort: 4319}
        {{- end }}
        {{- if $.Values.otlp.enabled }}
        - {name: otlp-grpc, containerPort: 4317}
        - {name: otlp-http, containerPort: 4318}
        {{- end }}
        - {name: metrics, containerPort: 8888}
        - {name: health, containerPort: 13133}
      startupProbe:
        httpGet: {path: /, port: health}
        periodSeconds: 2
        failureThreshold: 30
      readinessProbe:
        httpGet: {path: /, port: health}
      livenessProbe:
        httpGet: {path: /, port: health}
        failureThreshold: 6
      resources:
        requests: {cpu: {{ $settings.cpu | quote }}, memory: {{ $settings.memoryMiB }}Mi}
        limits: {memory: {{ $settings.memoryMiB }}Mi}
      securityContext:
        {{- include "container-security" $ | nindent 8 }}
      volumeMounts:
        - {name: config, mountPath: /etc/otelcol-sentry, readOnly: true}
        - {name: data, mountPath: /var/lib/otelcol-sentry}
        {{- if $tls }}
        - {name: tls, mountPath: /etc/otelcol-sentry-tls, readOnly: true}
        {{- end }}
        {{- if $.Values.symbolication.claim }}
        - {name: symbols, mountPath: /var/lib/otelcol-sentry/symbols, readOnly: true}
        {{- end }}
        {{- with $.Values.volumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    - name: config
      configMap: {name: {{ include "fullname" $ }}-{{ $component }}}
    {{- if eq $component "receiver" }}
    - name: data
      emptyDir: {sizeLimit: {{ $settings.storage.size }}}
    {{- end }}
    {{- if $tls }}
    - name: tls
      secret: {secretName: {{ $.Values.tls.secretName }}}
    {{- end }}
    {{- with $.Values.symbolication.claim }}
    - name: symbols
      persistentVolumeClaim: {claimName: {{ . }}, readOnly: true}
    {{- end }}
    {{- with $.Values.volumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with $.Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $.Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
