# Writes the trace of a failure as OpenTelemetry's API for Elixir does (Exception.format_stacktrace), and as Elixir prints it.
defmodule Shop.CheckoutError do
  defexception message: "order failed"
end

defmodule Shop.Cart do
  def reserve(sku) when is_binary(sku), do: raise(KeyError, key: sku, term: %{})

  def checkout(skus) do
    Enum.map(skus, fn sku -> reserve(sku) end)
    :ok
  end

  def total(items), do: Enum.reduce(items, 0, &(&1 + &2))
  defp unused!(_x), do: :ok
  def bang, do: unused!(1)
end

cases = %{
  "error" => fn -> Shop.Cart.checkout(["a"]); :ok end,
  "clause" => fn -> Shop.Cart.reserve(:atom); :ok end,
  "undefined" => fn -> apply(Shop.Cart, :missing, [1, "two\nlines"]); :ok end,
  "arithmetic" => fn -> Shop.Cart.total([1, :two]); :ok end,
  "erlang" => fn -> :lists.nth(5, [1]); :ok end,
  "badarg" => fn -> :erlang.binary_to_integer("x"); :ok end,
}

defmodule Write do
  def frames(stack) do
    for {m, f, a, where} <- Enum.reverse(stack), into: "" do
      arity = if is_list(a), do: length(a), else: a
      "  #{inspect(m)} #{f}/#{arity} #{where[:file]}:#{where[:line]}\n"
    end
  end
end

for {name, fails} <- cases do
  try do
    fails.()
  rescue
    e ->
      File.write!("#{name}.txt", Exception.format_stacktrace(__STACKTRACE__))
      File.write!("#{name}_full.txt", Exception.format(:error, e, __STACKTRACE__))
      File.write!("#{name}.frames", Write.frames(__STACKTRACE__))
  end
end
