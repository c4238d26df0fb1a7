/// Limits of the control groups that a process is in (cgroups(7)), of both versions.
///
/// A limit anywhere above counts too, so each folder from the group's own up to the root is read and
/// the tightest limit taken.
struct ControlGroup: Sendable {
  /// Folders of the second version's group and those above it.
  private let unified: [String]
  private let processorFolders: [String]
  private let memoryFolders: [String]

  /// That of this process, as it was when it was first asked for.
  static let current: ControlGroup = {
    let groups = (try? File.read("/proc/self/cgroup")) ?? []
    return ControlGroup(groups: String(decoding: groups, as: UTF8.self), root: "/sys/fs/cgroup")
  }()

  /// `groups` is the text of /proc/PID/cgroup: `NUMBER:CONTROLLERS:PATH` each line.
  init(groups: String, root: String) {
    var unified: [String] = []
    var processor: [String] = []
    var memory: [String] = []
    for line in groups.split(separator: "\n") {
      let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count == 3 else { continue }
      let path = String(parts[2])
      if parts[1].isEmpty {
        unified = Self.folders(root, path) + Self.folders(root + "/unified", path)
        continue
      }
      let controllers = parts[1].split(separator: ",")
      if controllers.contains("cpu") {
        processor =
          Self.folders(root + "/" + String(parts[1]), path) + Self.folders(root + "/cpu", path)
      }
      if controllers.contains("memory") { memory = Self.folders(root + "/memory", path) }
    }
    self.unified = unified
    self.processorFolders = processor
    self.memoryFolders = memory
  }

  /// Whole processors, rounded up; nil for no quota.
  var processorQuota: Int? {
    var quotas: [Int] = []
    for folder in unified {
      // `max 100000` or `QUOTA PERIOD`
      let words = Self.text(folder + "/cpu.max").split(separator: " ")
      if words.count == 2, let quota = Int(words[0]), let period = Int(words[1]) {
        quotas.append(Self.processors(quota: quota, period: period))
      }
    }
    for folder in processorFolders {
      if let quota = Int(Self.text(folder + "/cpu.cfs_quota_us")), quota > 0,
        let period = Int(Self.text(folder + "/cpu.cfs_period_us"))
      {
        quotas.append(Self.processors(quota: quota, period: period))
      }
    }
    return quotas.min()
  }

  /// nil for no limit.
  var memoryLimitBytes: UInt64? {
    // "max" is no number; the first version writes a huge one, which the machine's memory cuts.
    let limits =
      unified.compactMap { UInt64(Self.text($0 + "/memory.max")) }
      + memoryFolders.compactMap { UInt64(Self.text($0 + "/memory.limit_in_bytes")) }
    return limits.min()
  }

  private static func processors(quota: Int, period: Int) -> Int {
    guard quota > 0, period > 0 else { return .max }
    return max(1, (quota - 1) / period + 1)
  }

  /// The folder of `path` below `mount`, and all between the two. A container may see itself at the
  /// mount's root whatever its path says; that folder is always among them.
  private static func folders(_ mount: String, _ path: String) -> [String] {
    var folders = [mount]
    for part in path.split(separator: "/") where part != ".." {
      folders.append((folders.last ?? mount) + "/" + String(part))
    }
    return folders
  }

  private static func text(_ path: String) -> String {
    guard let bytes = try? File.read(path) else { return "" }
    return String(decoding: bytes.prefix { $0 != 10 }, as: UTF8.self)
  }
}
