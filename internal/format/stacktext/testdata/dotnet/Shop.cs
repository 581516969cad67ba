// Writes the trace of a failure as OpenTelemetry's SDK does (Exception.ToString), and what .NET itself says of its frames.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Threading.Tasks;

namespace Example.Shop
{
    public class CheckoutException : Exception
    {
        public CheckoutException(string message, Exception inner) : base(message, inner) { }
    }

    public class Cart<T>
    {
        public T Reserve(string sku, int count = 1)
        {
            throw new InvalidOperationException("no stock of " + sku);
        }

        public void Checkout()
        {
            try { Reserve("SKU-1"); }
            catch (InvalidOperationException e) { throw new CheckoutException("order failed", e); }
        }

        public int Total { get { throw new NotSupportedException(); } }

        public T this[int index] { get { return Reserve("indexed"); } }

        public static Cart<T> operator +(Cart<T> a, Cart<T> b) { a.Checkout(); return a; }

        public class Nested
        {
            public Nested(ref T value, params Dictionary<string, T>[] more) { throw new ArgumentException("two\nlines\n   at No.Frame(Of x)\nend", "value"); }
        }
    }

    public static class Program
    {
        static async Task Later(Cart<int> cart)
        {
            await Task.Delay(1);
            cart.Checkout();
        }

        static async Task<int> Async()
        {
            await Later(new Cart<int>());
            return 1;
        }

        static readonly Dictionary<string, Action> Cases = new Dictionary<string, Action>
        {
            { "chained", () => new Cart<string>().Checkout() },
            { "async", () => Async().GetAwaiter().GetResult() },
            { "aggregate", () => Task.WaitAll(Task.Run(() => { throw new Exception("one"); }), Task.Run((Action)(() => new Cart<int>().Checkout()))) },
            { "getter", () => Console.Write(new Cart<string>().Total) },
            { "indexer", () => Console.Write(new Cart<string>()[0]) },
            { "operator", () => Console.Write(new Cart<string>() + null) },
            { "constructor", () => { var value = 1; new Cart<int>.Nested(ref value); } },
            { "linq", () => new[] { "a" }.Select(text => int.Parse(text)).ToList() },
            { "reflection", () => typeof(Cart<string>).GetMethod("Checkout").Invoke(new Cart<string>(), null) },
            { "iterator", () => { foreach (var x in Iterate<int>(1)) Console.Write(x); } },
        };

        static IEnumerable<T> Iterate<T>(T value)
        {
            yield return new Cart<T>().Reserve("iterated");
        }

        public static void Main()
        {
            foreach (var entry in Cases)
            {
                try { entry.Value(); }
                catch (Exception e)
                {
                    File.WriteAllText(entry.Key + ".txt", e.ToString());
                    var frames = new StackTrace(e, true).GetFrames().Reverse();
                    File.WriteAllText(entry.Key + ".frames", string.Concat(frames.Select(f => "  " + Name(f) + File_(f) + "\n")));
                }
            }
        }

        static string Name(StackFrame f)
        {
            var method = f.GetMethod();
            return method.DeclaringType + "." + method.Name;
        }

        static string File_(StackFrame f)
        {
            return f.GetFileName() == null ? "" : " " + f.GetFileName() + ":" + f.GetFileLineNumber();
        }
    }
}
