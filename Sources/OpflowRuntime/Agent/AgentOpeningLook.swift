internal import OpflowBase
internal import OpflowPlan
internal import OpflowSystem
internal import OpflowWire

/// Waits for the run's folder to appear. A network file system may take seconds to show what
/// another machine wrote.
struct AgentOpeningLook {
  enum Finding {
    case found(RunFolder)
    case notYet
    case unusable(String)
  }

  let opening: AgentOpening
  private let until: Instant
  private(set) var nextLook: Instant

  private static let intervalMilliseconds: Int64 = 100

  init(_ opening: AgentOpening, from now: Instant) {
    self.opening = opening
    until = now.advanced(byMilliseconds: opening.leaseMilliseconds)
    nextLook = now
  }

  mutating func lookAgain(after now: Instant) {
    nextLook = now.advanced(byMilliseconds: Self.intervalMilliseconds)
  }

  func look(at now: Instant) -> Finding {
    guard let id = RunID(opening.run) else { return .unusable("\(opening.run) is no run") }
    let folder = RunFolder(id: id, path: opening.folder)
    do throws(RunFolderError) {
      // Listing makes a network file system drop cached names.
      _ = try doing("read", folder.path) { () throws(Errno) in try Path.names(in: folder.path) }
      let plan = try folder.mapPlan()
      if plan.key.description == opening.planKey { return .found(folder) }
      return now < until
        ? .notYet : .unusable("\(folder.plan) is another plan than the run's: \(plan.key)")
    } catch .plan(_, let error) {
      return .unusable("\(folder.plan) is no plan that this opflow can use: \(error.message)")
    } catch .file(_, _, let error) where now >= until {
      return .unusable(
        "the run's folder \(folder.path) cannot be used here: \(error) (it must be on a file system"
          + " that all machines see)")
    } catch {
      return .notYet
    }
  }
}
