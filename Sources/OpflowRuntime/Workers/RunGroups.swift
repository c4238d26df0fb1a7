internal import OpflowSystem

/// The cgroups of a session, if the machine has them: one per worker with its processes, inside one
/// for the session, which then counts as one when groups share a processor. For a task with
/// `memory_limit` the worker makes another group beside its own (`MemoryGroup`). Their names
/// contain the run's ID, so that a resume finds even processes that shed the run's mark and the
/// worker's session.
struct RunGroups: ~Copyable {
  /// nil without cgroups.
  private let home: String?
  private let folder: String?
  private let own: KillGroup?
  private let delegation: MemoryDelegation?

  /// `delegation` passes the memory controller on to the session's groups.
  init(run: String, delegation: consuming MemoryDelegation? = nil) {
    home = MemoryDelegation.home
    folder = home.map { "\($0)/\(Self.prefix(run))\(ProcessID.own)" }
    if let folder { own = KillGroup.make(folder) } else { own = nil }
    if delegation != nil, let folder { _ = MemoryDelegation.enable(folder) }
    self.delegation = delegation
  }

  func make(_ number: Int32) -> KillGroup? {
    guard own != nil, let folder else { return nil }
    return KillGroup.make("\(folder)/\(number)", hasOthersBeside: delegation != nil)
  }

  func remove() {
    if let folder { Self.remove(folder) }
  }

  /// Empty groups of dead sessions of any run.
  func removeAbandoned() {
    if let home { Self.removeAbandoned(in: home) }
  }

  private static func removeAbandoned(in home: String) {
    for name in (try? Path.names(in: home)) ?? [] where name.hasPrefix(family) {
      let driver = name.utf8.lastIndex(of: UInt8(ascii: "-")).map { name[$0...].dropFirst() }
      guard let driver, let pid = Int32(driver), ProcessStatus.read(pid) == nil else { continue }
      remove("\(home)/\(name)")
    }
  }

  private static let family = "opflow-"

  private static func prefix(_ run: String) -> String { "\(family)\(run)-" }

  /// Of earlier sessions.
  static func left(by run: String) -> [String] {
    guard let home = MemoryDelegation.home, let names = try? Path.names(in: home) else { return [] }
    return names.filter { $0.hasPrefix(prefix(run)) }.map { "\(home)/\($0)" }
  }

  /// A session's group and those in it, if they are empty.
  static func remove(_ folder: String) {
    if KillGroup.remove(folder) { return }
    for name in (try? Path.names(in: folder)) ?? [] where name.first?.isNumber == true {
      if KillGroup.remove("\(folder)/\(name)") { continue }
      // The worker's group may contain groups of a dead session that its task ran.
      removeAbandoned(in: "\(folder)/\(name)")
      KillGroup.remove("\(folder)/\(name)")
    }
    KillGroup.remove(folder)
  }
}
