import FuzzEntries
import Testing

@testable import OpflowManifest

/// Whether a manifest's cost grows faster than the manifest: each key alone, and what tasks share
/// beside what each of them has. `scripts/stress growth` tries any two keys together.
struct ManifestGrowthTests {
  @Test(arguments: ManifestGrowth.all)
  func `the cost of a manifest grows as its size does`(_ growth: ManifestGrowth) throws {
    try GrowthCheck.check([growth], count: 700)
  }

  /// What all tasks start from is not to be copied into those that add something.
  @Test(arguments: ["manifest.env", "manifest.env_file", "defaults.env", "manifest.vars"])
  func `what tasks share is kept once beside what each has`(_ key: String) throws {
    let shared = try #require(ManifestGrowth.all.first { $0.key == key })
    let own = try #require(ManifestGrowth.all.first { $0.description == "task.env (of each)" })
    try GrowthCheck.check([shared, own], count: 700)
  }

  /// A new key is to be measured too.
  @Test func `there is a growth for each key that may hold ever more`() {
    let keys = Set(ManifestGrowth.all.map(\.key))
    for map in KeyMap.allCases {
      for row in map.keys where row.takes.grows {
        let name = "\(map.rawValue).\(row.name)"
        #expect(keys.contains(name) || Self.without.contains(name), "\(name)")
      }
    }
  }

  /// Read as others that are measured, or for one value at a time.
  private static let without: Set<String> = [
    "task.block", "defaults.shell", "service.ports", "service.ready", "ready.exec",
    "ready.file", "ready.http", "ready.log", "need.task", "include.path", "include.as",
    "download.url", "download.to", "axis.glob", "axis.after", "rows.after", "secret.env",
    "secret.file", "cache.links", "manifest.defaults", "defaults.resources", "defaults.dir",
    "defaults.retry", "defaults.stop", "task.retry", "task.stop", "task.priority",
  ]
}

extension ValueShape {
  /// Whether a value may be ever longer.
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
