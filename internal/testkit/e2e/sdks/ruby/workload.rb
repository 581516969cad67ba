# What a small shop does, with Sentry's Ruby SDK. SENTRY_DSN says where to. Debian's version has neither profiles nor logs.
#
# Prints as JSON what the SDK handed to its transport and what it says it has dropped.
require "json"
require "sentry-ruby"

ROUNDS = 4
SENT = {version: Sentry::VERSION, spans: [], profiles: [], errors: [], logs: [], dropped: Hash.new(0), busy: []}

# The SDK's own transport; writes down what it is given.
class Reporting < Sentry::HTTPTransport
  def send_envelope(envelope)
    super
    envelope.items.each { |item| note(item.type, JSON.parse(JSON.generate(item.payload))) }
  end

  def record_lost_event(reason, type)
    SENT[:dropped]["#{type} #{reason}"] += 1
    super
  end

  private

  def note(type, payload)
    case type
    when "transaction"
      [payload["contexts"]["trace"], *payload["spans"]].each { |span| SENT[:spans] << "#{span["trace_id"]}/#{span["span_id"]}" }
    when "event"
      SENT[:errors] << payload["event_id"]
    end
  end
end

Sentry.init do |config|
  config.dsn = ENV["SENTRY_DSN"]
  config.release = "shop@1.0.0"
  config.traces_sample_rate = 1.0
  config.background_worker_threads = 0 # send at once
  config.transport.transport_class = Reporting
end

# Sends three errors, one after the other: the effect of a response on the SDK shows in the next errors.
if ARGV[1] == "answers"
  3.times { Sentry.capture_message("coupon", level: :error) }
  puts JSON.generate(SENT)
  exit
end

def spin(seconds)
  finish = Process.clock_gettime(Process::CLOCK_MONOTONIC) + seconds
  x = 1.0
  x = Math.sqrt(x + 1.7) while Process.clock_gettime(Process::CLOCK_MONOTONIC) < finish
end

def run(parent, name, seconds)
  span = parent.start_child(op: "task", description: name)
  spin(seconds)
  span.finish
end

def transaction(name)
  root = Sentry.start_transaction(name: name, op: "task")
  Sentry.get_current_scope.set_span(root)
  ROUNDS.times { yield root }
  root.finish
end

reports = Thread.new do
  Sentry.clone_hub_to_current_thread
  transaction("report") do |root|
    run(root, "render", 0.06)
    run(root, "compress", 0.04)
  end
end
transaction("checkout") do |root|
  order = root.start_child(op: "task", description: "order")
  run(order, "price", 0.07)
  run(order, "stock", 0.03)
  order.finish
end
reports.join
begin
  {}.fetch("coupon")
rescue KeyError => error
  Sentry.capture_exception(error)
end
puts JSON.generate(SENT)
