internal import OpflowBase
internal import OpflowPlan
internal import OpflowSystem

/// The proxies of one task: libcurl reads this process's environment, but not the manifest's `env`.
struct ProxySettings {
  private static let names = [
    "http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY",
  ]

  private var values: [String: String] = [:]

  /// `late` overrides the plan's values, by index.
  init(_ plan: Plan, _ task: TaskID, _ late: [Int: [UInt8]] = [:]) {
    for item in plan.environmentList(plan.record(task).environment) {
      let name = plan.string(item.name)
      if Self.names.contains(name) {
        values[name] =
          item.place.flatMap { late[$0] }.map { String(decoding: $0, as: UTF8.self) }
          ?? plan.string(item.value)
      }
    }
  }

  private func first(_ names: [String]) -> String? {
    for name in names {
      if let value = values[name] ?? Environment.value(name) { return value }
    }
    return nil
  }

  /// nil if libcurl should use the environment, like curl(1).
  func proxy(for scheme: WebAddress.Scheme) -> String? {
    if values.isEmpty { return nil }
    switch scheme {
    case .file: return nil
    // HTTP_PROXY is ignored: in a CGI program, a request header sets it.
    case .http: return first(["http_proxy", "all_proxy", "ALL_PROXY"]) ?? ""
    case .https: return first(["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]) ?? ""
    }
  }

  var exceptions: String? { values.isEmpty ? nil : first(["no_proxy", "NO_PROXY"]) ?? "" }
}
