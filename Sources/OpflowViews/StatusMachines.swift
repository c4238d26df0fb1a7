package import OpflowCore

package struct StatusMachines {
  let status: RunStatus

  private static let mostColumns = 200
  private static let mostOthers = 3

  init(_ status: RunStatus) { self.status = status }

  private var sites: [SiteRecord] {
    Array(status.history.sites.of(drive: status.history.drives))
  }

  /// What the run waits for, the nodes in use, and what became of the others.
  var lines: [String] {
    var lines: [String] = []
    if status.state == .running, let awaited = status.awaited {
      lines.append("waits: \(CleanText.string(awaited))")
    }
    let sites = sites
    if sites.isEmpty { return lines }
    var inUse: Set<String> = []
    let hosts = sites.filter(\.isInUse).map(\.offer.host).filter { inUse.insert($0).inserted }
    lines.append("machines: \(MachineText.list(hosts, columns: Self.mostColumns))")
    // Of a node that came back, only the newest record counts.
    let others = sites.filter { !$0.isInUse && !inUse.contains($0.offer.host) }
    for site in others.suffix(Self.mostOthers) { lines.append("  \(Self.text(site))") }
    if others.count > Self.mostOthers {
      lines.append("  … and \(others.count - Self.mostOthers) more that are not in use")
    }
    return lines
  }

  /// `n2 is lost (nothing was heard of it in time)`
  package static func text(_ site: SiteRecord) -> String {
    let what = CleanText.string(site.what)
    return "\(MachineText.name(site.offer.host)) \(word(site.state))"
      + (what.isEmpty ? "" : " (\(what))")
  }

  package static func word(_ state: SiteState) -> String {
    switch state {
    case .joined: "is in use"
    case .readmitted: "is used again"
    case .leaving: "is about to go"
    case .shunned: "gets nothing more"
    case .silent: "says nothing"
    case .lost: "is lost"
    }
  }
}
