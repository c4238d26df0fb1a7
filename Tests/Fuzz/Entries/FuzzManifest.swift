import OpflowManifest
import OpflowPlan

/// Checks manifests, from bytes to a plan or to errors with their positions.
enum FuzzManifest {
  static func check(_ bytes: UnsafeRawBufferPointer) throws(FuzzFinding) {
    try checkWhole(bytes)
    try checkNamed(bytes, by: "include: [x]\ntasks: { root: { run: x } }\n")
    try checkNamed(bytes, by: "include: [{ path: x, as: n, vars: { v: 1 } }]\n")
    try checkNamed(bytes, by: "env_file: [x]\ntasks: { root: { run: x } }\n")
  }

  /// Checks the bytes as a file that a manifest names.
  private static func checkNamed(
    _ bytes: UnsafeRawBufferPointer, by root: StaticString
  ) throws(FuzzFinding) {
    let file = NamedFile(
      bytes: Array(bytes), realPath: "/data/x", number: FileNumber(device: 1, inode: 1))
    var options = options
    options.readFile = { (path, _, _) throws(NamedFileFault) in
      guard path == "/data/x" else { throw .missing }
      return file
    }
    let root = UnsafeRawBufferPointer(start: root.utf8Start, count: root.utf8CodeUnitCount)
    let compiled: CompiledManifest
    do throws(ManifestError) {
      compiled = try ManifestCompiler.compile(source(root), options: options)
    } catch {
      try expect(error.errorCount > 0, "refused without a mistake")
      for diagnostic in error.diagnostics where diagnostic.line > 0 {
        try check(diagnostic, in: diagnostic.file == "x" ? bytes : root)
      }
      return
    }
    do throws(PlanError) {
      try Plan(copying: compiled.planBytes).validate()
    } catch {
      throw FuzzFinding("a plan of two files that is not sound: \(error.message)")
    }
  }

  private static func checkWhole(_ bytes: UnsafeRawBufferPointer) throws(FuzzFinding) {
    let compiled: CompiledManifest
    do throws(ManifestError) {
      compiled = try ManifestCompiler.compile(source(bytes), options: options)
    } catch {
      try check(error, in: bytes)
      try checkAlone(bytes, isGood: false)
      return
    }
    try checkAlone(bytes, isGood: true)
    for warning in compiled.warnings { try check(warning, in: bytes) }
    let plan: Plan
    do throws(PlanError) {
      plan = try Plan(copying: compiled.planBytes)
      try plan.validate()
    } catch {
      throw FuzzFinding("a plan that is not sound: \(error.message)")
    }
    try expect(plan.taskCount == compiled.taskCount, "a task is lost")
    try expect(plan.key == compiled.planKey, "the plan has another key")
    if plan.taskCount <= 200 {
      var run = PlanRun(plan)
      try run.toTheEnd()
    }
  }

  static func source(_ bytes: UnsafeRawBufferPointer) -> ManifestSource {
    ManifestSource(
      bytes: Array(bytes), displayPath: "m.yaml", path: "/data/m.yaml", folder: "/data",
      defaultName: "m")
  }

  static var options: CompileOptions {
    CompileOptions(
      runID: "run", environment: [("HOME", "/home")], opflowVersion: "1", cores: 4,
      memoryBytes: 1 << 33)
  }

  /// Checks that a check without a plan agrees.
  private static func checkAlone(
    _ bytes: UnsafeRawBufferPointer, isGood: Bool
  ) throws(FuzzFinding) {
    let isGoodAlone = (try? ManifestCompiler.check(source(bytes), options: options)) != nil
    try expect(isGoodAlone == isGood, "a check and a run judge the manifest differently")
  }

  private static func check(
    _ error: ManifestError, in bytes: UnsafeRawBufferPointer
  ) throws(FuzzFinding) {
    try expect(error.errorCount > 0, "refused without a mistake")
    try expect(
      error.diagnostics.contains { $0.severity == .error }, "refused without a word")
    for diagnostic in error.diagnostics { try check(diagnostic, in: bytes) }
    let text = DiagnosticRenderer(isColored: false).render(error)
    try expect(text.utf8.count < 1 << 20, "\(text.utf8.count) bytes of complaint")
    let control = text.unicodeScalars.first {
      $0.value < 32 && $0 != "\n" && $0 != "\t" || $0.value == 127
    }
    try expect(control == nil, "a control character is shown: \(control?.value ?? 0)")
  }

  /// Checks that each error has a position in the file where a caret can be printed.
  private static func check(
    _ diagnostic: Diagnostic, in bytes: UnsafeRawBufferPointer
  ) throws(FuzzFinding) {
    try expect(!diagnostic.message.isEmpty, "a mistake without a text")
    let shown = DiagnosticRenderer(isColored: false).render(diagnostic)
    try expect(
      shown.split(separator: "\n").count <= 4 + diagnostic.notes.count, "too many lines: \(shown)")
    let lines = bytes.split(separator: 10, omittingEmptySubsequences: false)
    try expect(
      (1...lines.count).contains(diagnostic.line), "line \(diagnostic.line) of \(lines.count)")
    let length = lines[diagnostic.line - 1].count { $0 & 0xC0 != 0x80 }
    try expect(
      (1...(length + 1)).contains(diagnostic.column),
      "column \(diagnostic.column) of \(length): \(diagnostic.message)")
    for note in diagnostic.notes where note.file == diagnostic.file {
      try expect((1...lines.count).contains(note.line), "a note at line \(note.line)")
    }
  }
}
