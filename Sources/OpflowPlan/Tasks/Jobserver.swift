/// How programs get a jobserver (GNU make manual, "Sharing Job Slots with GNU make"). The raw value
/// is stored in plans.
package enum JobserverStyle: UInt32, Sendable {
  /// The best style of the `make` in PATH.
  case ofMake = 1
  /// A named pipe: make 4.4, ninja 1.13 and later.
  case fifo = 2
  /// Two inherited descriptors, for every make.
  case pipe = 3
}

/// The job options in `MAKEFLAGS`.
package enum MakeFlags {
  package enum Server: Equatable, Sendable {
    case fifo(path: [UInt8])
    case pipe(read: Int32, write: Int32)
    /// Make did not start this process as a sub-make, so it may not use the jobserver.
    case withheld
  }

  /// The last option wins.
  package static func server(in flags: some Sequence<UInt8>) -> Server? {
    var server: Server?
    for word in words(of: Array(flags)).options {
      for name in names where word.starts(with: name) {
        server = self.server(word.dropFirst(name.count))
      }
    }
    return server
  }

  package static func jobs(in flags: some Sequence<UInt8>) -> Int? {
    words(of: Array(flags)).options.lazy.filter { $0.starts(with: "-j".utf8) }
      .compactMap { Int(String(decoding: $0.dropFirst(2), as: UTF8.self)) }.last { $0 > 0 }
  }

  private static func server(_ value: ArraySlice<UInt8>) -> Server {
    let prefix = Array("fifo:".utf8)
    if value.starts(with: prefix), value.count > prefix.count {
      return .fifo(path: Array(value.dropFirst(prefix.count)))
    }
    let numbers = value.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
      .map { Int32(String(decoding: $0, as: UTF8.self)) }
    guard numbers.count == 2, let read = numbers[0], let write = numbers[1], read >= 0, write >= 0
    else { return .withheld }
    return .pipe(read: read, write: write)
  }

  package static func withoutJobs(_ flags: [UInt8]) -> [UInt8] {
    let (options, rest) = words(of: flags)
    let kept = options.filter { !isOfJobs($0) }
    return kept.count == options.count ? flags : joined(kept, rest)
  }

  package static func with(jobs: Int, address: String, in flags: [UInt8]) -> [UInt8] {
    let (options, rest) = words(of: flags)
    var words = options.filter { !isOfJobs($0) }
    // Only the first word may be option letters without a dash.
    if words.first.map({ $0.first == UInt8(ascii: "-") }) ?? true { words.insert([], at: 0) }
    words.insert(contentsOf: [Array("-j\(jobs)".utf8), Array("\(names[0])\(address)".utf8)], at: 1)
    return joined(words, rest)
  }

  private static let names = ["--jobserver-auth=", "--jobserver-fds="].map { $0.utf8 }

  private static func isOfJobs(_ word: [UInt8]) -> Bool {
    word.starts(with: "-j".utf8) || word.starts(with: "--jobs".utf8)
  }

  private static func joined(_ options: [[UInt8]], _ rest: [UInt8]) -> [UInt8] {
    Array(options.joined(separator: [blank])) + (rest.isEmpty ? [] : [blank] + rest)
  }

  private static let blank = UInt8(ascii: " ")

  /// Variable definitions start at `--`. A backslash escapes a space.
  private static func words(of flags: [UInt8]) -> (options: [[UInt8]], rest: [UInt8]) {
    var words: [[UInt8]] = []
    var word: [UInt8] = []
    var isEscaped = false
    for (place, byte) in flags.enumerated() {
      if byte == blank, !isEscaped {
        if word == Array("--".utf8) { return (words, Array(flags[(place - 2)...])) }
        if !word.isEmpty { words.append(word) }
        word = []
      } else {
        word.append(byte)
      }
      isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
    }
    if !word.isEmpty { words.append(word) }
    return (words, [])
  }
}
