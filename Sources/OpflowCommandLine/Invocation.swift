package import OpflowBase
package import OpflowPlan
package import OpflowWire

/// Lists are empty and values nil if not given.
package struct Invocation: Equatable, Sendable {
  /// Nil for `opflow` alone.
  package var command: Command?
  package var view = ViewArguments()
  /// `-` for standard input; a folder with a trailing slash for the manifest in it.
  package var file: String?
  /// Selectors.
  package var tasks: [String] = []
  /// After `--`, for the only selected task.
  package var arguments: [String] = []
  /// Of `serve`; may be empty.
  package var name = ""
  /// An ID, name or manifest.
  package var run: String?
  /// Of `priority` and `parallel`, as typed.
  package var value = ""
  /// Of `parallel`.
  package var resource = "cpu"
  /// Of `journal`.
  package var action: JournalAction = .verify
  /// Of `completion`.
  package var shell: CompletionShell = .bash
  /// Of `report`.
  package var report: ReportKind = .junit
  /// Of `graph`; nil to take it from the output file.
  package var graphFormat: GraphFormat?
  /// `-o`; nil for standard output.
  package var outputFile: String?
  package var junitFile: String?
  /// A shell command.
  package var notifyCommand: String?
  /// Output may contain commands for the CI server.
  package var passesCommands = true
  /// Of `help`: a command, flag, term or key; nil for the whole program.
  package var topic: String?
  /// Of `help manifest`: empty for all keys; nil for other topics.
  package var manifestKey: String?
  /// One `NAME=VALUE` per name, sorted.
  package var set: [String] = []
  package var only: [String] = []
  package var skip: [String] = []
  package var rerun: [String] = []
  /// Of `wait`: selectors; empty for the whole run.
  package var waitsFor: [String] = []
  /// Of `run`.
  package var resumesNewest = false
  package var isDryRun = false
  package var maxParallel: UInt32?
  /// Of a dry run: all numbers of `-j`; the first is also `maxParallel`.
  package var capacities: [UInt32] = []
  package var maxFailures: UInt32?
  package var ifRunning: IfRunning?
  package var memory = MemoryPolicy.warn
  /// Of `run`.
  package var watchesFiles = false
  package var output: OutputMode?
  package var json = false
  package var verbose = false
  package var follows = false
  /// Of `status`.
  package var watches = false
  package var durability: Durability = .group
  package var on: [NodeRequest] = []
  /// Whether `--on` was given, even as `local`.
  package var saysPlace = false
  /// `--queue-timeout`, in the manifest's format.
  package var queueTimeout: String?
  package var takesOver = false
  /// A folder.
  package var cache: String?
  package var writesCache = false
  package var usesCache = true
  /// An inherited end of a socket pair.
  package var controlDescriptor: Int32?
  /// `--for-queue`: a resume for the library.
  package var isForQueue = false
  /// Of `clean`, per manifest.
  package var keep: UInt32?
  /// Of `clean`, in the manifest's format.
  package var olderThan: String?

  package init(_ command: Command?) { self.command = command }
}

package struct ViewArguments: Equatable, Sendable {
  package var directory: String?
  package var stateDirectory: String?
  package var color: ColorChoice = .auto
  package init() {}
}

package enum ColorChoice: String, CaseIterable, Sendable {
  case auto, always, never
}

package enum JournalAction: String, CaseIterable, Sendable {
  case verify, export, repair
}

package enum ReportKind: String, CaseIterable, Sendable {
  case junit, trace, html, otel
}

package enum GraphFormat: String, CaseIterable, Sendable {
  case text, dot, mermaid, svg

  /// The extension of a format that `graph` does not write.
  package static func foreign(ofFile path: String) -> String? {
    let name = path.lowercased()
    return ["png", "pdf", "jpg", "jpeg", "gif", "webp"].first { name.hasSuffix(".\($0)") }
  }

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

enum CICommands: String, CaseIterable {
  case on, off
}
