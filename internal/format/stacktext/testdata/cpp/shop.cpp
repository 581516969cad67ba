// Prints its stack as C++ programs do: Boost.Stacktrace (the format of std::stacktrace) and backtrace_symbols.
#include <execinfo.h>
#include <iostream>
#include <map>
#include <boost/stacktrace.hpp>
#include <string>
#include <cstring>
#include <fstream>

namespace shop {
template <class T> struct Cart {
    T reserve(const std::string& sku, int count) {
        std::ofstream("boost.txt") << boost::stacktrace::stacktrace();
        void* addresses[32];
        int n = backtrace(addresses, 32);
        char** symbols = backtrace_symbols(addresses, n);
        std::ofstream out("backtrace_symbols.txt");
        for (int i = 0; i < n; i++) out << symbols[i] << "\n";
        return T();
    }
};
void checkout(std::map<std::string, int> order) {
    auto each = [](auto& entry) { Cart<int>().reserve(entry.first, entry.second); };
    for (auto& entry : order) each(entry);
}
}
int main() { shop::checkout({{"SKU-1", 1}}); }
