package import OpflowCore

/// What a command line asks for.
package enum Invocation: Equatable, Sendable {
  /// No command at all: what is here.
  case overview(ViewArguments)
  case run(RunArguments)
  case resume(RunArguments)
  case check(CheckArguments)
  case status(StatusArguments)
  case logs(LogsArguments)
  case runs(ViewArguments)
  case journal(JournalArguments)
  case version
  /// Of the whole program where no command is named.
  case help(CommandName?)
}

/// `--color`
package enum ColorChoice: String, CaseIterable, Sendable {
  case auto, always, never
}

/// Where a command works, and its colours.
package struct ViewArguments: Equatable, Sendable {
  /// `-C`: as if opflow had been started there.
  package var directory: String?
  /// `--state-dir`
  package var stateDirectory: String?
  package var color: ColorChoice = .auto
  package init() {}
}

/// Of `run`, `resume` and `plan`, which is a dry `run`. Lists are empty and values nil where the
/// command line does not say.
package struct RunArguments: Equatable, Sendable {
  package var view = ViewArguments()
  /// Of `resume`: the run.
  package var target: String?
  /// The manifest: `-` for standard input, and a folder, with a slash at its end, for the manifest in
  /// it.
  package var file: String?
  /// The tasks that are named, as selectors; none for all.
  package var tasks: [String] = []
  package var maxParallel: UInt32?
  /// Of a dry run: `-j` with more than one number, to compare; the first is `maxParallel` too.
  package var capacities: [UInt32] = []
  package var maxFailures: UInt32?
  /// `--resume` of `run`
  package var resumesNewest = false
  package var isDryRun = false
  package var set: [String] = []
  package var only: [String] = []
  package var skip: [String] = []
  package var rerun: [String] = []
  package var output: OutputMode?
  package var json = false
  package var verbose = false
  package var durability: Durability = .group
  package init() {}
}

package struct CheckArguments: Equatable, Sendable {
  package var view = ViewArguments()
  /// As that of a run.
  package var file: String?
  package var tasks: [String] = []
  package var set: [String] = []
  package init() {}
}

package struct StatusArguments: Equatable, Sendable {
  package var view = ViewArguments()
  package var run: String?
  package var json = false
  /// All tasks, however many.
  package var verbose = false
  package init() {}
}

package struct LogsArguments: Equatable, Sendable {
  package var view = ViewArguments()
  package var run: String?
  package var tasks: [String] = []
  package var follows = false
  package init() {}
}

package enum JournalAction: String, CaseIterable, Sendable {
  case verify, export, repair
}

package struct JournalArguments: Equatable, Sendable {
  package var view = ViewArguments()
  package var action: JournalAction
  package var run: String?
  package init(action: JournalAction) { self.action = action }
}
