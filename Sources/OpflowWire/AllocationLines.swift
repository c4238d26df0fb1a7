package import OpflowBase

// The lines of a keeper
// =====================
//
// A process, the keeper, holds a Slurm allocation for the coordinator and waits for Slurm in its
// place. Fields are separated by TAB.
//
//     pending JOB REASON
//     granted JOB SECONDS NODES CPUS
//     left SECONDS
//     over TEXT
//
// SECONDS is the rest of the job's time limit, or a dash. REASON is Slurm's word for why the job
// waits, or empty. NODES and CPUS are in Slurm's notation. `over` comes last: there is no
// allocation, or no longer one. The keeper reads no messages; the end of its input releases the
// allocation.

package enum AllocationLines {
  /// With the line feed. Node lists may be long.
  package static let longestLineBytes = 65_536

  package enum Report: Equatable, Sendable {
    case pending(job: Int64, reason: String?)
    case granted(SlurmJob, secondsLeft: Int64?)
    case left(seconds: Int64?)
    case over(complaint: String)
  }

  package static func pending(_ job: Int64, _ reason: String?, into writer: inout FieldWriter) {
    writer.raw("pending\t")
    writer.number(job)
    writer.tab()
    writer.escaped(reason ?? "")
    writer.endLine()
  }

  package static func granted(
    _ job: Int64, secondsLeft: Int64?, nodes: String, cpus: String, into writer: inout FieldWriter
  ) {
    writer.raw("granted\t")
    writer.number(job)
    writer.tab()
    seconds(secondsLeft, into: &writer)
    writer.tab()
    writer.escaped(nodes)
    writer.tab()
    writer.escaped(cpus)
    writer.endLine()
  }

  package static func left(seconds left: Int64?, into writer: inout FieldWriter) {
    writer.raw("left\t")
    seconds(left, into: &writer)
    writer.endLine()
  }

  package static func over(_ complaint: String, into writer: inout FieldWriter) {
    writer.raw("over\t")
    writer.escaped(complaint)
    writer.endLine()
  }

  private static func seconds(_ seconds: Int64?, into writer: inout FieldWriter) {
    if let seconds { writer.number(seconds) } else { writer.raw("-") }
  }

  /// Without its line feed.
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
