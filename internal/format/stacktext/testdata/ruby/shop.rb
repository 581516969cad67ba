# Writes the trace of a failure as OpenTelemetry's SDK does, and what Ruby itself says of its frames.
require 'json'

class CheckoutError < StandardError; end

module Stock
  def self.reserve(sku)
    raise KeyError, "no stock of #{sku}"
  end
end

class Cart
  def checkout
    [1].each { |_| Stock.reserve('SKU-1') }
  rescue KeyError
    raise CheckoutError, "order failed"
  end
end

CASES = {
  'chained' => -> { Cart.new.checkout },
  'multiline' => -> { raise ArgumentError, "two\nlines: and\n\tfrom x.rb:1:in `y'\nof it" },
  'library' => -> { JSON.parse('{') },
  'evaluated' => -> { eval("Stock.reserve('x')", binding, 'template.erb', 7) },
  'empty' => -> { raise RuntimeError, '' },
  'native' => -> { Integer('x') },
  'defined' => -> { Object.new.instance_eval { define_singleton_method(:sold) { Stock.reserve('y') }; sold } }
}

def frames(error)
  lines = []
  while error
    lines << error.class.name
    error.backtrace_locations.reverse_each { |l| lines << "  #{l.label} #{l.path}:#{l.lineno}" }
    error = error.cause
  end
  lines.join("\n") + "\n"
end

CASES.each do |name, fails|
  begin
    fails.call
  rescue => e
    File.write("#{name}.txt", e.full_message(highlight: false, order: :top))
    File.write("reversed.txt", e.full_message(highlight: false, order: :bottom)) if name == 'chained'
    File.write("#{name}.frames", frames(e))
  end
end
