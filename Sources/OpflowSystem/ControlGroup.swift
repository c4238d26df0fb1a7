/// The cgroup limits of a process, versions 1 and 2 (cgroups(7)). The tightest limit of the group
/// and its ancestors counts.
struct ControlGroup: Sendable {
  /// Below the cgroup root; nil without version 2.
  let unifiedPath: String?
  private let unified: [String]
  /// A controller that is in version 1 is ignored in version 2.
  private let processorFolders: [String]
  private let memoryFolders: [String]

  static let current: ControlGroup = {
    let groups = (try? File.read("/proc/self/cgroup")) ?? []
    return ControlGroup(groups: groups, root: "/sys/fs/cgroup")
  }()

  /// Parses /proc/PID/cgroup: lines `NUMBER:CONTROLLERS:PATH`.
  init(groups: [UInt8], root: String) {
    var unifiedPath: String?
    var unified: [String] = []
    var processor: [String] = []
    var memory: [String] = []
    var lines = groups[...]
    while let line = lines.takeField(before: UInt8(ascii: "\n")) {
      var path = line
      guard path.takeField(before: UInt8(ascii: ":")) != nil,
        let controllers = path.takeField(before: UInt8(ascii: ":")), !path.isEmpty
      else { continue }
      if controllers.isEmpty {
        unifiedPath = String(decoding: path, as: UTF8.self)
        unified = Self.folders(root, path) + Self.folders(root + "/unified", path)
        continue
      }
      var names = controllers
      while let name = names.takeField(before: UInt8(ascii: ",")) {
        if name.elementsEqual("cpu".utf8) {
          let folder = String(decoding: controllers, as: UTF8.self)
          processor = Self.folders(root + "/cpu", path)
          if folder != "cpu" { processor += Self.folders(root + "/" + folder, path) }
        }
        if name.elementsEqual("memory".utf8) { memory = Self.folders(root + "/memory", path) }
      }
    }
    self.unifiedPath = unifiedPath
    self.unified = unified
    self.processorFolders = processor
    self.memoryFolders = memory
  }

  /// Rounded up; nil if unlimited.
  var processorQuota: Int? {
    var quotas: [Int] = []
    for folder in processorFolders.isEmpty ? unified : [] {
      // `max 100000` or `QUOTA PERIOD`
      var words = Self.line(folder + "/cpu.max")
      let quota = words.takeField(before: UInt8(ascii: " "))
      if let quota = quota.flatMap(Self.number), let period = Self.number(words) {
        quotas.append(Self.processors(quota: quota, period: period))
      }
    }
    for folder in processorFolders {
      if let quota = Self.number(Self.line(folder + "/cpu.cfs_quota_us")), quota > 0,
        let period = Self.number(Self.line(folder + "/cpu.cfs_period_us"))
      {
        quotas.append(Self.processors(quota: quota, period: period))
      }
    }
    return quotas.min()
  }

  /// nil if unlimited.
  var memoryLimitBytes: UInt64? {
    // "max" does not parse. Version 1 writes a huge number, which the machine's memory limits.
    let limits =
      memoryFolders.isEmpty
      ? unified.compactMap { Self.number(Self.line($0 + "/memory.max")) }
      : memoryFolders.compactMap { Self.number(Self.line($0 + "/memory.limit_in_bytes")) }
    return limits.min().map { UInt64(clamping: $0) }
  }

  private static func processors(quota: Int, period: Int) -> Int {
    guard quota > 0, period > 0 else { return .max }
    return max(1, (quota - 1) / period + 1)
  }

  /// Returns `mount` and the folders down to `path`. A container may see its group at `mount`
  /// itself.
  private static func folders(_ mount: String, _ path: ArraySlice<UInt8>) -> [String] {
    var folders = [mount]
    var folder = mount
    var rest = path
    while let part = rest.takeField(before: UInt8(ascii: "/")) {
      if part.isEmpty || part.elementsEqual("..".utf8) { continue }
      folder += "/" + String(decoding: part, as: UTF8.self)
      folders.append(folder)
    }
    return folders
  }

  private static func line(_ path: String) -> ArraySlice<UInt8> {
    var bytes = ((try? File.read(path)) ?? [])[...]
    return bytes.takeField(before: UInt8(ascii: "\n")) ?? []
  }

  private static func number(_ text: ArraySlice<UInt8>) -> Int? {
    Int(String(decoding: text, as: UTF8.self))
  }
}
