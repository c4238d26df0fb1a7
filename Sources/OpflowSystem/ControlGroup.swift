/// The tightest cgroup limits of a process and its ancestors, versions 1 and 2 (cgroups(7)).
struct ControlGroup: Sendable {
  /// Below the cgroup root; nil without version 2.
  let unifiedPath: String?
  private let unified: [String]
  /// Version 1 takes precedence for a controller.
  private let processorFolders: [String]
  private let memoryFolders: [String]

  static let current: ControlGroup = {
    let groups = (try? File.read("/proc/self/cgroup")) ?? []
    return ControlGroup(groups: groups, root: "/sys/fs/cgroup")
  }()

  /// Parses lines `NUMBER:CONTROLLERS:PATH` of /proc/PID/cgroup.
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
    // "max" does not parse. Version 1 writes a huge number instead, above the machine's memory.
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

  /// Returns `mount` and the folders down to `path`: a container may see its group at `mount`.
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

/// A version 2 cgroup that kills all its processes at once, whatever their session, environment or
/// user (cgroups(7), `cgroup.kill`).
package struct KillGroup: Sendable, Equatable {
  private let path: String
  private let hasOthersBeside: Bool

  /// nil on failure. `hasOthersBeside`: tasks may have sibling groups named `path`, a dot and more
  /// (`MemoryGroup`).
  package static func make(_ path: String, hasOthersBeside: Bool = false) -> KillGroup? {
    do throws(Errno) {
      try Path.makeDirectory(path, mode: 0o755)
    } catch {
      return nil
    }
    guard Path.exists(path + "/cgroup.kill") else {
      remove(path)
      return nil
    }
    return KillGroup(path: path, hasOthersBeside: hasOthersBeside)
  }

  package func open() -> Descriptor? { try? File.open(path, [.readOnly, .directory]) }

  /// The folder of this process's version 2 cgroup.
  package static var home: String? {
    guard let path = ControlGroup.current.unifiedPath, path.hasPrefix("/") else { return nil }
    // Hybrid mode mounts version 2 at the second path.
    for mount in ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"] {
      let folder = path == "/" ? mount : mount + path
      if Path.exists(mount + "/cgroup.controllers"), Path.exists(folder + "/cgroup.procs") {
        return folder
      }
    }
    return nil
  }

  /// Removes the group if empty, the usual case; else kills its processes.
  package func end() {
    if hasOthersBeside || !Self.remove(path) { kill() }
  }

  package func kill() {
    Self.kill(path)
    if hasOthersBeside { for group in beside { Self.kill(group) } }
  }

  private var beside: [String] {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return [] }
    let folder = String(path[..<slash])
    let prefix = path[path.index(after: slash)...] + "."
    let names = (try? Path.names(in: folder)) ?? []
    return names.filter { $0.hasPrefix(prefix) }.map { "\(folder)/\($0)" }
  }

  package static func kill(_ path: String) {
    // Callers also kill by other means.
    try? File.open(path + "/cgroup.kill", .writeOnly).writeAll("1")
  }

  package func remove() { Self.remove(path) }

  /// Returns true if the group is gone; a group with processes stays.
  @discardableResult
  package static func remove(_ path: String) -> Bool {
    do throws(Errno) {
      try Path.removeDirectory(path)
      return true
    } catch {
      return error == .noSuchFile
    }
  }
}

/// A cgroup that the kernel kills as a whole when it exceeds its memory limit.
package struct MemoryGroup: ~Copyable {
  private let path: String

  /// Fails if the parent group does not distribute memory.
  package init?(_ path: String, limitBytes: UInt64) {
    self.path = path
    guard (try? Path.makeDirectory(path, mode: 0o755)) != nil else { return nil }
    do throws(Errno) {
      try File.open(path + "/memory.max", .writeOnly).writeAll("\(limitBytes)")
      // Swap would evade the limit. The machine may have none.
      try? File.open(path + "/memory.swap.max", .writeOnly).writeAll("0")
      // A task that lost one process is useless.
      try File.open(path + "/memory.oom.group", .writeOnly).writeAll("1")
    } catch {
      try? Path.removeDirectory(path)
      return nil
    }
  }

  deinit { try? Path.removeDirectory(path) }

  package func open() -> Descriptor? { try? File.open(path, [.readOnly, .directory]) }

  /// True if the kernel killed a process of the group.
  package var hasOverrun: Bool {
    guard let bytes = try? File.read(path + "/memory.events") else { return false }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").contains { line in
      let words = line.split(separator: " ")
      return words.count == 2 && (words[0] == "oom_kill" || words[0] == "oom_group_kill")
        && words[1] != "0"
    }
  }

  /// nil before kernel 5.19.
  package var peakBytes: UInt64? {
    guard let bytes = try? File.read(path + "/memory.peak") else { return nil }
    return UInt64(String(decoding: bytes.prefix { $0 != 10 }, as: UTF8.self))
  }
}

/// Lets this process's cgroup distribute memory to child groups (cgroups(7), "Delegation"). Such a
/// group must not contain processes, so this process moves into a child group. Fails if the group
/// has other processes.
package struct MemoryDelegation: ~Copyable {
  private let group: String
  private let own: String
  /// This process enabled the memory controller.
  private let isNew: Bool

  package struct Obstacle: Error {
    package let detail: String
  }

  private static let ownGroupPrefix = "opflow-own-"

  /// The cgroup of this process before it moved into its own child group.
  package static var home: String? {
    guard let home = KillGroup.home else { return nil }
    let own = "/\(ownGroupPrefix)\(ProcessID.own)"
    return home.hasSuffix(own) ? String(home.dropLast(own.count)) : home
  }

  package static func begin() throws(Obstacle) -> MemoryDelegation {
    guard let home = Self.home else {
      throw Obstacle(detail: "this machine has no cgroup version 2")
    }
    guard Self.words(home + "/cgroup.controllers").contains("memory") else {
      throw Obstacle(detail: "the cgroup \(home) has no memory controller")
    }
    let isNew = !words(home + "/cgroup.subtree_control").contains("memory")
    let own = "\(home)/\(Self.ownGroupPrefix)\(ProcessID.own)"
    do throws(Errno) {
      if !Path.exists(own) { try Path.makeDirectory(own, mode: 0o755) }
      try Self.write("\(ProcessID.own)", to: own + "/cgroup.procs")
    } catch {
      Self.leave(home, own, isNew: false)
      throw Obstacle(detail: "the cgroup \(home) is not delegated to this user: \(error)")
    }
    if let error = Self.enable(home) {
      Self.leave(home, own, isNew: false)
      throw Obstacle(
        detail: error == .busy
          ? "other processes are in the cgroup \(home)"
          : "the cgroup \(home) is not delegated to this user: \(error)")
    }
    return MemoryDelegation(group: home, own: own, isNew: isNew)
  }

  package static func enable(_ folder: String) -> Errno? {
    if words(folder + "/cgroup.subtree_control").contains("memory") { return nil }
    do throws(Errno) {
      try write("+memory", to: folder + "/cgroup.subtree_control")
      return nil
    } catch {
      return error
    }
  }

  /// Groups with a memory limit must be removed first.
  deinit { Self.leave(group, own, isNew: isNew) }

  private static func leave(_ home: String, _ own: String, isNew: Bool) {
    // These calls fail if another run has groups here; the next run cleans up.
    if isNew { try? write("-memory", to: home + "/cgroup.subtree_control") }
    try? write("\(ProcessID.own)", to: home + "/cgroup.procs")
    try? Path.removeDirectory(own)
  }

  private static func words(_ path: String) -> [Substring] {
    guard let bytes = try? File.read(path) else { return [] }
    return String(decoding: bytes, as: UTF8.self).split { $0 == " " || $0 == "\n" }
  }

  private static func write(_ text: String, to path: String) throws(Errno) {
    try File.open(path, .writeOnly).writeAll(text)
  }
}

extension ArraySlice<UInt8> {
  /// Removes the bytes up to the next `separator`; nil if empty. Does not allocate: every run
  /// parses kernel files with it.
  mutating func takeField(before separator: UInt8) -> ArraySlice<UInt8>? {
    if isEmpty { return nil }
    let end = firstIndex(of: separator) ?? endIndex
    let field = self[startIndex..<end]
    self = self[Swift.min(end + 1, endIndex)...]
    return field
  }
}
