internal import OpflowBase

/// A Slurm allocation.
package struct SlurmJob: Equatable, Sendable {
  package struct Node: Equatable, Sendable {
    package let name: String
    package let cpus: UInt64
  }
  package let id: Int64
  package let nodes: [Node]
  private let nodeList: String
  private let cpuList: String

  /// - Parameters:
  ///   - nodes: SLURM_JOB_NODELIST.
  ///   - cpus: SLURM_JOB_CPUS_PER_NODE.
  package init?(id: Int64, nodes: String, cpus: String) {
    guard id > 0, let names = NodeList.names(nodes), let counts = NodeList.counts(cpus),
      names.count == counts.count, counts.allSatisfy({ $0 > 0 })
    else { return nil }
    self.id = id
    (nodeList, cpuList) = (nodes, cpus)
    self.nodes = zip(names, counts).map { Node(name: $0, cpus: $1) }
  }

  /// The words that start an agent on the node.
  ///
  /// `--overlap` keeps the node usable while a lost agent has its step or a task uses srun.
  /// `--export=ALL` passes the environment on after `sbatch --export=NONE` too.
  package func transport(to node: Node) -> [String] {
    [
      // Would number each line; no option disables it.
      "env", "-u", "SLURM_LABELIO",
      // Otherwise a task's own srun would see this node only.
      "SLURM_JOB_ID=\(id)", "SLURM_JOB_NODELIST=\(nodeList)", "SLURM_JOB_NUM_NODES=\(nodes.count)",
      "SLURM_JOB_CPUS_PER_NODE=\(cpuList)",
      "srun", "--quiet", "--jobid=\(id)", "--nodes=1", "--ntasks=1", "--nodelist=\(node.name)",
      "--exact", "--cpus-per-task=\(node.cpus)", "--mem=0", "--overlap", "--export=ALL",
      "--input=all", "--output=all", "--error=all",
    ]
  }

  /// Kills an agent's step, even a stopped one. Nil for a step of another job: without a step,
  /// scancel would kill the whole job.
  package func killWords(job: String, step: String) -> [String]? {
    let isNumber = step.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    guard job == "\(id)", isNumber, !step.isEmpty else { return nil }
    return ["scancel", "--signal=KILL", "\(job).\(step)"]
  }
}

package enum SlurmQuery {
  /// For state, remaining time and pending reason.
  package static func words(job: Int64) -> [String] {
    ["squeue", "--noheader", "--states=all", "--jobs=\(job)", "--format=%T|%L|%r"]
  }

  package struct Answer: Equatable, Sendable {
    package enum State: Equatable, Sendable {
      case pending, running
      /// Ended, or will never run.
      case over
    }
    package let state: State
    /// In Slurm's spelling, such as `TIMEOUT`.
    package let word: String
    /// Nil if unlimited or unknown.
    package let secondsLeft: Int64?
    /// Such as `Resources`.
    package let reason: String?
  }

  package static func answer(_ line: String) -> Answer? {
    let parts = line.split(separator: "|", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3 else { return nil }
    let state: Answer.State
    switch parts[0] {
    case "PENDING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT", "CONFIGURING":
      state = .pending
    case "RUNNING", "SUSPENDED", "STOPPED", "SIGNALING", "RESIZING", "STAGE_OUT": state = .running
    case "": return nil
    default: state = .over
    }
    let reason = String(parts[2])
    return Answer(
      state: state, word: String(parts[0]), secondsLeft: seconds(parts[1].utf8),
      reason: reason.isEmpty || reason == "None" ? nil : reason)
  }

  /// `M:SS`, `H:MM:SS` or `D-HH:MM:SS`; nil for words such as `UNLIMITED`.
  static func seconds(_ text: Substring.UTF8View) -> Int64? {
    var days: Int64 = 0
    var clock = text
    if let dash = text.firstIndex(of: UInt8(ascii: "-")) {
      guard let number = Field.number(text[..<dash], as: Int64.self), number < 1 << 32 else {
        return nil
      }
      days = number
      clock = text[text.index(after: dash)...]
    }
    var seconds: Int64 = 0
    let parts = clock.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    guard parts.count >= 2, parts.count <= 3 else { return nil }
    for part in parts {
      guard let number = Field.number(part, as: Int64.self), number >= 0, number < 1 << 32 else {
        return nil
      }
      seconds = seconds * 60 + number
    }
    return days * 86_400 + seconds
  }
}

/// Requests an allocation by salloc.
///
/// salloc holds it while a program runs. This one reads its input to the end and then cancels the
/// job, in case salloc was killed. So the allocation ends with the pipe; with `--no-shell` nothing
/// would release it.
package enum SlurmAsking {
  private static let mark = "opflow-allocation"

  package static func words(options: [String]) -> [String] {
    let facts = #"printf '\#(mark)\t%s\t%s\t%s\n'"#
    // Otherwise salloc continues after Slurm has revoked the allocation.
    return ["salloc", "--kill-command=KILL"] + options + [
      "sh", "-c",
      #"\#(facts) "$SLURM_JOB_ID" "$SLURM_JOB_NODELIST" "$SLURM_JOB_CPUS_PER_NODE"; cat >&2; "#
        + #"exec scancel --quiet "$SLURM_JOB_ID""#,
    ]
  }

  package static func facts(_ line: String) -> (job: Int64, nodes: String, cpus: String)? {
    let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
    guard fields.count == 4, fields[0] == mark,
      let job = Field.number(fields[1].utf8, as: Int64.self)
    else { return nil }
    return (job, String(fields[2]), String(fields[3]))
  }

  package static func job(_ line: String) -> Int64? {
    for beginning in ["salloc: Pending job allocation ", "salloc: Granted job allocation "]
    where line.hasPrefix(beginning) {
      return Field.number(line.utf8.dropFirst(beginning.utf8.count), as: Int64.self)
    }
    return nil
  }

  /// From a line of standard error; nil for progress.
  package static func complaint(_ line: String) -> String? {
    guard job(line) == nil, !line.isEmpty else { return nil }
    let isOfCourse = [
      "queued and waiting for resources", "has been allocated resources", "Relinquishing job",
      "Waiting for resource configuration", "are ready for job",
    ].contains { line.contains($0) }
    if isOfCourse { return nil }
    var text = line[...]
    for word in ["salloc: ", "error: "] where text.hasPrefix(word) {
      text = text.dropFirst(word.count)
    }
    return String(text)
  }
}
