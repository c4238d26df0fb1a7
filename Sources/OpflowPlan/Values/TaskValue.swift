internal import OpflowBase

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

  /// - Parameter keepsText: an `if` may read the value.
  package init(name: String, text: [UInt8], keepsText: Bool) {
    self.name = name
    hash = Hash.xxh3(text)
    self.text = keepsText && text.count <= ValueRules.longestConditionBytes ? text : nil
  }
}

package struct ValueSet: Equatable, Sendable {
  /// That wrote them; `ValueFolder.ofRecord` if restored from another run's record.
  package var attempt: Int32
  package var values: [TaskValue]

  package init(attempt: Int32, _ values: [TaskValue]) {
    self.attempt = attempt
    self.values = values
  }
}

package enum ValueRules {
  /// Per task.
  package static let mostValues = 100
  package static let longestBytes = 65_536
  /// Limits messages and journal lines.
  package static let longestNameBytes = 128
  /// For an `if`: the coordinator keeps these in memory.
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

  /// Why a file is not a valid value.
  package static func fault(in bytes: [UInt8]) -> String? {
    if bytes.contains(0) { return "it holds a NUL byte" }
    return String(validating: bytes, as: UTF8.self) == nil ? "it is not UTF-8" : nil
  }

  /// Without one trailing newline (LF or CRLF), as with `$(...)`.
  package static func value(ofFile bytes: [UInt8]) -> [UInt8] {
    guard bytes.last == Field.lineFeed else { return bytes }
    let line = bytes.dropLast()
    return Array(line.last == Field.carriageReturn ? line.dropLast() : line)
  }
}

/// Folders in the run's `values` folder.
package enum ValueFolder {
  package static let name = "values"
  /// Shared by tasks whose values no task reads.
  package static let unreadName = "unread"
  /// Replaces the attempt if the values were restored from a record.
  package static let ofRecord: Int32 = 0

  package static func name(of task: UnsafeRawBufferPointer, attempt: Int32) -> String {
    "\(LogName.stem(of: task)).\(attempt)"
  }

  /// `STEM.ATTEMPT`, or `STEM.ATTEMPT~PID` as older versions named lost attempts.
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

  /// Where an attempt finds the values of its dependencies.
  package static func needsName(of task: UnsafeRawBufferPointer, attempt: Int32) -> String {
    name(of: task, attempt: attempt) + ".needs"
  }
}

/// Values in a journal line: `NAME:HASH,NAME:HASH`.
package enum ValueList {
  package static func text(_ values: [TaskValue]) -> String {
    values.map { "\($0.name):\(Hexadecimal.text($0.hash))" }.joined(separator: ",")
  }

  package static func values(_ text: UnsafeRawBufferPointer) -> [TaskValue] {
    text.split(separator: UInt8(ascii: ",")).compactMap { part in
      guard let colon = part.firstIndex(of: UInt8(ascii: ":")), ValueRules.isName(part[..<colon]),
        part.count - (colon - part.startIndex) == 17,
        let hash = UInt64(String(decoding: part[(colon + 1)...], as: UTF8.self), radix: 16)
      else { return nil }
      return TaskValue(name: String(decoding: part[..<colon], as: UTF8.self), hash: hash)
    }
  }
}
