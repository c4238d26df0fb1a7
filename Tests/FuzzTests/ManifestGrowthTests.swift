import FuzzEntries
import Testing

@testable import OpflowManifest

/// Checks that costs do not grow faster than the manifest: each key alone, and shared keys together
/// with keys of each task. `scripts/stress growth` tries pairs of keys.
struct ManifestGrowthTests {
  @Test(arguments: ManifestGrowth.all)
  func `the cost of a manifest grows as its size does`(_ growth: ManifestGrowth) throws {
    try GrowthCheck.check([growth], count: 700)
  }

  /// Shared values must not be copied into tasks that add some.
  @Test(arguments: ["manifest.env", "manifest.env_file", "defaults.env", "manifest.vars"])
  func `what tasks share is kept once beside what each has`(_ key: String) throws {
    let shared = try #require(ManifestGrowth.all.first { $0.key == key })
    let own = try #require(ManifestGrowth.all.first { $0.description == "task.env (of each)" })
    try GrowthCheck.check([shared, own], count: 700)
  }

  /// Fails if a new key has no measurement.
  @Test func `there is a growth for each key that may hold ever more`() {
    let keys = Set(ManifestGrowth.all.map(\.key))
    for map in KeyMap.allCases {
      for row in map.keys where row.takes.grows {
        let name = "\(map.rawValue).\(row.name)"
        #expect(keys.contains(name) || Self.without.contains(name), "\(name)")
      }
    }
  }

  /// Keys that are read like measured ones, or have one short value.
  private static let without: Set<String> = [
    "task.block", "defaults.shell", "service.ports", "service.ready", "ready.exec",
    "ready.file", "ready.http", "ready.log", "need.task", "include.path", "include.as",
    "download.url", "download.to", "axis.glob", "axis.after", "rows.after", "secret.env",
    "secret.file", "cache.links", "manifest.defaults", "defaults.resources", "defaults.dir",
    "defaults.retry", "defaults.stop", "task.retry", "task.stop", "task.priority",
  ]
}

extension ValueShape {
  /// True if values may have any length.
  fileprivate var grows: Bool {
    switch self {
    case .text, .line, .script, .scalar, .expression, .id, .address, .command, .list, .nested,
      .entries, .map:
      true
    case .either(let shapes): shapes.contains { $0.grows }
    default: false
    }
  }
}
