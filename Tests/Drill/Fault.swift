/// One thing that goes wrong in a run: system calls of one kind that fail, or death before one.
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

    /// As the injector takes it: Linux has the same numbers on all machines for these (errno(3)).
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

  /// `ROLE CALL ERROR FIRST LAST`, as it describes itself.
  package init?(_ text: String) {
    let words = text.split(separator: " ").map(String.init)
    guard words.count == 5, let error = Error(rawValue: words[2]), let first = Int(words[3]),
      let last = Int(words[4])
    else { return nil }
    self.init(role: words[0], call: words[1], error: error, first: first, last: last)
  }

  package var description: String { "\(role) \(call) \(error.rawValue) \(first) \(last)" }

  var arguments: [String] { [role, call, error.word, String(first), String(last)] }

  /// All faults of one error that a run with so many calls can meet: each call of its own and,
  /// where the state that such an error tells of lasts, all from the first one on.
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

  /// Calls that have no error to tell, and those whose failure is no failure of theirs.
  private static let neverFail: Set<String> = [
    // The C library ends a process that has these fail, which no kernel lets them.
    "futex", "rseq", "set_robust_list", "exit", "exit_group", "rt_sigreturn", "getpid", "getppid",
    "gettid", "getuid",
    "geteuid",
    "getgid", "getegid", "set_tid_address", "sched_yield", "umask",
  ]

  /// Memory that the kernel does not give ends a process where it stands: nothing in the language
  /// takes the error.
  var mayEndBySignal: Bool {
    ["mmap", "munmap", "mprotect", "brk", "mremap", "madvise"].contains(call) || error == .kill
  }
}
