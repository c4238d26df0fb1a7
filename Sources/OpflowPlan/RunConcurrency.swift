/// What a run does while another run of its group is live.
package enum IfRunning: String, CaseIterable, Sendable {
  case wait, fail, allow

  var code: UInt32 {
    switch self {
    case .allow: 0
    case .wait: 1
    case .fail: 2
    }
  }

  init?(code: UInt32) {
    guard let found = Self.allCases.first(where: { $0.code == code }) else { return nil }
    self = found
  }
}

/// The concurrency group of a run.
package struct RunConcurrency: Equatable, Sendable {
  /// If empty, all runs of the manifest are the group.
  package var name: String
  package var ifRunning: IfRunning

  package init(name: String = "", ifRunning: IfRunning = .allow) {
    self.name = name
    self.ifRunning = ifRunning
  }
}

extension Plan {
  package var concurrency: RunConcurrency {
    RunConcurrency(
      name: string(manifest.group), ifRunning: IfRunning(code: manifest.ifRunning) ?? .allow)
  }
}
