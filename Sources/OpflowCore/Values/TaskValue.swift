/// A value that a task left for those that need it: what is known of it where its file is not read.
package struct TaskValue: Equatable, Sendable {
  package var name: String
  /// XXH3 of its text.
  package var hash: UInt64
  /// Where an `if` may read it, and it is short enough for that.
  package var text: [UInt8]?

  package init(name: String, hash: UInt64, text: [UInt8]? = nil) {
    self.name = name
    self.hash = hash
    self.text = text
  }

  /// - Parameter keepsText: an `if` may read it.
  package init(name: String, text: [UInt8], keepsText: Bool) {
    self.name = name
    hash = Hash.xxh3(text)
    self.text = keepsText && text.count <= ValueRules.longestConditionBytes ? text : nil
  }
}

/// All that holds of what a task left, and where the files of it are.
package struct ValueSet: Equatable, Sendable {
  /// The try that left them; `ValueFolder.ofRecord` where they were written down in another run.
  package var attempt: Int32
  package var values: [TaskValue]

  package init(attempt: Int32, _ values: [TaskValue]) {
    self.attempt = attempt
    self.values = values
  }
}

/// What may be a value.
package enum ValueRules {
  /// Of one task.
  package static let mostValues = 100
  package static let longestBytes = 65_536
  /// Of a name; with it the longest message and line are known.
  package static let longestNameBytes = 128
  /// Of a value that an `if` reads: the coordinator keeps those.
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

  /// What is wrong with the bytes of a file as a value, for a person; nil where nothing is.
  package static func fault(in bytes: [UInt8]) -> String? {
    if bytes.contains(0) { return "it holds a NUL byte" }
    return String(validating: bytes, as: UTF8.self) == nil ? "it is not UTF-8" : nil
  }

  /// The value of a file with those bytes: as a shell has it, `echo` ends a line that is not meant. The
  /// line may be one of Windows.
  package static func value(ofFile bytes: [UInt8]) -> [UInt8] {
    guard bytes.last == Field.lineFeed else { return bytes }
    let line = bytes.dropLast()
    return Array(line.last == Field.carriageReturn ? line.dropLast() : line)
  }
}

/// Where tasks leave values: names in the run's `values` folder.
package enum ValueFolder {
  package static let name = "values"
  /// What tasks leave for nobody goes to a folder of the run that they share.
  package static let unreadName = "unread"
  /// What stands for the number of the try where no try of this run left them: the task is up to date, and what
  /// it left then was put there when that was found out.
  package static let ofRecord: Int32 = 0

  /// The folder of one try of a task.
  package static func name(of task: UnsafeRawBufferPointer, attempt: Int32) -> String {
    "\(LogName.stem(of: task)).\(attempt)"
  }

  /// Whether a try's folder is called so: `STEM.TRY`, or `STEM.TRY~PID` as those of lost tries once were.
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

  /// The folder in which one try of a task finds what its needs left.
  package static func needsName(of task: UnsafeRawBufferPointer, attempt: Int32) -> String {
    name(of: task, attempt: attempt) + ".needs"
  }
}

/// The values of a task as a line of the journal has them: `NAME:HASH,NAME:HASH`.
enum ValueList {
  static func text(_ values: [TaskValue]) -> String {
    values.map { "\($0.name):\(Hexadecimal.text($0.hash))" }.joined(separator: ",")
  }

  /// What is no value in it is passed over.
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
