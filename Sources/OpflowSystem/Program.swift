internal import CLinux

/// The pointers must stay valid only for the call.
package struct ProgramStart: ~Copyable {
  /// A path, or a name to find in `searchPath`.
  package var file: UnsafePointer<CChar>
  /// Colon-separated folders, searched after the change of directory.
  package var searchPath: UnsafePointer<CChar>?
  /// Null-terminated, the program's name first.
  package var arguments: UnsafePointer<UnsafeMutablePointer<CChar>?>
  /// Null-terminated entries `NAME=VALUE`.
  package var environment: UnsafePointer<UnsafeMutablePointer<CChar>?>
  package var directory: UnsafePointer<CChar>?
  package var input: Int32
  package var output: Int32
  package var error: Int32
  package var options: Program.Options
  /// An open cgroup folder to start in, if the kernel permits.
  package var group: Int32?
  /// Become 3 and 4 in the program.
  package var further: (Int32, Int32)?

  package init(
    file: UnsafePointer<CChar>, searchPath: UnsafePointer<CChar>? = nil,
    arguments: UnsafePointer<UnsafeMutablePointer<CChar>?>,
    environment: UnsafePointer<UnsafeMutablePointer<CChar>?>,
    directory: UnsafePointer<CChar>? = nil, input: Int32, output: Int32, error: Int32,
    options: Program.Options, group: Int32? = nil, further: (Int32, Int32)? = nil
  ) {
    self.file = file
    self.searchPath = searchPath
    self.arguments = arguments
    self.environment = environment
    self.directory = directory
    self.input = input
    self.output = output
    self.error = error
    self.options = options
    self.group = group
    self.further = further
  }

  fileprivate var program: clinux_program {
    clinux_program(
      file: file, search_path: searchPath, arguments: arguments, environment: environment,
      directory: directory, input: input, output: output, error: error, group: group ?? -1,
      flags: options.rawValue, further: further ?? (-1, -1))
  }
}

package struct ProgramError: Error, Equatable, Sendable {
  package enum Step: Int32, Sendable {
    case process, session, descriptors, directory, execute
  }
  package let errno: Errno
  package let step: Step
}

/// Starts programs with only the given descriptors, an empty signal mask and default actions.
package enum Program {
  package struct Options: OptionSet, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }
    package init(arrayLiteral options: Options...) {
      rawValue = options.reduce(0) { $0 | $1.rawValue }
    }

    /// Session and process group leader.
    package static let newSession = Options(rawValue: UInt32(CLINUX_SPAWN_SESSION))
    /// Process group leader in this session.
    package static let newGroup = Options(rawValue: UInt32(CLINUX_SPAWN_GROUP))
    /// KILL when the starting thread ends (prctl(2), PR_SET_PDEATHSIG).
    package static let diesWithParent = Options(rawValue: UInt32(CLINUX_SPAWN_DIES_WITH_PARENT))
    /// TERM when the starting thread ends.
    package static let endsWithParent = Options(rawValue: UInt32(CLINUX_SPAWN_ENDS_WITH_PARENT))
    /// CONT when the starting thread ends, so that a stopped program notices it.
    package static let wakesWithParent = Options(rawValue: UInt32(CLINUX_SPAWN_WAKES_WITH_PARENT))
    /// This process has all signals blocked and none ignored, which saves calls.
    package static let signalsPrepared = Options(rawValue: UInt32(CLINUX_SPAWN_SIGNALS_PREPARED))
  }

  /// Shares memory until the exec (clone(2)), so the cost does not depend on this process's size.
  /// Returns after the exec.
  package static func spawn(_ start: borrowing ProgramStart) throws(ProgramError) -> SpawnedProcess
  {
    var program = start.program
    var spawned = clinux_spawned()
    // SAFETY: the caller keeps strings and arrays valid.
    if clinux_spawn(&program, &spawned) < 0 {
      throw ProgramError(
        errno: Errno.current, step: ProgramError.Step(rawValue: spawned.step) ?? .process)
    }
    return SpawnedProcess(pid: spawned.pid, descriptor: Descriptor(owning: spawned.pidfd))
  }

  /// `additions` override this process's environment. `shared` becomes `ByteLocks.shared`.
  package static func spawn(
    _ path: String, arguments: [String], additions: [String] = [], input: Int32, output: Int32,
    error: Int32, options: Options, group: Int32? = nil, shared: Int32? = nil
  ) throws(ProgramError) -> SpawnedProcess {
    var entries = Environment.entries()
    for addition in additions.map({ Array($0.utf8) }) {
      let name = addition.prefix { $0 != UInt8(ascii: "=") }
      entries.removeAll { $0.starts(with: name + [UInt8(ascii: "=")]) }
      entries.append(addition)
    }
    return try with([path] + arguments, environment: entries, input, output, error) {
      start throws(ProgramError) in
      start.searchPath = nil
      start.options = options
      start.group = group
      start.further = shared.map { ($0, -1) }
      return try spawn(start)
    }
  }

  /// Looks up `words[0]` in PATH if it has no slash.
  package static func spawn(
    searching words: [String], input: Int32, output: Int32, error: Int32, options: Options
  ) throws(Errno) -> SpawnedProcess {
    do throws(ProgramError) {
      return try spawn(
        searching: words, in: nil, environment: Environment.entries(), input: input,
        output: output, error: error, options: options)
    } catch {
      throw error.errno
    }
  }

  package static func spawn(
    searching words: [String], in folder: String?, environment: [[UInt8]], input: Int32,
    output: Int32, error: Int32, options: Options
  ) throws(ProgramError) -> SpawnedProcess {
    let folder = folder.map { StringBlock([$0]) }
    // SAFETY: the block lives to the end of this function.
    defer { withExtendedLifetime(folder) {} }
    return try with(words, environment: environment, input, output, error) {
      start throws(ProgramError) in
      start.directory = folder.map { UnsafePointer($0[0]) }
      start.options = options
      return try spawn(start)
    }
  }

  /// Starts `words[0]`, looked up in PATH if it has no slash, in a new session and not as a child.
  /// `kept` becomes descriptor 3.
  package static func startDetached(
    _ words: [String], input: Int32, output: Int32, error: Int32, kept: Int32
  ) throws(Errno) {
    try with(words, environment: Environment.entries(), input, output, error) {
      start throws(Errno) in
      start.further = (kept, -1)
      var program = start.program
      var step: Int32 = 0
      // SAFETY: the strings and arrays stay valid for this call.
      if clinux_spawn_detached(&program, &step) < 0 { throw Errno.current }
    }
  }

  private static func with<Result: ~Copyable, Failure>(
    _ words: [String], environment entries: [[UInt8]], _ input: Int32, _ output: Int32,
    _ error: Int32, _ body: (inout ProgramStart) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let arguments = StringBlock(words)
    let searchPath = StringBlock([Environment.value("PATH") ?? "/usr/bin:/bin"])
    let environment = StringBlock()
    for entry in entries { environment.append(entry) }
    // SAFETY: the blocks live to the end of this function.
    defer { withExtendedLifetime((arguments, searchPath, environment)) {} }
    var start = ProgramStart(
      file: arguments[0], searchPath: searchPath[0], arguments: arguments.pointers,
      environment: environment.pointers, input: input, output: output, error: error, options: [])
    return try body(&start)
  }

  package static func isInPath(_ name: String) -> Bool {
    let folders = (Environment.value("PATH") ?? "/usr/bin:/bin").split(
      separator: ":", omittingEmptySubsequences: false)
    return folders.contains { folder in
      guard let file = try? Path.status("\(folder.isEmpty ? "." : folder)/\(name)") else {
        return false
      }
      return file.kind == .file && file.mode & 0o111 != 0
    }
  }
}

/// A child that must still be reaped.
package struct SpawnedProcess: ~Copyable, Sendable {
  package let pid: Int32
  /// A pidfd, readable once the process has ended.
  package let descriptor: Descriptor

  package func signal(_ signal: Signal) throws(Errno) {
    try ProcessTree.send(signal, through: descriptor.rawValue)
  }

  /// Sends KILL by number if the descriptor is refused; an unreaped number stays valid.
  package func kill() {
    do throws(Errno) {
      try signal(.kill)
    } catch {
      // Waiting for the end shows a failure.
      try? ProcessTree.send(.kill, to: pid)
    }
  }

  /// nil while it runs.
  package func reap() throws(Errno) -> EndedProcess? {
    try EndedProcess.reap(.descriptor(descriptor.rawValue), block: false)
  }

  package func wait() throws(Errno) -> EndedProcess {
    while true {
      if let ended = try EndedProcess.reap(.descriptor(descriptor.rawValue), block: true) {
        return ended
      }
    }
  }
}

/// A null-terminated array of C strings for execve(2), kept between calls.
package final class StringBlock {
  // SAFETY: allocated here, sized by what was appended, freed in deinit. Pointers are made only
  // once the bytes have their final place.
  private var bytes: UnsafeMutablePointer<CChar>
  private var byteCapacity: Int
  /// Zeros included.
  package private(set) var byteCount = 0
  private var starts: [Int] = []
  private var table: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
  private var tableCapacity: Int
  /// The number of valid leading pointers in the table.
  private var currentCount = 0

  package init() {
    byteCapacity = 4096
    bytes = .allocate(capacity: byteCapacity)
    tableCapacity = 64
    table = .allocate(capacity: tableCapacity)
  }

  package convenience init(_ strings: [String]) {
    self.init()
    for string in strings { append(string) }
  }

  deinit {
    bytes.deallocate()
    table.deallocate()
  }

  package var count: Int { starts.count }

  package func removeAll() { removeLast(starts.count) }

  package func removeLast(_ count: Int) {
    guard count > 0 else { return }
    byteCount = starts[starts.count - count]
    starts.removeLast(count)
    currentCount = min(currentCount, starts.count)
  }

  /// The string must not contain a zero.
  package func append(_ string: String) {
    var string = string
    string.withUTF8 { append(UnsafeRawBufferPointer($0)) }
  }

  package func append(_ string: [UInt8]) {
    string.withUnsafeBytes { append($0) }
  }

  package func append(_ string: UnsafeRawBufferPointer) {
    begin()
    add(string)
    end()
  }

  /// Begins a string of several parts, up to `end`.
  package func begin() { starts.append(byteCount) }

  package func add(_ part: UnsafeRawBufferPointer) {
    reserve(part.count)
    if let from = part.baseAddress {
      UnsafeMutableRawPointer(bytes + byteCount).copyMemory(from: from, byteCount: part.count)
      byteCount += part.count
    }
  }

  package func add(_ text: StaticString) {
    add(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  package func add(number: Int32) {
    if number < 0 { add(UInt8(ascii: "-")) }
    var divisor: UInt32 = 1
    while number.magnitude / divisor >= 10 { divisor *= 10 }
    while divisor > 0 {
      add(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number.magnitude / divisor % 10))
      divisor /= 10
    }
  }

  /// Sixteen digits.
  package func add(hexadecimal number: UInt64) {
    for shift in stride(from: UInt64(60), through: 0, by: -4) {
      let digit = UInt8(truncatingIfNeeded: number >> shift) & 15
      add(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
    }
  }

  private func add(_ byte: UInt8) {
    reserve(1)
    bytes[byteCount] = CChar(bitPattern: byte)
    byteCount += 1
  }

  package func end() { add(0) }

  /// Zero included.
  package func byteCount(_ index: Int) -> Int {
    (index + 1 < starts.count ? starts[index + 1] : byteCount) - starts[index]
  }

  package var longest: Int? {
    starts.indices.max { byteCount($0) < byteCount($1) }
  }

  /// Valid until something is added.
  package subscript(index: Int) -> UnsafeMutablePointer<CChar> { bytes + starts[index] }

  /// Valid until something is added or removed.
  package var pointers: UnsafePointer<UnsafeMutablePointer<CChar>?> {
    if starts.count + 1 > tableCapacity {
      table.deallocate()
      tableCapacity = starts.count * 2 + 1
      table = .allocate(capacity: tableCapacity)
      currentCount = 0
    }
    for index in currentCount..<starts.count {
      (table + index).initialize(to: bytes + starts[index])
    }
    (table + starts.count).initialize(to: nil)
    currentCount = starts.count
    return UnsafePointer(table)
  }

  private func reserve(_ extra: Int) {
    if byteCount + extra <= byteCapacity { return }
    byteCapacity = max(byteCapacity * 2, byteCount + extra)
    let larger = UnsafeMutablePointer<CChar>.allocate(capacity: byteCapacity)
    larger.initialize(from: bytes, count: byteCount)
    bytes.deallocate()
    bytes = larger
    currentCount = 0
  }
}
