{{- /*
The configuration of a collector: (list $ "linking"). docs/scaling.md and examples/kafka explain the settings for Kafka. The user's
settings override those of the chart; extensions are active if they have settings.
*/ -}}
{{- define "config" -}}
{{- $ := index . 0 -}}
{{- $config := include (printf "config-%s" (index . 1)) $ | fromYaml -}}
{{- with $config.Error }}{{ fail . }}{{ end -}}
{{- $config = mergeOverwrite $config (deepCopy (index $.Values (index . 1) "config")) -}}
{{- $_ := set $config.service "extensions" (keys $config.extensions | sortAlpha) -}}
{{- toYaml $config -}}
{{- end }}

{{- /* The limits are those of the Debian package, for the same memory. */ -}}
{{- define "config-sentry" -}}
{{- range $key, $instead := dict "endpoint" "ingress.hosts" "projects" "projects" "tls" "tls.secretName" -}}
{{- if hasKey $.Values.sentry.config $key }}{{ fail (printf "sentry.config.%s: is set by the chart. Use %s instead" $key $instead) }}{{ end -}}
{{- end -}}
{{- $config := dict "endpoint" "0.0.0.0:4319" "max_request_body_size" 67108864 "max_bytes_in_flight" 218103808 -}}
{{- with .Values.projects }}{{ $_ := set $config "projects" . }}{{ end -}}
{{- if and .Values.tls.secretName (eq .Values.mode "kafka") }}{{ $_ := set $config "tls" (include "config-tls" . | fromYaml) }}{{ end -}}
{{- $config = mergeOverwrite $config (deepCopy .Values.sentry.config) -}}
{{- if .Values.tee.config }}{{ $_ := set $config "middlewares" (prepend (default list $config.middlewares) (dict "id" "sentry_tee")) }}{{ end -}}
{{- toYaml (dict "sentry" $config) -}}
{{- end }}

{{- define "config-tls" -}}
cert_file: /etc/otelcol-sentry-tls/tls.crt
key_file: /etc/otelcol-sentry-tls/tls.key
reload_interval: 1h
{{- end }}

{{- /* For the settings, see otlplimitextension/README.md. */ -}}
{{- define "config-otlp" -}}
otlp:
  protocols:
    grpc:
      endpoint: 0.0.0.0:4317
      max_recv_msg_size_mib: 4
      max_concurrent_streams: 16
      middlewares: [{id: otlp_limit}]
      {{- if .Values.tls.secretName }}
      tls:
        {{- include "config-tls" . | nindent 8 }}
      {{- end }}
    http:
      endpoint: 0.0.0.0:4318
      max_request_body_size: 4194304
      compression_algorithms: ["", gzip]
      read_timeout: 30s
      middlewares: [{id: otlp_limit}]
      {{- if .Values.tls.secretName }}
      tls:
        {{- include "config-tls" . | nindent 8 }}
      {{- end }}
{{- end }}

{{- /* Processors of all collectors. */ -}}
{{- define "config-processors" -}}
memory_limiter:
  check_interval: 1s
  limit_percentage: 70
  spike_limit_percentage: 15
{{- if .Values.symbolication.claim }}
symbolicate:
  {{- $store := dict "directory" "/var/lib/otelcol-sentry/symbols" "index_directory" "/var/lib/otelcol-sentry/symbol-indexes" }}
  {{- toYaml (mergeOverwrite (dict "store" $store) (deepCopy .Values.symbolication.config)) | nindent 2 }}
{{- end }}
{{- end }}

{{- /* Extensions of the collectors that receive: (list $ "receiver"), or of those that link. */ -}}
{{- define "config-extensions" -}}
{{- $ := index . 0 -}}
health_check:
  endpoint: 0.0.0.0:13133
file_storage:
  directory: /var/lib/otelcol-sentry
{{- if and $.Values.tee.config (eq (index . 1) (include "receiving" $)) }}
sentry_tee:
  {{- $spool := dict "max_bytes" (include "queue-bytes" . | int64) }}
  {{- toYaml (mergeOverwrite (dict "storage" "file_storage" "spool" $spool) (deepCopy $.Values.tee.config)) | nindent 2 }}
{{- end }}
{{- if and $.Values.otlp.enabled (eq (index . 1) "linking") }}
otlp_limit:
  max_bytes_in_flight: 67108864
{{- end }}
{{- end }}

{{- /* The component that receives from SDKs. */ -}}
{{- define "receiving" -}}
{{- if eq .Values.mode "kafka" }}receiver{{ else }}linking{{ end }}
{{- end }}

{{- define "config-telemetry" -}}
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

{{- /* The signals that a component sends to the user's exporters: (list $ "linking"), as JSON. */ -}}
{{- define "signals" -}}
{{- if eq (index . 0).Values.mode "hash" }}["profiles", "traces", "logs", "metrics"]
{{- else if eq (index . 1) "linking" }}["profiles", "traces"]
{{- else }}["logs", "metrics"]{{ end -}}
{{- end }}

{{- /* The exporters of a signal: (list $ "traces"), as JSON. */ -}}
{{- define "exporters-of" -}}
{{- $signal := index . 1 -}}
{{- $names := list -}}
{{- range $name, $exporter := (index . 0).Values.exporters -}}
{{- if has $signal (default (list $signal) $exporter.signals) }}{{ $names = append $names $name }}{{ end -}}
{{- end -}}
{{- if not (index . 0).Values.exporters }}
{{- fail "exporters: there is none. Add one, e.g. {otlp_http: {config: {endpoint: https://otlp.example.com}}}" }}
{{- else if not $names }}{{ fail (printf "exporters: none receives %s. To drop them, add: {nop: {signals: [%s]}}" $signal $signal) }}{{ end -}}
{{- toJson $names -}}
{{- end }}

{{- /* The user's exporters of a component: (list $ "linking"). */ -}}
{{- define "config-exporters" -}}
{{- $ := index . 0 -}}
{{- $component := . -}}
{{- $used := dict -}}
{{- range $signal := include "signals" . | fromJsonArray -}}
{{- range $name := include "exporters-of" (list $ $signal) | fromJsonArray -}}
{{- $_ := set $used $name (default dict (index $.Values.exporters $name).config) -}}
{{- end -}}
{{- end -}}
{{- range $name, $config := $used }}
{{ $name }}:
  {{- $own := include "exporter-defaults" (list $ (index $component 1) (regexFind "^[^/]+" $name)) | fromYaml }}
  {{- toYaml (mergeOverwrite $own (deepCopy $config)) | nindent 2 }}
{{- end }}
{{- end }}

{{- /*
What the chart sets for an exporter: (list $ "linking" "otlp_http"). Data that a client was told 200 for waits on disk, as long as there
is room. docs/operations.md explains the other settings.
*/ -}}
{{- define "exporter-defaults" -}}
{{- if has (index . 2) (list "otlp_http" "otlphttp") }}
keepalive:
  max_idle_conns_per_host: 10
{{- end }}
{{- if has (index . 2) (list "otlp_http" "otlphttp" "otlp_grpc" "otlp") }}
sending_queue:
  storage: file_storage
  sizer: bytes
  queue_size: {{ include "queue-bytes" . }}
  batch:
    sizer: bytes
    min_size: 65536
retry_on_failure:
  max_elapsed_time: 0
{{- else if eq (index . 2) "sentry_envelope" }}
sending_queue:
  storage: file_storage
  queue_size: {{ include "queue-bytes" . }}
{{- end }}
{{- end }}

{{- /*
The size of each queue of a component on its disk: (list $ "linking"). Every signal of an exporter has its own queue, and so has the tee.
Two fifths of the disk remain for held profiles, indexes of symbols, and the storage's own overhead.
*/ -}}
{{- define "queue-bytes" -}}
{{- $ := index . 0 -}}
{{- $component := index . 1 -}}
{{- $queues := 0 -}}
{{- range $signal := include "signals" . | fromJsonArray -}}
{{- $queues = add $queues (include "exporters-of" (list $ $signal) | fromJsonArray | len) -}}
{{- end -}}
{{- if eq $component "receiver" }}{{ $queues = add $queues 2 }}{{ end -}}
{{- if and $.Values.tee.config (eq $component (include "receiving" $)) }}{{ $queues = add $queues 1 }}{{ end -}}
{{- $size := (index $.Values $component).storage.size -}}
{{- $unit := index (dict "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776) (regexFind "[MGT]i" $size) -}}
{{- $bytes := div (mul (regexFind "[0-9]+" $size | int64) $unit 3) (mul $queues 5) -}}
{{- if lt $bytes 67108864 -}}
{{- fail (printf "%s.storage.size: %s is too small for %d queues of 64 MiB: set %dMi" $component $size $queues (div (mul $queues 64 5) 3 | add1)) -}}
{{- end -}}
{{- $bytes -}}
{{- end }}

{{- define "config-receiver" -}}
{{- $symbolicate := ternary (list "symbolicate") list (ne .Values.symbolication.claim "") -}}
receivers:
  {{- include "config-sentry" . | nindent 2 }}

processors:
  {{- include "config-processors" . | nindent 2 }}
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
      sizer: bytes
      queue_size: {{ include "queue-bytes" (list . "receiver") }}
    retry_on_failure:
      max_elapsed_time: 0
  {{- include "config-exporters" (list . "receiver") | trim | nindent 2 }}

extensions:
  {{- include "config-extensions" (list . "receiver") | nindent 2 }}

service:
  telemetry:
    {{- include "config-telemetry" . | nindent 4 }}
  pipelines:
    profiles:
      receivers: [sentry]
      processors: [memory_limiter, profile_transform]
      exporters: [kafka]
    traces:
      receivers: [sentry]
      processors: [memory_limiter]
      exporters: [kafka]
    logs: # need no linking
      receivers: [sentry]
      processors: {{ toJson (concat (list "memory_limiter") $symbolicate) }}
      exporters: {{ include "exporters-of" (list . "logs") }}
    metrics:
      receivers: [sentry]
      processors: [memory_limiter]
      exporters: {{ include "exporters-of" (list . "metrics") }}
{{- end }}

{{- define "config-linking" -}}
{{- $kafka := eq .Values.mode "kafka" -}}
{{- $symbolicate := ternary (list "symbolicate") list (ne .Values.symbolication.claim "") -}}
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
  {{- if .Values.otlp.enabled }}
  {{- include "config-otlp" . | nindent 2 }}
  {{- end }}

processors:
  {{- include "config-processors" . | nindent 2 }}
  profile_transform:
    storage: file_storage # held profiles survive a crash

exporters:
  {{- include "config-exporters" (list . "linking") | trim | nindent 2 }}

extensions:
  {{- include "config-extensions" (list . "linking") | nindent 2 }}

service:
  telemetry:
    {{- include "config-telemetry" . | nindent 4 }}
  pipelines:
    {{- range $signal := include "signals" (list . "linking") | fromJsonArray }}
    {{- $receivers := list (ternary (printf "kafka/%s" $signal) "sentry" $kafka) }}
    {{- if $.Values.otlp.enabled }}{{ $receivers = append $receivers "otlp" }}{{ end }}
    {{- $processors := list "memory_limiter" }}
    {{- if ne $signal "metrics" }}{{ $processors = concat $processors $symbolicate }}{{ end }}
    {{- if has $signal (list "profiles" "traces") }}{{ $processors = append $processors "profile_transform" }}{{ end }}
    {{ $signal }}:
      receivers: {{ toJson $receivers }}
      processors: {{ toJson $processors }}
      exporters: {{ include "exporters-of" (list $ $signal) }}
    {{- end }}
{{- end }}

{{- /* The configuration of the balancer. */ -}}
{{- define "haproxy-config" -}}
{{- $name := include "fullname" . -}}
{{- $prefix := trimAll "/" (default "" .Values.sentry.config.path_prefix) -}}
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
  bind :4319{{ if .Values.tls.secretName }} ssl crt /etc/haproxy-tls/tls.crt alpn h2,http/1.1{{ end }}
  monitor-uri /balancer/health
  default_backend collectors

# The second part of /api/<project>/envelope/ is in every request of a process.
backend collectors
  balance hash path,field({{ add 3 (ternary 0 (len (splitList "/" $prefix)) (eq $prefix "")) }},/)
  hash-type consistent
  option httpchk GET /
  option forwardfor
  {{- range $i := until (int .Values.linking.replicas) }}
  server linking-{{ $i }} {{ $name }}-linking-{{ $i }}.{{ $name }}-linking.{{ $.Release.Namespace }}.svc.{{ $.Values.balancer.clusterDomain }}:4319 check port 13133 resolvers cluster init-addr none
  {{- end }}
{{- end }}
