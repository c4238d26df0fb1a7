internal import OpflowCore
package import OpflowSystem

/// What is the matter with a value, in words for a person.
package struct ValueFault: Error, Equatable {
  package let what: String
  package init(what: String) { self.what = what }
}

/// The folders that tries leave values in, and what stands there when their trees are gone.
///
/// What a try left that did not succeed is read by nobody and may hold a secret, so that it goes as soon as
/// somebody is there to see it. A try's folder is made, empty, before its process exists, and then
///
/// - the try succeeds: what it left is looked through and stays;
/// - it ends otherwise, or what it left is refused: its worker removes the folder before it tells the end;
/// - its worker is lost: the coordinator removes it when all of the try's processes are ended;
/// - coordinator and worker are lost, or a success was not written down: the next drive of the run removes
///   every folder that is of no success, before it starts anything.
///
/// Folders are removed by what is open, never by a path, and links in them or in their place are not followed.
package struct LeftValues {
  /// Of the run's `values` folder.
  let folder: String

  package init(folder: String) { self.folder = folder }

  /// The folder of one try.
  func path(of task: UnsafeRawBufferPointer, attempt: Int32) -> String {
    folder + "/" + ValueFolder.name(of: task, attempt: attempt)
  }

  /// Makes a folder for a try, with nothing in it.
  func make(of task: UnsafeRawBufferPointer, attempt: Int32) throws(Errno) {
    let path = path(of: task, attempt: attempt)
    do throws(Errno) {
      try Path.makeDirectory(path)
    } catch .noSuchFile {
      // It is the first one of the run.
      try Path.makeDirectories(path, mode: 0o700)
    } catch .exists {
      // A try whose line is lost had the number too: what it left is nobody's.
      try remove(of: task, attempt: attempt)
      try Path.makeDirectory(path)
    }
  }

  /// Removes what a try left that did not succeed, where it left anything.
  package func remove(of task: UnsafeRawBufferPointer, attempt: Int32) throws(Errno) {
    try Path.removeTree(ValueFolder.name(of: task, attempt: attempt), in: folder)
  }

  /// Removes the folders of all tries but those with these names.
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

  /// Puts there what a task left in another run, by which it is up to date. The folder is that of no try.
  func put(
    _ values: [SuccessRecord.Value], of task: UnsafeRawBufferPointer
  ) throws(ValueFault) {
    let path = path(of: task, attempt: ValueFolder.ofRecord)
    let told = values.map { TaskValue(name: $0.name, text: $0.text, keepsText: false) }
    if let there = try? Self.collect(
      path, keepsTexts: false, lasts: false, hasSecret: { _ in false }),
      there == told
    {
      return
    }
    do throws(Errno) {
      try make(of: task, attempt: ValueFolder.ofRecord)
      for value in values {
        try File.open(
          "\(path)/\(value.name)", [.writeOnly, .create, .exclusive], mode: 0o600
        ).writeAll(value.bytes)
      }
    } catch {
      throw ValueFault(what: "what it left for others cannot be put in \(path): \(error)")
    }
  }

  /// What a task left, if it is as it was looked through.
  static func files(
    of values: [TaskValue], in path: String
  ) throws(ValueFault) -> [SuccessRecord.Value] {
    var files: [SuccessRecord.Value] = []
    for value in values {
      let file = SuccessRecord.Value(
        name: value.name, bytes: try read(value.name, in: path, lasts: false))
      guard Hash.xxh3(file.text) == value.hash else {
        throw ValueFault(what: "$OPFLOW_VALUES/\(value.name) was changed since")
      }
      files.append(file)
    }
    return files
  }

  /// Reads what a task left, by name.
  ///
  /// - Parameters:
  ///   - keepsTexts: an `if` may read them.
  ///   - hasSecret: whether a secret is in a text.
  ///   - lasts: makes them durable, since the task must not run again.
  static func collect(
    _ path: String, keepsTexts: Bool, lasts: Bool, hasSecret: ([UInt8]) -> Bool
  ) throws(ValueFault) -> [TaskValue] {
    let names = try doing("read", "") { () throws(Errno) in
      guard try Path.linkStatus(path).kind == .directory else { throw .notADirectory }
      return try Path.names(in: path).sorted()
    }
    guard names.count <= ValueRules.mostValues else {
      throw ValueFault(
        what: "it left \(names.count) files in $OPFLOW_VALUES, and a task leaves at most"
          + " \(ValueRules.mostValues) values")
    }
    var values: [TaskValue] = []
    for name in names {
      if hasSecret(Array(name.utf8)) {
        throw ValueFault(
          what: "$OPFLOW_VALUES: the name of a file holds a secret, and names are written down")
      }
      let bytes = try read(name, in: path, lasts: lasts)
      if hasSecret(bytes) {
        throw ValueFault(
          what: "$OPFLOW_VALUES/\(name): it holds a secret, and values are written down")
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

  /// The bytes of a file that is a value.
  private static func read(
    _ name: String, in folder: String, lasts: Bool
  ) throws(ValueFault) -> [UInt8] {
    guard ValueRules.isName(name.utf8) else {
      throw ValueFault(
        what: "$OPFLOW_VALUES/\(name): a value's name is at most \(ValueRules.longestNameBytes)"
          + " letters, digits and _")
    }
    let path = folder + "/" + name
    // Before it is opened: to open a device may do something.
    let kind = try doing("read", name) { () throws(Errno) in try Path.linkStatus(path).kind }
    guard kind == .file else {
      throw ValueFault(what: "$OPFLOW_VALUES/\(name): it is \(Self.word(kind)), and no file")
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
        what:
          "$OPFLOW_VALUES/\(name): it has more than the \(ValueRules.longestBytes) bytes of a value"
      )
    }
    if let fault = ValueRules.fault(in: value) {
      throw ValueFault(what: "$OPFLOW_VALUES/\(name): \(fault)")
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
        what: "cannot \(doing) $OPFLOW_VALUES\(name.isEmpty ? "" : "/\(name)"): \(error)")
    }
  }
}
