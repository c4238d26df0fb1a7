internal import OpflowSystem

/// The control groups of a drive: one for each worker and all below it, within one for the drive, so
/// that the drive counts as one where groups share out a processor. There are none on many machines. Where
/// tasks have a `memory_limit`, each worker makes a further group beside its own for such a task
/// (`MemoryGroup`).
///
/// Their names tell the run, so that a resume finds what a dead drive left in them, also what shed
/// the run's mark and its worker's session.
struct RunGroups: ~Copyable {
  /// Where they are; nil where there can be none.
  private let home: String?
  private let folder: String?
  private let own: KillGroup?
  private let delegation: MemoryDelegation?

  /// Makes that of a drive of `run` by this process.
  ///
  /// - Parameter delegation: shares out memory to the drive's groups.
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

  /// Removes that of this drive.
  func remove() {
    if let folder { Self.remove(folder) }
  }

  /// Removes the empty ones of any drive that died and was not resumed.
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

  /// The groups that earlier drives of `run` left.
  static func left(by run: String) -> [String] {
    guard let home = MemoryDelegation.home, let names = try? Path.names(in: home) else { return [] }
    return names.filter { $0.hasPrefix(prefix(run)) }.map { "\(home)/\($0)" }
  }

  /// Removes a drive's group and those in it, as far as nothing is left in them.
  static func remove(_ folder: String) {
    if KillGroup.remove(folder) { return }
    for name in (try? Path.names(in: folder)) ?? [] where name.first?.isNumber == true {
      if KillGroup.remove("\(folder)/\(name)") { continue }
      // A task that ran a drive of its own, which died, has the groups of that in its own.
      removeAbandoned(in: "\(folder)/\(name)")
      KillGroup.remove("\(folder)/\(name)")
    }
    KillGroup.remove(folder)
  }
}
