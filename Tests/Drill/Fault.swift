/// A fault in a run: system calls of one kind fail, or a process dies before one.
package struct Fault: Sendable, Equatable, CustomStringConvertible {
  /// `coordinator`, `worker` or `download`.
  package var role: String
  package var call: String
  package var error: Error
  /// Counted from 1, over all processes of the role.
  package var first: Int
  /// 0: every call from the first one on.
  package var last: Int

  package enum Error: String, CaseIterable, Sendable {
    case noSpace = "ENOSPC"
    case ioError = "EIO"
    case interrupted = "EINTR"
    case again = "EAGAIN"
    case brokenPipe = "EPIPE"
    case tooManyFiles = "EMFILE"
    case noMemory = "ENOMEM"
    case kill = "KILL"

    /// The injector's argument: these errors have the same numbers in all Linux ABIs (errno(3)).
    var word: String {
      switch self {
      case .interrupted: "4"
      case .ioError: "5"
      case .again: "11"
      case .noMemory: "12"
      case .tooManyFiles: "24"
      case .noSpace: "28"
      case .brokenPipe: "32"
      case .kill: "KILL"
      }
    }
  }

  package init(role: String, call: String, error: Error, first: Int, last: Int) {
    self.role = role
    self.call = call
    self.error = error
    self.first = first
    self.last = last
  }

  /// Parses `ROLE CALL ERROR FIRST LAST`, like `description`.
  package init?(_ text: String) {
    let words = text.split(separator: " ").map(String.init)
    guard words.count == 5, let error = Error(rawValue: words[2]), let first = Int(words[3]),
      let last = Int(words[4])
    else { return nil }
    self.init(role: words[0], call: words[1], error: error, first: first, last: last)
  }

  package var description: String { "\(role) \(call) \(error.rawValue) \(first) \(last)" }

  var arguments: [String] { [role, call, error.word, String(first), String(last)] }

  /// Returns all faults for this number of calls: each call fails alone and, for errors that last,
  /// all calls from one on fail.
  static func all(role: String, call: String, count: Int, error: Error) -> [Fault] {
    if neverFail.contains(call) && error != .kill { return [] }
    if error == .brokenPipe, call != "write" { return [] }
    var faults = (1...max(count, 1)).map {
      Fault(role: role, call: call, error: error, first: $0, last: $0)
    }
    switch error {
    case .noSpace, .ioError, .tooManyFiles, .noMemory:
      faults.append(Fault(role: role, call: call, error: error, first: 1, last: 0))
      faults.append(Fault(role: role, call: call, error: error, first: max(count / 2, 2), last: 0))
    case .interrupted, .again, .brokenPipe, .kill: break
    }
    return faults
  }

  /// Calls without errors, and calls whose errors are impossible.
  private static let neverFail: Set<String> = [
    // The C library aborts if these fail, which no kernel lets happen.
    "futex", "rseq", "set_robust_list", "exit", "exit_group", "rt_sigreturn", "getpid", "getppid",
    "gettid", "getuid",
    "geteuid",
    "getgid", "getegid", "set_tid_address", "sched_yield", "umask",
  ]

  /// True if the fault may end the process by a signal: Swift does not handle errors of memory
  /// calls.
  var mayEndBySignal: Bool {
    ["mmap", "munmap", "mprotect", "brk", "mremap", "madvise"].contains(call) || error == .kill
  }
}
