internal import CLinux

/// Pointers must stay valid for the call only.
package struct ProgramStart: ~Copyable {
  /// A path, or a name to look up in `searchPath`.
  package var file: UnsafePointer<CChar>
  /// Colon-separated folders, searched after the change of directory.
  package var searchPath: UnsafePointer<CChar>?
  /// Null-terminated, the program's own name first.
  package var arguments: UnsafePointer<UnsafeMutablePointer<CChar>?>
  /// Null-terminated entries `NAME=VALUE`.
  package var environment: UnsafePointer<UnsafeMutablePointer<CChar>?>
  package var directory: UnsafePointer<CChar>?
  package var input: Int32
  package var output: Int32
  package var error: Int32
  package var options: Program.Options
  /// An open cgroup folder to start the program in, if the kernel permits.
  package var group: Int32?
  /// They become 3 and 4 in the program.
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
}

package struct ProgramError: Error, Equatable, Sendable {
  package enum Step: Int32, Sendable {
    case process, session, descriptors, directory, execute
  }
  package let errno: Errno
  package let step: Step
}

/// Starts programs with only the given descriptors, an empty signal mask and default signal
/// actions.
package enum Program {
  package struct Options: OptionSet, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }
    // The standard library's initializer looks up types at run time when used from another module.
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

  /// Uses clone(2) and shares memory until the exec, so the cost does not depend on this process's
  /// size. Returns after the exec.
  package static func spawn(_ start: borrowing ProgramStart) throws(ProgramError) -> SpawnedProcess
  {
    var program = clinux_program(
      file: start.file, search_path: start.searchPath, arguments: start.arguments,
      environment: start.environment, directory: start.directory, input: start.input,
      output: start.output, error: start.error, group: start.group ?? -1,
      flags: start.options.rawValue, further: start.further ?? (-1, -1))
    var spawned = clinux_spawned()
    // SAFETY: the caller keeps strings and arrays valid.
    if clinux_spawn(&program, &spawned) < 0 {
      throw ProgramError(
        errno: Errno.current, step: ProgramError.Step(rawValue: spawned.step) ?? .process)
    }
    return SpawnedProcess(
      pid: spawned.pid, descriptor: Descriptor(owning: spawned.pidfd))
  }

  /// `additions` (`NAME=VALUE`) override this process's environment. `shared` becomes
  /// `ByteLocks.shared`.
  package static func spawn(
    _ path: String, arguments: [String], additions: [String] = [], input: Int32, output: Int32,
    error: Int32, options: Options, group: Int32? = nil, shared: Int32? = nil
  ) throws(ProgramError) -> SpawnedProcess {
    let argumentBlock = StringBlock([path] + arguments)
    var entries = Environment.entries()
    for addition in additions.map({ Array($0.utf8) }) {
      let name = addition.prefix { $0 != UInt8(ascii: "=") }
      entries.removeAll { $0.starts(with: name + [UInt8(ascii: "=")]) }
      entries.append(addition)
    }
    let environmentBlock = StringBlock()
    for entry in entries { environmentBlock.append(entry) }
    // SAFETY: both blocks live to the end of this function.
    defer { withExtendedLifetime((argumentBlock, environmentBlock)) {} }
    return try spawn(
      ProgramStart(
        file: argumentBlock[0], arguments: argumentBlock.pointers,
        environment: environmentBlock.pointers, input: input, output: output, error: error,
        options: options, group: group, further: shared.map { ($0, -1) }))
  }
}

extension Program {
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

  /// Looks up `words[0]` in PATH if it has no slash.
  package static func spawn(
    searching words: [String], input: Int32, output: Int32, error: Int32, options: Options
  ) throws(Errno) -> SpawnedProcess {
    let block = StringBlock(words + [Environment.value("PATH") ?? "/usr/bin:/bin"])
    let arguments = StringBlock(words)
    let environment = StringBlock()
    for entry in Environment.entries() { environment.append(entry) }
    // SAFETY: the blocks live to the end of this function.
    defer { withExtendedLifetime((block, arguments, environment)) {} }
    do throws(ProgramError) {
      return try spawn(
        ProgramStart(
          file: block[0], searchPath: block[words.count], arguments: arguments.pointers,
          environment: environment.pointers, input: input, output: output, error: error,
          options: options))
    } catch {
      throw error.errno
    }
  }
}

extension Program {
  /// Starts `words[0]`, looked up in PATH if it has no slash, in a new session and not as a child.
  /// `kept` becomes descriptor 3.
  package static func startDetached(
    _ words: [String], input: Int32, output: Int32, error: Int32, kept: Int32
  ) throws(Errno) {
    let block = StringBlock(words + [Environment.value("PATH") ?? "/usr/bin:/bin"])
    let arguments = StringBlock(words)
    let environment = StringBlock()
    for entry in Environment.entries() { environment.append(entry) }
    // SAFETY: the blocks live to the end of this function.
    defer { withExtendedLifetime((block, arguments, environment)) {} }
    var program = clinux_program(
      file: block[0], search_path: block[words.count], arguments: arguments.pointers,
      environment: environment.pointers, directory: nil, input: input, output: output,
      error: error, group: -1, flags: 0, further: (kept, -1))
    var step: Int32 = 0
    // SAFETY: the strings and arrays stay valid for this call.
    if clinux_spawn_detached(&program, &step) < 0 { throw Errno.current }
  }
}

/// A child that must still be reaped.
package struct SpawnedProcess: ~Copyable, Sendable {
  package let pid: Int32
  /// A pidfd, readable once the process has ended.
  package let descriptor: Descriptor

  /// Does nothing if the process is already reaped.
  package func signal(_ signal: Signal) throws(Errno) {
    try ProcessTree.send(signal, through: descriptor.rawValue)
  }

  /// Sends KILL by number if the descriptor is refused; an unreaped number is not reused.
  package func kill() {
    do throws(Errno) {
      try signal(.kill)
    } catch {
      // If this fails too, waiting for its end shows it.
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
