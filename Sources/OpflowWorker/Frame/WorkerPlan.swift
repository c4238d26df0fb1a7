package import OpflowCore
internal import OpflowSystem

/// The plan of a worker's run, which may have grown since the worker opened it: tasks are added at its end
/// (`PlanGrowth`), and all that was there stays as it was.
package final class WorkerPlan {
  package private(set) var current: Plan
  /// Nil where there is no file to look into.
  private let path: String?
  private var mapping: SharedMapping?

  /// One that does not grow.
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

  /// Of the run; nil where there is no file.
  var runFolder: String? { path.map { Path.parent(of: $0) } }

  /// Opens the file anew where it may have tasks that are not known here yet: an order speaks of none before they
  /// stand there. Nor does it of one that needs legs before these do.
  ///
  /// - Parameter last: the number of the last task that is spoken of.
  func extend(to last: TaskID) {
    guard !last.isNone, last.index >= current.taskCount || current.lacksLegs(last), let path,
      let mapping = mapped(path), let grown = try? Self.open(mapping, path),
      grown.key == current.key,
      grown.taskCount > current.taskCount
    else { return }
    current = grown
    self.mapping = mapping
  }

  /// What is mapped already shows what was written into the same file.
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
