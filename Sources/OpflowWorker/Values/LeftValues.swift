internal import OpflowBase
internal import OpflowPlan
package import OpflowSystem

package struct ValueFault: Error, Equatable {
  package let detail: String
  package init(detail: String) { self.detail = detail }
}

/// The folders in which attempts leave values.
///
/// Values of an unsuccessful attempt are never read and may hold a secret, so they are removed as
/// soon as possible. The folder is made, empty, before the attempt's process exists. Then:
///
/// - The attempt succeeds: its values are checked and kept.
/// - It fails, or its values are refused: the worker removes the folder before it reports the end.
/// - The worker is lost: the coordinator removes the folder when all processes of the attempt are
///   gone.
/// - Coordinator and worker are lost, or a success is not recorded: the run's next session first
///   removes all folders that do not belong to a success.
///
/// Folders are removed through descriptors, not paths; links are not followed.
package struct LeftValues {
  let folder: String

  package init(folder: String) { self.folder = folder }

  func path(of task: UnsafeRawBufferPointer, attempt: Int32) -> String {
    folder + "/" + ValueFolder.name(of: task, attempt: attempt)
  }

  func make(of task: UnsafeRawBufferPointer, attempt: Int32) throws(Errno) {
    let path = path(of: task, attempt: attempt)
    do throws(Errno) {
      try Path.makeDirectory(path)
    } catch .noSuchFile {
      // The run's first attempt with values.
      try Path.makeDirectories(path, mode: 0o700)
    } catch .exists {
      // An unrecorded attempt had the same number; its values are discarded.
      try remove(of: task, attempt: attempt)
      try Path.makeDirectory(path)
    }
  }

  /// Removes the values of an unsuccessful attempt.
  package func remove(of task: UnsafeRawBufferPointer, attempt: Int32) throws(Errno) {
    try Path.removeTree(ValueFolder.name(of: task, attempt: attempt), in: folder)
  }

  /// Keeps folders with these names.
  package func removeAll(but kept: Set<String>) throws(Errno) {
    var names: [String] = []
    do throws(Errno) {
      try FolderEntries.forEach(in: folder) { name, _ in
        if ValueFolder.isName(name) { names.append(String(decoding: name, as: UTF8.self)) }
        return true
      }
    } catch .noSuchFile {
      return
    }
    for name in names where !kept.contains(name) { try Path.removeTree(name, in: folder) }
  }

  /// Values recorded by another run. The folder does not belong to any attempt.
  func put(_ values: [SuccessRecord.Value], of task: UnsafeRawBufferPointer) throws(ValueFault) {
    let path = path(of: task, attempt: ValueFolder.ofRecord)
    let told = values.map { TaskValue(name: $0.name, text: $0.text, keepsText: false) }
    if let there = try? Self.collect(
      path, keepsTexts: false, lasts: false, hasSecret: { _ in false }), there == told
    {
      return
    }
    do throws(Errno) {
      try make(of: task, attempt: ValueFolder.ofRecord)
      for value in values {
        try File.open("\(path)/\(value.name)", [.writeOnly, .create, .exclusive], mode: 0o600)
          .writeAll(value.bytes)
      }
    } catch {
      throw ValueFault(detail: "cannot write its values to \(path): \(error)")
    }
  }

  /// Throws if the values changed since `collect`.
  static func files(
    of values: [TaskValue], in path: String
  ) throws(ValueFault) -> [SuccessRecord.Value] {
    var files: [SuccessRecord.Value] = []
    for value in values {
      let file = SuccessRecord.Value(
        name: value.name, bytes: try read(value.name, in: path, lasts: false))
      guard Hash.xxh3(file.text) == value.hash else {
        throw ValueFault(detail: "$OPFLOW_VALUES/\(value.name) was changed after the task ended")
      }
      files.append(file)
    }
    return files
  }

  /// Checks the values and sorts them by name. `keepsTexts`: for `if` conditions. `lasts`: sync the
  /// files, because the task will not run again.
  static func collect(
    _ path: String, keepsTexts: Bool, lasts: Bool, hasSecret: ([UInt8]) -> Bool
  ) throws(ValueFault) -> [TaskValue] {
    let names = try doing("read", "") { () throws(Errno) in
      guard try Path.linkStatus(path).kind == .directory else { throw .notADirectory }
      return try Path.names(in: path).sorted()
    }
    guard names.count <= ValueRules.mostValues else {
      throw ValueFault(
        detail: "it left \(names.count) files in $OPFLOW_VALUES; a task can leave at most"
          + " \(ValueRules.mostValues) values")
    }
    var values: [TaskValue] = []
    for name in names {
      if hasSecret(Array(name.utf8)) {
        throw ValueFault(
          detail: "the name of a file in $OPFLOW_VALUES contains a secret; opflow records names")
      }
      let bytes = try read(name, in: path, lasts: lasts)
      if hasSecret(bytes) {
        throw ValueFault(
          detail: "$OPFLOW_VALUES/\(name) contains a secret; opflow records values")
      }
      values.append(
        TaskValue(name: name, text: ValueRules.value(ofFile: bytes), keepsText: keepsTexts))
    }
    if lasts, !values.isEmpty {
      try doing("sync", "") { () throws(Errno) in
        var folder = path
        for _ in 0..<3 {
          try Path.syncFolder(folder)
          folder = Path.parent(of: folder)
        }
      }
    }
    return values
  }

  private static func read(
    _ name: String, in folder: String, lasts: Bool
  ) throws(ValueFault) -> [UInt8] {
    guard ValueRules.isName(name.utf8) else {
      throw ValueFault(
        detail: "$OPFLOW_VALUES/\(name) does not have a valid name; use at most"
          + " \(ValueRules.longestNameBytes) letters, digits and `_`")
    }
    let path = folder + "/" + name
    // Opening a device may have side effects.
    let kind = try doing("read", name) { () throws(Errno) in try Path.linkStatus(path).kind }
    guard kind == .file else {
      throw ValueFault(
        detail: "$OPFLOW_VALUES/\(name) is not a regular file: it is \(Self.word(kind))")
    }
    let bytes = try doing("read", name) { () throws(Errno) in
      let file = try File.openRegular(path, .readOnly)
      let bytes = try file.readAll(atMost: ValueRules.longestBytes + 2)
      if lasts { try file.sync() }
      return bytes
    }
    let value = ValueRules.value(ofFile: bytes)
    if value.count > ValueRules.longestBytes {
      throw ValueFault(
        detail: "$OPFLOW_VALUES/\(name) is longer than \(ValueRules.longestBytes) bytes")
    }
    if let fault = ValueRules.fault(in: value) {
      throw ValueFault(detail: "$OPFLOW_VALUES/\(name): \(fault)")
    }
    return bytes
  }

  private static func word(_ kind: FileStatus.Kind) -> String {
    switch kind {
    case .file: "a file"
    case .directory: "a folder"
    case .link: "a link"
    case .device: "a device"
    case .fifo: "a FIFO"
    case .socket: "a socket"
    case .other: "something else"
    }
  }

  private static func doing<Result>(
    _ doing: String, _ name: String, _ body: () throws(Errno) -> Result
  ) throws(ValueFault) -> Result {
    do throws(Errno) {
      return try body()
    } catch {
      throw ValueFault(
        detail: "cannot \(doing) $OPFLOW_VALUES\(name.isEmpty ? "" : "/\(name)"): \(error)")
    }
  }
}
