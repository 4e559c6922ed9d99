/// What a C library makes and wants back.
#pragma once

#include <memory>

namespace tidemark {

/// Calls the function that frees; its result says nothing that could still be done.
template <auto kFree>
struct Freed {
  template <class T>
  void operator()(T* object) const {
    static_cast<void>(kFree(object));
  }
};

/// Owns an object of a C library: `Held<X509, X509_free>`.
template <class T, auto kFree>
using Held = std::unique_ptr<T, Freed<kFree>>;

}  // namespace tidemark
