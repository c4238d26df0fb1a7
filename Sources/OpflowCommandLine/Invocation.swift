package import OpflowCore

/// What a command line asks for: a command, and what its flags and words say. Lists are empty and
/// values nil where they say nothing.
package struct Invocation: Equatable, Sendable {
  /// Nil for `opflow` alone: what is here.
  package var command: Command?
  package var view = ViewArguments()
  /// The manifest: `-` for standard input, and a folder, with a slash at its end, for the manifest in
  /// it.
  package var file: String?
  /// The tasks that are named, as selectors.
  package var tasks: [String] = []
  /// What stands behind `--`, for the one task that is named.
  package var arguments: [String] = []
  /// Of `serve`: what the run is to be known by; empty for nothing.
  package var name = ""
  /// The run that is named.
  package var run: String?
  /// Of `priority` and `parallel`: what is to be set, as it was typed.
  package var value = ""
  /// Of `parallel`: what there is to be so much of.
  package var resource = "cpu"
  /// Of `journal`.
  package var action: JournalAction = .verify
  /// Of `completion`.
  package var shell: CompletionShell = .bash
  /// Of `report`.
  package var report: ReportKind = .junit
  /// Of `graph`: nil where the name of the file says it, or nothing does.
  package var graphFormat: GraphFormat?
  /// `-o`: where what is made goes; nil for standard output.
  package var outputFile: String?
  /// `--junit`: where the results go when the run has ended.
  package var junitFile: String?
  /// `--notify`: a line for a shell.
  package var notifyCommand: String?
  /// `--ci-commands`: what tasks print may be commands for the CI server.
  package var passesCommands = true
  /// Of `help`: the command; nil for the whole program.
  package var topic: Command?
  /// Of `help manifest`: the key, or nothing for all of them; nil where it is no help on the manifest.
  package var manifestKey: String?
  /// `NAME=VALUE` of each name once, by name.
  package var set: [String] = []
  package var only: [String] = []
  package var skip: [String] = []
  package var rerun: [String] = []
  /// Of `wait`: the tasks, as selectors; none for the whole run.
  package var waitsFor: [String] = []
  /// `--resume` of `run`
  package var resumesNewest = false
  package var isDryRun = false
  package var maxParallel: UInt32?
  /// Of a dry run: `-j` with more than one number, to compare; the first is `maxParallel` too.
  package var capacities: [UInt32] = []
  package var maxFailures: UInt32?
  package var ifRunning: IfRunning?
  package var memory = MemoryPolicy.warn
  /// Of `run`: after the end it waits for changes.
  package var watchesFiles = false
  package var output: OutputMode?
  package var json = false
  /// More than the usual: commands as they start, all tasks of a status.
  package var verbose = false
  package var follows = false
  /// `--watch` of `status`
  package var watches = false
  package var durability: Durability = .group
  /// `--on`: where tasks run beside this machine.
  package var on: [SiteRequest] = []
  /// It was given, if only to say that they run here.
  package var saysPlace = false
  /// `--queue-timeout`: a duration as a manifest has it.
  package var queueTimeout: String?
  /// `--take-over`: a machine that holds the run is gone.
  package var takesOver = false
  /// `--cache`: a folder.
  package var cache: String?
  package var writesCache = false
  package var usesCache = true
  /// `--control-fd`: an end of a socket that this process was started with.
  package var controlDescriptor: Int32?
  /// `--for-queue`: a resume of the run that a program has as its queue.
  package var isForQueue = false
  /// Of `clean`: how many runs of each manifest stay.
  package var keep: UInt32?
  /// Of `clean`: a duration as a manifest has it.
  package var olderThan: String?

  package init(_ command: Command?) { self.command = command }
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

/// `--color`
package enum ColorChoice: String, CaseIterable, Sendable {
  case auto, always, never
}

package enum JournalAction: String, CaseIterable, Sendable {
  case verify, export, repair
}

/// What `report` makes of a run.
package enum ReportKind: String, CaseIterable, Sendable {
  case junit, trace, html, otel
}

/// What `graph` writes.
package enum GraphFormat: String, CaseIterable, Sendable {
  case text, dot, mermaid, svg

  /// The format that such a file would have to be of, and that `graph` does not write.
  package static func foreign(ofFile path: String) -> String? {
    let name = path.lowercased()
    return ["png", "pdf", "jpg", "jpeg", "gif", "webp"].first { name.hasSuffix(".\($0)") }
  }

  /// What a file of that name holds, where that is plain.
  package init(ofFile path: String) {
    let name = path.lowercased()
    self =
      if name.hasSuffix(".svg") {
        .svg
      } else if name.hasSuffix(".dot") || name.hasSuffix(".gv") {
        .dot
      } else if name.hasSuffix(".mmd") || name.hasSuffix(".mermaid") {
        .mermaid
      } else {
        .text
      }
  }
}

/// `--ci-commands`
enum CICommands: String, CaseIterable {
  case on, off
}
