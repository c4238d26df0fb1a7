internal import OpflowCore
internal import OpflowSystem

/// Looks whether the run that an agent is to work for is to be seen on its machine. On a network's file
/// system that may take some seconds after another machine wrote it.
struct AgentOpeningLook {
  enum Finding {
    case found(RunFolder)
    case notYet
    /// Why, for people.
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
    do throws(Errno) {
      // Its names anew: what a network's file system remembers of them may be old.
      _ = try Path.names(in: folder.path)
      let file = try MappedFile(folder.plan)
      do throws(PlanError) {
        let plan = try Plan(bytes: file.bytes, checksum: false, release: MappedFile.unmap)
        guard plan.key.description == opening.planKey else {
          return now < until
            ? .notYet
            : .unusable("\(folder.plan) is another plan than the run's: \(plan.key)")
        }
        return .found(folder)
      } catch {
        return .unusable("\(folder.plan) is no plan that this opflow can use: \(error.message)")
      }
    } catch {
      guard now >= until else { return .notYet }
      return .unusable(
        "the run's folder \(folder.path) cannot be used here: \(error) (it must be on a file system"
          + " that all machines see)")
    }
  }
}
