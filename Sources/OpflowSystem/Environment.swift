internal import CLinux
internal import Glibc

/// The words that this program was started with.
package enum Arguments {
  /// Those after the program's own name. What is no UTF-8 in them becomes U+FFFD.
  package static var words: [String] {
    var words: [String] = []
    // SAFETY: an array of strings that end with a zero, ended by a null pointer, there for ever.
    var next = clinux_arguments()
    while let word = next?.pointee {
      words.append(String(cString: word))
      next = next.map { $0 + 1 }
    }
    return Array(words.dropFirst())
  }

  /// Whether every word of `words` is what this program was given, byte for byte.
  package static var areUTF8: Bool {
    // SAFETY: as above.
    var next = clinux_arguments()
    while let word = next?.pointee {
      if String(validatingCString: word) == nil { return false }
      next = next.map { $0 + 1 }
    }
    return true
  }
}

/// The environment that this process was started with (environ(7)).
package enum Environment {
  /// nil when it is not set.
  package static func value(_ name: String) -> String? {
    guard let value = getenv(name) else { return nil }
    // SAFETY: a string that ends with a zero; this program changes its environment before it reads.
    return String(cString: value)
  }

  /// `NAME=VALUE` each, as bytes: neither part need be UTF-8.
  package static func entries() -> [[UInt8]] {
    var entries: [[UInt8]] = []
    forEach { entries.append(Array($0)) }
    return entries
  }

  /// Calls `body` with each `NAME=VALUE`.
  package static func forEach(_ body: (UnsafeRawBufferPointer) -> Void) {
    guard var entry = clinux_environment() else { return }
    // SAFETY: environ is an array of strings that end with a zero; a null pointer ends the array.
    while let text = entry.pointee {
      body(UnsafeRawBufferPointer(start: text, count: strlen(text)))
      entry += 1
    }
  }

  /// Takes out what was put there before main for the runtime alone. Before anybody reads it.
  package static func restore() { clinux_forget_runtime_settings() }

  /// The same as bytes.
  package static func bytes(_ name: String) -> [UInt8]? {
    guard let value = getenv(name) else { return nil }
    // SAFETY: as above.
    return Array(UnsafeRawBufferPointer(start: value, count: strlen(value)))
  }

  /// Takes variables out of it, and overwrites where they stood: the kernel shows the environment that a
  /// process was started with to all processes of its user for as long as it lives (proc(5), environ).
  /// Only while no other thread reads there.
  package static func withdraw(_ names: [String]) {
    for name in names {
      if let value = bytes(name) { withdrawn[name] = value }
      clinux_wipe_variable(name)
    }
  }

  /// Those of the variables are there again that were taken out. Only while no other thread reads there.
  package static func putBack(_ names: [String]) {
    for name in names where bytes(name) == nil {
      guard let value = withdrawn[name] else { continue }
      // SAFETY: setenv(3) copies both.
      setenv(name, value.map { CChar(bitPattern: $0) } + [0], 1)
    }
  }

  // SAFETY: like the environment itself, it is used only while no other thread does.
  nonisolated(unsafe) private static var withdrawn: [String: [UInt8]] = [:]

  /// For this process and what it starts with its own environment. Only while it has one thread.
  package static func set(_ name: String, _ value: String) throws(Errno) {
    try call { setenv(name, value, 1) }
  }
}
