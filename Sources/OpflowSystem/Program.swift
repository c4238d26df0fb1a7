internal import CLinux

/// How a program is to be started. The pointers must stay for the call only.
package struct ProgramStart: ~Copyable {
  /// A path, or, with a search path and no slash in it, a name to look for there.
  package var file: UnsafePointer<CChar>
  /// Folders separated by colons, searched after the change of directory; nil: `file` as it stands.
  package var searchPath: UnsafePointer<CChar>?
  /// Ended by a null pointer, the program's own name first (execve(2)).
  package var arguments: UnsafePointer<UnsafeMutablePointer<CChar>?>
  /// `NAME=VALUE`, ended by a null pointer.
  package var environment: UnsafePointer<UnsafeMutablePointer<CChar>?>
  /// nil: where this process is.
  package var directory: UnsafePointer<CChar>?
  package var input: Int32
  package var output: Int32
  package var error: Int32
  package var options: Program.Options
  /// A folder of control groups that is open: the group to start it in, where the kernel lets us.
  package var group: Int32?
  /// Two more descriptors, which the program finds as 3 and 4.
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

/// A program that could not be started: why, and at what.
package struct ProgramError: Error, Equatable, Sendable {
  package enum Step: Int32, Sendable {
    case process, session, descriptors, directory, execute
  }
  package let errno: Errno
  package let step: Step
}

/// Starting programs: with the descriptors that are given and no other, an empty signal mask and every signal at
/// its default.
package enum Program {
  package struct Options: OptionSet, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }
    // The standard library's own looks types up at run time when it is used from another module.
    package init(arrayLiteral options: Options...) {
      rawValue = options.reduce(0) { $0 | $1.rawValue }
    }

    /// It leads a session, and so a process group, of its own (setsid(2)).
    package static let newSession = Options(rawValue: UInt32(CLINUX_SPAWN_SESSION))
    /// It leads a process group of its own, in this process's session (setpgid(2)).
    package static let newGroup = Options(rawValue: UInt32(CLINUX_SPAWN_GROUP))
    /// The kernel kills it when the thread that started it ends (prctl(2), PR_SET_PDEATHSIG).
    package static let diesWithParent = Options(rawValue: UInt32(CLINUX_SPAWN_DIES_WITH_PARENT))
    /// The kernel sends it TERM when the thread that started it ends (prctl(2), PR_SET_PDEATHSIG).
    package static let endsWithParent = Options(rawValue: UInt32(CLINUX_SPAWN_ENDS_WITH_PARENT))
    /// The kernel sends it CONT when the thread that started it ends (prctl(2), PR_SET_PDEATHSIG): one that is
    /// stopped then sees that its parent is gone.
    package static let wakesWithParent = Options(rawValue: UInt32(CLINUX_SPAWN_WAKES_WITH_PARENT))
    /// This process has every signal blocked and none ignored, and is spared some calls for it.
    package static let signalsPrepared = Options(rawValue: UInt32(CLINUX_SPAWN_SIGNALS_PREPARED))
  }

  /// Starts a program through clone(2) with memory shared until its exec, which costs the same
  /// however large this process is. Returns after the exec.
  package static func spawn(_ start: borrowing ProgramStart) throws(ProgramError) -> SpawnedProcess
  {
    var program = clinux_program(
      file: start.file, search_path: start.searchPath, arguments: start.arguments,
      environment: start.environment, directory: start.directory, input: start.input,
      output: start.output, error: start.error, group: start.group ?? -1,
      flags: start.options.rawValue, further: start.further ?? (-1, -1))
    var spawned = clinux_spawned()
    // SAFETY: the shim reads the strings and arrays that the caller holds for this call.
    if clinux_spawn(&program, &spawned) < 0 {
      throw ProgramError(
        errno: Errno.current, step: ProgramError.Step(rawValue: spawned.step) ?? .process)
    }
    return SpawnedProcess(
      pid: spawned.pid, descriptor: Descriptor(owning: spawned.pidfd))
  }

  /// Starts the program at `path` with `arguments` after its name, and this process's environment
  /// with `additions` (`NAME=VALUE`) in place of variables of the same name.
  package static func spawn(
    _ path: String, arguments: [String], additions: [String] = [], input: Int32, output: Int32,
    error: Int32, options: Options, group: Int32? = nil
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
        options: options, group: group))
  }
}

extension Program {
  /// Whether PATH has an executable file of that name.
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

  /// Starts the program of that name, which is looked for in PATH where it has no slash, with this process's
  /// environment.
  ///
  /// - Parameter words: its name, then its arguments.
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
  /// Starts a program as nobody's child, in a session of its own: this process sees nothing of its end. It is found
  /// in PATH where its name has no slash, and has this process's environment and working folder.
  ///
  /// - Parameters:
  ///   - words: its name, then its arguments.
  ///   - kept: a further descriptor, which the program finds as 3.
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
    // SAFETY: the shim reads the strings and arrays that are held for this call.
    if clinux_spawn_detached(&program, &step) < 0 { throw Errno.current }
  }
}

/// A process that this one started and has yet to reap.
package struct SpawnedProcess: ~Copyable, Sendable {
  package let pid: Int32
  /// Readable once it has ended (pidfd_open(2)).
  package let descriptor: Descriptor

  /// Sends it a signal; nothing when it has ended and been reaped.
  package func signal(_ signal: Signal) throws(Errno) {
    try ProcessTree.send(signal, through: descriptor.rawValue)
  }

  /// Sends it KILL, by its number where the descriptor is refused: nobody else can have the number
  /// before this process has reaped it.
  package func kill() {
    do throws(Errno) {
      try signal(.kill)
    } catch {
      // Whoever waits for its end sees that there is none.
      try? ProcessTree.send(.kill, to: pid)
    }
  }

  /// How it ended; nil while it has not.
  package func reap() throws(Errno) -> EndedProcess? {
    try EndedProcess.reap(.descriptor(descriptor.rawValue), block: false)
  }

  /// Waits until it ends.
  package func wait() throws(Errno) -> EndedProcess {
    while true {
      if let ended = try EndedProcess.reap(.descriptor(descriptor.rawValue), block: true) {
        return ended
      }
    }
  }
}
