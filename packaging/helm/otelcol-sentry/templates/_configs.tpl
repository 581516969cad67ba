{{- /* The configuration of a collector: (list $ "linking"). docs/scaling.md and examples/kafka explain the settings for Kafka. */ -}}
{{- define "config" -}}
{{- $ := index . 0 -}}
{{- if eq (index . 1) "receiver" }}{{ include "config-receiver" $ }}{{ else }}{{ include "config-linking" $ }}{{ end }}
{{- end }}

{{- define "config-sentry" -}}
sentry:
  endpoint: 0.0.0.0:4319
  {{- with .Values.projects }}
  projects:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}

{{- define "config-common" -}}
extensions:
  health_check:
    endpoint: 0.0.0.0:13133
  file_storage:
    directory: /var/lib/otelcol-sentry
{{- end }}

{{- define "config-service" -}}
extensions: [health_check, file_storage]
telemetry:
  metrics:
    readers:
      - pull:
          exporter:
            prometheus:
              host: 0.0.0.0
              port: 8888
              without_scope_info: true
              without_type_suffix: true
              without_units: true
{{- end }}

{{- define "config-limiter" -}}
memory_limiter:
  check_interval: 1s
  limit_percentage: 70
  spike_limit_percentage: 15
{{- end }}

{{- /* The exporters of a signal: (list $ "traces") */ -}}
{{- define "exporters-of" -}}
{{- $signal := index . 1 -}}
{{- $names := list -}}
{{- range $name, $exporter := (index . 0).Values.exporters }}{{ if has $signal $exporter.signals }}{{ $names = append $names $name }}{{ end }}{{ end -}}
{{- join ", " $names -}}
{{- end }}

{{- define "config-exporters" -}}
{{- range $name, $exporter := .Values.exporters }}
{{ $name }}:
  {{- toYaml $exporter.config | nindent 2 }}
{{- end }}
{{- end }}

{{- define "config-receiver" -}}
receivers:
  {{- include "config-sentry" . | nindent 2 }}

processors:
  {{- include "config-limiter" . | nindent 2 }}
  profile_transform:
    link:
      enabled: false # the linking collectors do this
    transforms:
      - preset: kafka

exporters:
  kafka:
    brokers: {{ toJson .Values.kafka.brokers }}
    profiles:
      topic: {{ .Values.kafka.profilesTopic }}
      message_key_from_metadata_key: sentry.link_key
    traces:
      topic: {{ .Values.kafka.spansTopic }}
      message_key_from_metadata_key: sentry.link_key
    include_metadata_keys: [sentry.project_id, sentry.public_key]
    producer:
      max_message_bytes: 1000000
      compression: zstd
      required_acks: -1
      allow_auto_topic_creation: false
    sending_queue:
      storage: file_storage
    retry_on_failure:
      max_elapsed_time: 0
  {{- include "config-exporters" . | trim | nindent 2 }}

{{ include "config-common" . }}

service:
  {{- include "config-service" . | nindent 2 }}
  pipelines:
    profiles:
      receivers: [sentry]
      processors: [memory_limiter, profile_transform]
      exporters: [kafka]
    traces:
      receivers: [sentry]
      processors: [memory_limiter]
      exporters: [kafka]
    {{- range $signal := list "logs" "metrics" }}
    {{- with include "exporters-of" (list $ $signal) }}
    {{ $signal }}: # need no linking
      receivers: [sentry]
      processors: [memory_limiter]
      exporters: [{{ . }}]
    {{- end }}
    {{- end }}
{{- end }}

{{- define "config-linking" -}}
{{- $kafka := eq .Values.mode "kafka" -}}
receivers:
  {{- if $kafka }}
  {{- range $signal, $topic := dict "profiles" .Values.kafka.profilesTopic "traces" .Values.kafka.spansTopic }}
  kafka/{{ $signal }}:
    brokers: {{ toJson $.Values.kafka.brokers }}
    {{ $signal }}:
      topics: [{{ $topic }}]
    group_id: linking-{{ $signal }}
    group_instance_id: ${env:INSTANCE} # the pod's name: unique, and the same after a restart
    group_rebalance_strategies: [range]
    session_timeout: 10s
    initial_offset: earliest
    message_marking:
      after: true
    error_backoff:
      enabled: true
  {{- end }}
  {{- else }}
  {{- include "config-sentry" . | nindent 2 }}
  {{- end }}

processors:
  {{- include "config-limiter" . | nindent 2 }}
  profile_transform:
    storage: file_storage # held profiles survive a crash

exporters:
  {{- include "config-exporters" . | trim | nindent 2 }}

{{ include "config-common" . }}

service:
  {{- include "config-service" . | nindent 2 }}
  pipelines:
    {{- range $signal := list "profiles" "traces" }}
    {{ $signal }}:
      receivers: [{{ if $kafka }}kafka/{{ $signal }}{{ else }}sentry{{ end }}]
      processors: [memory_limiter, profile_transform]
      exporters: [{{ include "exporters-of" (list $ $signal) | required (printf "exporters: one must list the signal %s" $signal) }}]
    {{- end }}
    {{- if not $kafka }}
    {{- range $signal := list "logs" "metrics" }}
    {{- with include "exporters-of" (list $ $signal) }}
    {{ $signal }}:
      receivers: [sentry]
      processors: [memory_limiter]
      exporters: [{{ . }}]
    {{- end }}
    {{- end }}
    {{- end }}
{{- end }}

{{- /* The configuration of the balancer. */ -}}
{{- define "haproxy-config" -}}
{{- $name := include "fullname" . -}}
global
  log stdout format raw local0 notice

resolvers cluster
  parse-resolv-conf
  hold obsolete 10s

defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  timeout check 2s

frontend sentry
  bind :4319
  monitor-uri /balancer/health
  default_backend collectors

# The second part of /api/<project>/envelope/ is in every request of a process.
backend collectors
  balance hash path,field(3,/)
  hash-type consistent
  option httpchk GET /
  option forwardfor
  {{- range $i := until (int .Values.linking.replicas) }}
  server linking-{{ $i }} {{ $name }}-linking-{{ $i }}.{{ $name }}-linking.{{ $.Release.Namespace }}.svc.{{ $.Values.balancer.clusterDomain }}:4319 check port 13133 resolvers cluster init-addr none
  {{- end }}
{{- end }}
