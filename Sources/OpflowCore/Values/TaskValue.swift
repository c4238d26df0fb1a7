/// A value that a task set for its dependents.
package struct TaskValue: Equatable, Sendable {
  package var name: String
  /// XXH3 of the value.
  package var hash: UInt64
  /// Set only if an `if` may read the value and it is short enough.
  package var text: [UInt8]?

  package init(name: String, hash: UInt64, text: [UInt8]? = nil) {
    self.name = name
    self.hash = hash
    self.text = text
  }

  /// - Parameter keepsText: whether an `if` may read the value.
  package init(name: String, text: [UInt8], keepsText: Bool) {
    self.name = name
    hash = Hash.xxh3(text)
    self.text = keepsText && text.count <= ValueRules.longestConditionBytes ? text : nil
  }
}

/// The values of a finished task.
package struct ValueSet: Equatable, Sendable {
  /// The attempt that wrote them; `ValueFolder.ofRecord` if restored from another run's record.
  package var attempt: Int32
  package var values: [TaskValue]

  package init(attempt: Int32, _ values: [TaskValue]) {
    self.attempt = attempt
    self.values = values
  }
}

/// Limits and syntax of values.
package enum ValueRules {
  /// Per task.
  package static let mostValues = 100
  package static let longestBytes = 65_536
  /// Limits the length of messages and journal lines.
  package static let longestNameBytes = 128
  /// For values that an `if` reads, since the coordinator keeps these in memory.
  package static let longestConditionBytes = 400

  package static func isName(_ name: some Collection<UInt8>) -> Bool {
    !name.isEmpty && name.count <= longestNameBytes && name.allSatisfy(isNamePart)
  }

  private static func isNamePart(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"):
      true
    default: false
    }
  }

  /// Why the bytes of a file are not a valid value; nil if they are.
  package static func fault(in bytes: [UInt8]) -> String? {
    if bytes.contains(0) { return "it holds a NUL byte" }
    return String(validating: bytes, as: UTF8.self) == nil ? "it is not UTF-8" : nil
  }

  /// The value in a file: without one trailing newline (LF or CRLF), as with `$(...)` in a shell.
  package static func value(ofFile bytes: [UInt8]) -> [UInt8] {
    guard bytes.last == Field.lineFeed else { return bytes }
    let line = bytes.dropLast()
    return Array(line.last == Field.carriageReturn ? line.dropLast() : line)
  }
}

/// Folders of values in the run's `values` folder.
package enum ValueFolder {
  package static let name = "values"
  /// Tasks share this folder of the run if no task reads their values.
  package static let unreadName = "unread"
  /// Replaces the attempt of an up-to-date task, whose values were restored from a record.
  package static let ofRecord: Int32 = 0

  /// The folder of a task's attempt.
  package static func name(of task: UnsafeRawBufferPointer, attempt: Int32) -> String {
    "\(LogName.stem(of: task)).\(attempt)"
  }

  /// Whether a name is `STEM.ATTEMPT`, or `STEM.ATTEMPT~PID` as older versions named lost attempts.
  package static func isName(_ name: some BidirectionalCollection<UInt8>) -> Bool {
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex else {
      return false
    }
    let numbers = name[name.index(after: dot)...].split(
      separator: UInt8(ascii: "~"), omittingEmptySubsequences: false)
    return numbers.count <= 2
      && numbers.allSatisfy { number in
        !number.isEmpty
          && number.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      }
  }

  /// The folder in which an attempt finds the values of its dependencies.
  package static func needsName(of task: UnsafeRawBufferPointer, attempt: Int32) -> String {
    name(of: task, attempt: attempt) + ".needs"
  }
}

/// The values of a task in a journal line: `NAME:HASH,NAME:HASH`.
enum ValueList {
  static func text(_ values: [TaskValue]) -> String {
    values.map { "\($0.name):\(Hexadecimal.text($0.hash))" }.joined(separator: ",")
  }

  /// Skips invalid entries.
  static func values(_ text: UnsafeRawBufferPointer) -> [TaskValue] {
    text.split(separator: UInt8(ascii: ",")).compactMap { part in
      guard let colon = part.firstIndex(of: UInt8(ascii: ":")), ValueRules.isName(part[..<colon]),
        part.count - (colon - part.startIndex) == 17,
        let hash = UInt64(String(decoding: part[(colon + 1)...], as: UTF8.self), radix: 16)
      else { return nil }
      return TaskValue(name: String(decoding: part[..<colon], as: UTF8.self), hash: hash)
    }
  }
}
