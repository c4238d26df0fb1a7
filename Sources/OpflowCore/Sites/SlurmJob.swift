/// An allocation that is there: its nodes, and how many processors of each are the job's.
package struct SlurmJob: Equatable, Sendable {
  package struct Node: Equatable, Sendable {
    package let name: String
    package let cpus: UInt64
  }
  package let id: Int64
  package let nodes: [Node]
  /// Both as Slurm writes them.
  private let nodeList: String
  private let cpuList: String

  /// - Parameters:
  ///   - nodes: as Slurm tells them in SLURM_JOB_NODELIST.
  ///   - cpus: as in SLURM_JOB_CPUS_PER_NODE.
  ///
  /// Returns: nil where one of them is no such list, or they do not agree.
  package init?(id: Int64, nodes: String, cpus: String) {
    guard id > 0, let names = NodeList.names(nodes), let counts = NodeList.counts(cpus),
      names.count == counts.count, counts.allSatisfy({ $0 > 0 })
    else { return nil }
    self.id = id
    (nodeList, cpuList) = (nodes, cpus)
    self.nodes = zip(names, counts).map { Node(name: $0, cpus: $1) }
  }

  /// What reaches an agent on the node with its standard input and output: these words and the agent's.
  ///
  /// With `--overlap` neither an agent that was lost and still has its step, nor this one for a task
  /// that uses srun itself, takes the node away. Environments that a job was given without an
  /// environment of the user (`sbatch --export=NONE`) are refused to steps where nothing is said.
  package func transport(to node: Node) -> [String] {
    [
      // No option undoes that each line begins with a task's number.
      "env", "-u", "SLURM_LABELIO",
      // As in the allocation: a task that uses srun itself could otherwise have this node alone.
      "SLURM_JOB_ID=\(id)", "SLURM_JOB_NODELIST=\(nodeList)", "SLURM_JOB_NUM_NODES=\(nodes.count)",
      "SLURM_JOB_CPUS_PER_NODE=\(cpuList)",
      "srun", "--quiet", "--jobid=\(id)", "--nodes=1", "--ntasks=1", "--nodelist=\(node.name)",
      "--exact", "--cpus-per-task=\(node.cpus)", "--mem=0", "--overlap", "--export=ALL",
      "--input=all", "--output=all", "--error=all",
    ]
  }

  /// Ends a step of this job for certain, at once: one that is only asked to end may be stopped.
  ///
  /// - Parameters: what an agent says that it is.
  /// - Returns: nil where that is no step of this job. Without the step's number all of the job would be ended.
  package func killWords(job: String, step: String) -> [String]? {
    let isNumber = step.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    guard job == "\(id)", isNumber, !step.isEmpty else { return nil }
    return ["scancel", "--signal=KILL", "\(job).\(step)"]
  }
}

/// What Slurm's programs are asked of a job, and what they answer.
package enum SlurmQuery {
  /// Its state, the reason for it, and the time that it has left.
  package static func words(job: Int64) -> [String] {
    ["squeue", "--noheader", "--states=all", "--jobs=\(job)", "--format=%T|%L|%r"]
  }

  package struct Answer: Equatable, Sendable {
    package enum State: Equatable, Sendable {
      case pending, running
      /// It will not run any more.
      case over
    }
    package let state: State
    /// As Slurm writes it, such as `TIMEOUT`.
    package let word: String
    /// In seconds; nil where there is no limit, or none is known.
    package let secondsLeft: Int64?
    /// One word, such as `Resources`; nil for none.
    package let reason: String?
  }

  /// The answer of a line; nil for what is none.
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

  /// Those of `M:SS`, `H:MM:SS` or `D-HH:MM:SS`; nil for a word, such as `UNLIMITED`.
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

/// How an allocation is asked for: salloc with the options of the user and no other.
///
/// It runs a program for as long as the allocation is wanted, and gives the allocation back when that
/// ends: here one that reads its standard input to the end, and then cancels the job, in case that
/// salloc was killed. So it is held by whoever has the other end, and by nothing that can be
/// forgotten. (With `--no-shell` nobody would hold it.)
package enum SlurmAsking {
  /// What stands before the facts of an allocation, which are told once it is there.
  private static let mark = "opflow-allocation"

  package static func words(options: [String]) -> [String] {
    let facts = #"printf '\#(mark)\t%s\t%s\t%s\n'"#
    // Without the option it would go on when Slurm has taken the allocation back.
    return ["salloc", "--kill-command=KILL"] + options + [
      "sh", "-c",
      #"\#(facts) "$SLURM_JOB_ID" "$SLURM_JOB_NODELIST" "$SLURM_JOB_CPUS_PER_NODE"; cat >&2; "#
        + #"exec scancel --quiet "$SLURM_JOB_ID""#,
    ]
  }

  /// The number, nodes and processors in a line of its standard output; nil for any other line.
  package static func facts(_ line: String) -> (job: Int64, nodes: String, cpus: String)? {
    let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
    guard fields.count == 4, fields[0] == mark,
      let job = Field.number(fields[1].utf8, as: Int64.self)
    else { return nil }
    return (job, String(fields[2]), String(fields[3]))
  }

  /// The number of the job in a line of its standard error that tells it.
  package static func job(_ line: String) -> Int64? {
    for beginning in ["salloc: Pending job allocation ", "salloc: Granted job allocation "]
    where line.hasPrefix(beginning) {
      return Field.number(line.utf8.dropFirst(beginning.utf8.count), as: Int64.self)
    }
    return nil
  }

  /// What a line says of why there is no allocation, or none any more; nil where it says nothing.
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
