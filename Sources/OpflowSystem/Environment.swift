internal import CLinux
internal import Glibc

package enum Arguments {
  /// Without the program name. Invalid UTF-8 becomes U+FFFD.
  package static var words: [String] {
    var words: [String] = []
    // SAFETY: a null-terminated array of C strings that lives as long as the process.
    var next = clinux_arguments()
    while let word = next?.pointee {
      words.append(String(cString: word))
      next = next.map { $0 + 1 }
    }
    return Array(words.dropFirst())
  }

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

package enum Environment {
  package static func value(_ name: String) -> String? {
    guard let value = getenv(name) else { return nil }
    // SAFETY: a C string; this program changes its environment only before it reads it.
    return String(cString: value)
  }

  /// Entries `NAME=VALUE`, not always UTF-8.
  package static func entries() -> [[UInt8]] {
    var entries: [[UInt8]] = []
    forEach { entries.append(Array($0)) }
    return entries
  }

  package static func forEach(_ body: (UnsafeRawBufferPointer) -> Void) {
    guard var entry = clinux_environment() else { return }
    // SAFETY: environ is a null-terminated array of C strings.
    while let text = entry.pointee {
      body(UnsafeRawBufferPointer(start: text, count: strlen(text)))
      entry += 1
    }
  }

  /// Removes variables set before main for the Swift runtime. Call it before reading the
  /// environment.
  package static func restore() { clinux_forget_runtime_settings() }

  package static func bytes(_ name: String) -> [UInt8]? {
    guard let value = getenv(name) else { return nil }
    // SAFETY: as above.
    return Array(UnsafeRawBufferPointer(start: value, count: strlen(value)))
  }

  /// Removes variables and overwrites their memory, since the user's other processes can read the
  /// initial environment in /proc/PID/environ. Only while no other thread uses the environment.
  package static func remove(_ names: [String]) {
    for name in names {
      if let value = bytes(name) { removed[name] = value }
      clinux_wipe_variable(name)
    }
  }

  /// Restores variables that `remove` took out, under the same condition.
  package static func putBack(_ names: [String]) {
    for name in names where bytes(name) == nil {
      guard let value = removed[name] else { continue }
      // SAFETY: setenv(3) copies both.
      setenv(name, value.map { CChar(bitPattern: $0) } + [0], 1)
    }
  }

  // SAFETY: used only while no other thread uses the environment.
  nonisolated(unsafe) private static var removed: [String: [UInt8]] = [:]

  /// Programs inherit the variable. Only while the process has one thread.
  package static func set(_ name: String, _ value: String) throws(Errno) {
    try call { setenv(name, value, 1) }
  }
}
