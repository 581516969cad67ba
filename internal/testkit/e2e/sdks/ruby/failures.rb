# SPDX-License-Identifier: Apache-2.0
#
# Fails in several ways under one of two SDKs: failures.rb otel|sentry spans|logs|dup
#
# The methods that fail are the same, so both SDKs see the same stacks. Each failure has a message of its own.
require "json"
require "logger"

SDK, MODE = ARGV

class PaymentError < StandardError; end

module Shop
  class OrderError < StandardError; end

  class Cart
    def self.checkout
      [1].each { |item| new.add(item) }
    end

    def add(_item)
      pay
    end
  end
end

def pay
  raise PaymentError, "card declined: #{$current}"
end

def chained
  pay
rescue PaymentError
  raise Shop::OrderError, "order 17"
end

def nested
  within("inner") { within("innermost") { pay } }
end

def asynchronous
  thread = Thread.new { pay }
  thread.report_on_exception = false
  thread.value
end

def reraised
  pay
rescue PaymentError => e
  raise e
end

def library
  JSON.parse("{")
end

def core
  Integer("seventeen")
end

def recursive(n = 20)
  n > 0 ? recursive(n - 1) : pay
end

def methods_of_classes
  Shop::Cart.checkout
end

# within runs a block in a span, which records its exception. Sentry's SDK has no part in it.
def within(name)
  outer = $context
  if $tracer
    span = $tracer.start_span(name, with_parent: outer)
    $context = OpenTelemetry::Trace.context_with_span(span, parent_context: outer)
  end
  yield
rescue StandardError => e
  if span
    span.record_exception(e) unless MODE == "logs"
    span.status = OpenTelemetry::Trace::Status.error(e.message)
  end
  raise
ensure
  $context = outer
  span&.finish
end

def report(exception)
  return Sentry.capture_exception(exception) if SDK == "sentry"
  return if MODE == "spans"

  $logger.on_emit(
    timestamp: Time.now, severity_number: 17, severity_text: "ERROR", body: "failed", context: $context,
    attributes: {
      "exception.type" => exception.class.to_s, "exception.message" => exception.message,
      "exception.stacktrace" => exception.full_message(highlight: false, order: :top)
    }
  )
end

def observe(name)
  $current = name
  within("request") do
    within(name) { send(name) }
  rescue StandardError => e
    report(e)
  end
end

if SDK == "sentry"
  require "sentry-ruby"
  Sentry.init do |config|
    config.dsn = ENV["SENTRY_DSN"]
    config.app_dirs_pattern = /failures/ # the default expects the folders of Rails
    config.background_worker_threads = 0 # send at once
    config.logger = Logger.new($stderr, level: :warn)
  end
else
  require "opentelemetry/sdk"
  require "opentelemetry/exporter/otlp"
  require "opentelemetry-logs-sdk"
  require "opentelemetry/exporter/otlp_logs"

  traces = OpenTelemetry::SDK::Trace::TracerProvider.new
  traces.add_span_processor(
    OpenTelemetry::SDK::Trace::Export::BatchSpanProcessor.new(
      OpenTelemetry::Exporter::OTLP::Exporter.new(endpoint: "#{ENV["OTLP"]}/v1/traces")
    )
  )
  logs = OpenTelemetry::SDK::Logs::LoggerProvider.new
  logs.add_log_record_processor(
    OpenTelemetry::SDK::Logs::Export::BatchLogRecordProcessor.new(
      OpenTelemetry::Exporter::OTLP::Logs::LogsExporter.new(endpoint: "#{ENV["OTLP"]}/v1/logs")
    )
  )
  $tracer = traces.tracer("failures")
  $logger = logs.logger(name: "failures")
  $context = OpenTelemetry::Context::ROOT
end

CASES = %w[pay chained nested asynchronous reraised library core recursive methods_of_classes]
CASES.each { |name| observe(name) }
[traces, logs].compact.each(&:shutdown)
puts CASES.length
