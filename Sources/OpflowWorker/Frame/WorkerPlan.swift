package import OpflowPlan
internal import OpflowSystem

/// The plan of the run. Tasks may be added to the end of its file (`PlanGrowth`); existing tasks do
/// not change.
package final class WorkerPlan {
  package private(set) var current: Plan
  /// nil for a plan without a file.
  private let path: String?
  private var mapping: SharedMapping?

  /// A plan that does not grow.
  package init(_ plan: Plan) {
    current = plan
    path = nil
  }

  init(at path: String) throws(WorkerFailure) {
    self.path = path
    let mapping = try Self.map(path)
    self.mapping = mapping
    current = try Self.open(mapping, path)
  }

  /// nil without a file.
  var runFolder: String? { path.map { Path.parent(of: $0) } }

  /// Reopens the file if `last`, the highest task that a command names, is unknown. The coordinator
  /// names a task, or a dependent of matrix tasks, only after they are in the file.
  func extend(to last: TaskID) {
    guard !last.isNone, last.index >= current.taskCount || current.lacksLegs(last), let path,
      let mapping = mapped(path), let grown = try? Self.open(mapping, path),
      grown.key == current.key,
      grown.taskCount > current.taskCount
    else { return }
    current = grown
    self.mapping = mapping
  }

  /// Reuses a mapping that already shows the new content.
  private func mapped(_ path: String) -> SharedMapping? {
    if let mapping, let status = try? Path.status(path), mapping.isAll(of: status) {
      return mapping
    }
    return try? Self.map(path)
  }

  private static func map(_ path: String) throws(WorkerFailure) -> SharedMapping {
    try WorkerFailure.naming("cannot open \(path)") { () throws(Errno) in
      try SharedMapping(File.openRegular(path, .readOnly), at: path)
    }
  }

  private static func open(
    _ mapping: SharedMapping, _ path: String
  ) throws(WorkerFailure) -> Plan {
    do throws(PlanError) {
      return try Plan(bytes: mapping.bytes, checksum: false, release: mapping.release)
    } catch {
      throw WorkerFailure(
        what: "\(path) is no plan that this opflow can use: \(error.message)")
    }
  }
}
