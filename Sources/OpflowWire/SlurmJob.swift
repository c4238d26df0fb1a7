package import OpflowBase

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

  /// Returns the command that starts an agent on the node.
  ///
  /// `--overlap` keeps the node usable while a lost agent has its step or a task uses srun.
  /// `--export=ALL` passes the environment on even after `sbatch --export=NONE`.
  package func transport(to node: Node) -> [String] {
    [
      // SLURM_LABELIO would number each line; no option disables it.
      "env", "-u", "SLURM_LABELIO",
      // A task's own srun would see only this node without these variables.
      "SLURM_JOB_ID=\(id)", "SLURM_JOB_NODELIST=\(nodeList)", "SLURM_JOB_NUM_NODES=\(nodes.count)",
      "SLURM_JOB_CPUS_PER_NODE=\(cpuList)", "srun", "--quiet", "--jobid=\(id)", "--nodes=1",
      "--ntasks=1", "--nodelist=\(node.name)", "--exact", "--cpus-per-task=\(node.cpus)", "--mem=0",
      "--overlap", "--export=ALL", "--input=all", "--output=all", "--error=all",
    ]
  }

  /// Kills an agent's step, even if stopped. nil for a step of another job: without a step, scancel
  /// would kill the whole job.
  package func killWords(job: String, step: String) -> [String]? {
    let isNumber = step.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    guard job == "\(id)", isNumber, !step.isEmpty else { return nil }
    return ["scancel", "--signal=KILL", "\(job).\(step)"]
  }
}

package enum SlurmQuery {
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
    /// nil if unlimited or unknown.
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

/// Requests an allocation by salloc, which holds it while a program runs. The program reads its
/// input to the end and then cancels the job, in case salloc was killed. So the allocation ends
/// with the pipe; with `--no-shell` nothing would release it.
package enum SlurmAsking {
  private static let mark = "opflow-allocation"

  package static func words(options: [String]) -> [String] {
    let facts = #"printf '\#(mark)\t%s\t%s\t%s\n'"#
    // Without this, salloc continues after Slurm has revoked the allocation.
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

  /// Returns the message of a standard error line; nil for progress.
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

/// Parses Slurm's lists of nodes: `n[1-3,07],login`. Numbers keep leading zeros.
package enum NodeList {
  /// Limits the work for a damaged list.
  static let mostNodes = 65_536

  /// In Slurm's order; nil if malformed.
  package static func names(_ text: String) -> [String]? {
    var names: [String] = []
    for part in split(text.utf8) {
      guard let some = expand(part), names.count + some.count <= mostNodes else { return nil }
      names += some.map { String(decoding: $0, as: UTF8.self) }
    }
    return names.isEmpty ? nil : names
  }

  private static func split(_ text: String.UTF8View) -> [Substring.UTF8View] {
    var isInBrackets = false
    return text.split(omittingEmptySubsequences: false) { byte in
      if byte == UInt8(ascii: "[") { isInBrackets = true }
      if byte == UInt8(ascii: "]") { isInBrackets = false }
      return byte == UInt8(ascii: ",") && !isInBrackets
    }
  }

  /// The last brackets vary fastest.
  private static func expand(_ part: Substring.UTF8View) -> [[UInt8]]? {
    guard let open = part.firstIndex(of: UInt8(ascii: "[")) else {
      let isName = !part.isEmpty && part.allSatisfy { $0 > 0x20 && $0 != UInt8(ascii: "]") }
      return isName ? [Array(part)] : nil
    }
    guard let close = part[open...].firstIndex(of: UInt8(ascii: "]")) else { return nil }
    let before = Array(part[..<open])
    let rest = part[part.index(after: close)...]
    guard let numbers = numbers(part[part.index(after: open)..<close]),
      let ends = rest.isEmpty ? [[]] : expand(rest), numbers.count <= mostNodes / ends.count
    else { return nil }
    return numbers.flatMap { number in ends.map { before + number + $0 } }
  }

  private static func numbers(_ text: Substring.UTF8View) -> [[UInt8]]? {
    var numbers: [[UInt8]] = []
    for range in text.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
      let ends = range.split(
        separator: UInt8(ascii: "-"), maxSplits: 1, omittingEmptySubsequences: false)
      guard let first = ends.first, let last = ends.last,
        let from = Field.number(first, as: Int.self), from >= 0,
        let to = Field.number(last, as: Int.self), to >= from, to - from < mostNodes - numbers.count
      else { return nil }
      for number in from...to {
        let digits = Array(String(number).utf8)
        let zeros = max(0, first.count - digits.count)
        numbers.append([UInt8](repeating: UInt8(ascii: "0"), count: zeros) + digits)
      }
    }
    return numbers.isEmpty ? nil : numbers
  }

  /// `4(x3),2`, one number per node; nil if malformed.
  package static func counts(_ text: String) -> [UInt64]? {
    var counts: [UInt64] = []
    for part in text.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
      guard let open = part.firstIndex(of: UInt8(ascii: "(")) else {
        guard let count = Field.number(part, as: UInt64.self) else { return nil }
        counts.append(count)
        continue
      }
      let times = part[open...].dropFirst()
      guard let count = Field.number(part[..<open], as: UInt64.self),
        times.first == UInt8(ascii: "x"), times.last == UInt8(ascii: ")"),
        let number = Field.number(times.dropFirst().dropLast(), as: Int.self), number > 0,
        number <= mostNodes - counts.count
      else { return nil }
      counts += [UInt64](repeating: count, count: number)
    }
    return counts.isEmpty ? nil : counts
  }
}

// The lines of a keeper
// =====================
//
// The keeper, a process, holds a Slurm allocation for the coordinator and waits for Slurm in its
// place. Fields are separated by TAB.
//
//     pending JOB REASON
//     granted JOB SECONDS NODES CPUS
//     left SECONDS
//     over TEXT
//
// SECONDS is the rest of the job's time limit, or a dash. REASON is Slurm's word for why the job
// waits, or empty. NODES and CPUS are in Slurm's notation. `over` comes last: no allocation came,
// or it has ended. The keeper reads no messages; the end of its input releases the allocation.

package enum AllocationLines {
  /// Includes the line feed. Node lists may be long.
  package static let longestLineBytes = 65_536

  package enum Report: Equatable, Sendable {
    case pending(job: Int64, reason: String?)
    case granted(SlurmJob, secondsLeft: Int64?)
    case left(seconds: Int64?)
    case over(complaint: String)
  }

  package static func pending(_ job: Int64, _ reason: String?, into writer: inout FieldWriter) {
    writer.message("pending", job)
    writer.field(reason ?? "")
    writer.endLine()
  }

  package static func granted(
    _ job: Int64, secondsLeft: Int64?, nodes: String, cpus: String, into writer: inout FieldWriter
  ) {
    writer.message("granted", job)
    writer.numberOrDash(secondsLeft)
    writer.field(nodes)
    writer.field(cpus)
    writer.endLine()
  }

  package static func left(seconds left: Int64?, into writer: inout FieldWriter) {
    writer.raw("left")
    writer.numberOrDash(left)
    writer.endLine()
  }

  package static func over(_ complaint: String, into writer: inout FieldWriter) {
    writer.raw("over")
    writer.field(complaint)
    writer.endLine()
  }

  static func report(_ line: UnsafeRawBufferPointer) -> Report? {
    var fields = MessageFields(line)
    guard let first = fields.next(), let report = report(first, &fields), fields.isWholeMessage
    else { return nil }
    return report
  }

  private static func report(
    _ word: UnsafeRawBufferPointer, _ fields: inout MessageFields
  ) -> Report? {
    if word.equals("over") { return fields.text().map { .over(complaint: $0) } }
    if word.equals("left") {
      return fields.naturalOrNone(as: Int64.self).map { .left(seconds: $0) }
    }
    guard let number = fields.natural(as: Int64.self) else { return nil }
    if word.equals("pending") {
      return fields.text().map { .pending(job: number, reason: $0.isEmpty ? nil : $0) }
    }
    guard word.equals("granted"), let left = fields.naturalOrNone(as: Int64.self),
      let nodes = fields.text(),
      let cpus = fields.text(), let job = SlurmJob(id: number, nodes: nodes, cpus: cpus)
    else { return nil }
    return .granted(job, secondsLeft: left)
  }
}
