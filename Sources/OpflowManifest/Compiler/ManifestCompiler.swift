package import OpflowBase
package import OpflowPlan

package struct CheckedManifest: Sendable {
  /// At most 50.
  package var warnings: [Diagnostic]
  package var taskCount: Int
  /// Tasks that run only if named or needed.
  package var manualCount: Int
  package var needCount: Int
  /// The task that asks for the most GPUs of one node.
  package var mostDevices: (task: String, count: Int)?
}

package struct CompiledManifest: Sendable {
  /// A plan file (`Plan`).
  package var planBytes: [UInt8]
  package var planKey: PlanKey
  /// At most 50.
  package var warnings: [Diagnostic]
  /// Nil if not set.
  package var environmentRead: [(name: String, value: String?)]
  /// The plan depends on these, the root first.
  package var files: [PlanFile]
  /// All files except the root, by the path that was opened.
  package var furtherFiles: [(path: String, bytes: [UInt8])]
  package var taskCount: Int
}

package struct CompiledSegment: Sendable {
  /// Nil if nothing is new.
  package var added: CompiledManifest?
  /// Declared IDs that the run already has with the same definition.
  package var unchanged: [String]
}

/// Compiles a manifest into a plan: bytes, nodes (`YAMLDocument`), declarations
/// (`TaskDeclarations`), values of each task with defaults and expressions applied (`TaskValues`),
/// needs (`NeedResolver`), plan (`PlanEmitter`). A check skips the last stage, unless the plan may
/// be too large. Files are only read through closures of `CompileOptions`.
package enum ManifestCompiler {
  package static let maximumBytes = 1 << 30

  /// True if any manifest with this beginning is invalid, since a value or the nesting does not
  /// end.
  package static func refuses(beginning bytes: [UInt8]) -> Bool {
    do throws(YAMLFailure) {
      _ = try YAMLDocument(reading: SourceFile(displayPath: "", bytes: bytes))
      return false
    } catch {
      return error.isFinal
    }
  }

  package static func check(
    _ source: ManifestSource, options: CompileOptions
  ) throws(ManifestError) -> CheckedManifest {
    var mayBeTooLarge = false
    let checked = try withFiles(source, options, run: nil) {
      (files, diagnostics) -> CheckedManifest? in
      guard var reading = ManifestReading(files, source, options, diagnostics) else { return nil }
      var limit = PlanSizeLimit(
        taskCount: reading.taskCount, byteCount: reading.byteCount + files.further.byteCount,
        taken: 0)
      var (bytes, tasks) = (0, 0)
      var manualCount = 0
      var mostDevices: (task: String, count: Int)?
      let resources = reading.manifest.resources
      reading.forEachTask { task, _, _, defaults, instancesLeft in
        tasks += 1
        bytes += task.mostPlanBytes(defaults)
        if limit.isExceeded(by: bytes, tasks: tasks, instancesLeft: instancesLeft) {
          mayBeTooLarge = true
        }
        if task.flags.contains(.manual) { manualCount += 1 }
        let demands = task.own.contains(.demands) ? task.lists.demands : defaults.lists.demands
        for demand in demands.items where resources.isGPUOfMachine(demand.resource) {
          let count = Int(clamping: demand.amount / 1000)
          if count > mostDevices?.count ?? 0 { mostDevices = (task.name.string, count) }
        }
      }
      reading.reportCycles()
      guard diagnostics.errorCount == 0 else { return nil }
      return CheckedManifest(
        warnings: diagnostics.diagnostics(.warning, in: diagnostics.files),
        taskCount: reading.taskCount,
        manualCount: manualCount, needCount: reading.needs.targets.count, mostDevices: mostDevices)
    }
    // Equal texts are stored once, so only the plan shows its size.
    if mayBeTooLarge { _ = try compile(source, options: options) }
    return checked
  }

  /// - Throws: All errors of the manifest at once.
  package static func compile(
    _ source: ManifestSource, options: CompileOptions
  ) throws(ManifestError) -> CompiledManifest {
    try withFiles(source, options, run: nil) { compile($0, source, options, $1)?.manifest }
  }

  /// Compiles an addition to a run into a segment of its plan (`PlanGrowth`). Its tasks may need
  /// tasks of the run. A second pass leaves out tasks that the run already has, so that their
  /// dependents need the run's tasks.
  ///
  /// - Parameter generator: A task of the run. New tasks need its success by default.
  package static func compile(
    _ source: ManifestSource, addedTo run: Plan, by generator: TaskID? = nil,
    options: CompileOptions
  ) throws(ManifestError) -> CompiledSegment {
    let all = try compile(source, options, RunTasks(run, unchanged: [], generator: generator))
    if all.unchanged.isEmpty { return CompiledSegment(added: all.manifest, unchanged: []) }
    if all.unchanged.count == all.declaredCount {
      return CompiledSegment(added: nil, unchanged: all.unchanged)
    }
    let rest = try compile(
      source, options, RunTasks(run, unchanged: Set(all.unchanged), generator: generator))
    return CompiledSegment(added: rest.manifest, unchanged: all.unchanged)
  }

  /// Makes the matrix tasks of a matrix with `after`.
  ///
  /// - Parameters:
  ///   - source: The manifest that declares the matrix.
  ///   - maker: The generator, a task of the run.
  /// - Returns: A segment without tasks if there are no matrix tasks or the run has them; nil if
  ///   the matrix is not declared with `after`.
  package static func compileInstances(
    _ source: ManifestSource, madeBy maker: TaskID, of run: Plan, options: CompileOptions
  ) throws(ManifestError) -> CompiledSegment? {
    let made = try compile(source, options, RunTasks(run, instancesMadeBy: maker))
    guard made.isOfMaker else { return nil }
    guard made.hasInstances else { return CompiledSegment(added: nil, unchanged: []) }
    return made.unchanged.isEmpty
      ? CompiledSegment(added: made.manifest, unchanged: [])
      : CompiledSegment(added: nil, unchanged: made.unchanged)
  }

  private static func compile(
    _ source: ManifestSource, _ options: CompileOptions, _ run: RunTasks
  ) throws(ManifestError) -> Compilation {
    try withFiles(source, options, run: run) { compile($0, source, options, $1) }
  }

  private struct Compilation {
    var manifest: CompiledManifest
    var declaredCount: Int
    var unchanged: [String]
    var hasInstances: Bool
    var isOfMaker: Bool
  }

  private static func compile(
    _ files: FileLoader, _ source: ManifestSource, _ options: CompileOptions,
    _ diagnostics: Diagnostics
  ) -> Compilation? {
    guard var reading = ManifestReading(files, source, options, diagnostics) else { return nil }
    var emitter = PlanEmitter(reading, of: files, options.fingerprints)
    reading.forEachTask { task, part, place, defaults, instancesLeft in
      guard diagnostics.errorCount == 0 else { return }
      emitter.add(task, of: part, in: files, at: place, defaults)
      if emitter.isTooLarge(instancesLeft: instancesLeft) {
        diagnostics.error(place, "the plan is too large", help: emitter.limit.text)
      }
    }
    guard diagnostics.errorCount == 0 else {
      reading.reportCycles()
      return nil
    }
    var inputs = source.inputs(
      opflowVersion: options.opflowVersion, set: options.variables.map { "\($0.name)=\($0.value)" })
    inputs.files += files.further.planFiles
    inputs.globs = reading.sources.globs
    inputs.environment = reading.inherited.read
    inputs.runID = reading.sawRunID ? options.runID : nil
    let outcome = emitter.finish(reading, inputs: inputs, hasWarnings: !diagnostics.all.isEmpty)
    guard case .plan(let bytes) = outcome else {
      reading.reportCycles()
      return nil
    }
    let unchanged = Redeclarations(tasks: reading.tasks, diagnostics: diagnostics).unchanged(
      in: bytes)
    guard diagnostics.errorCount == 0 else { return nil }
    let manifest = CompiledManifest(
      planBytes: bytes, planKey: inputs.key,
      warnings: diagnostics.diagnostics(.warning, in: diagnostics.files),
      environmentRead: inputs.environment, files: inputs.files,
      furtherFiles: files.further.read.compactMap { path, file in file.map { (path, $0.bytes) } },
      taskCount: reading.taskCount)
    return Compilation(
      manifest: manifest, declaredCount: reading.tasks.declared.count, unchanged: unchanged,
      hasInstances: reading.tasks.matrixGroups.contains { !$0.ids.isEmpty },
      isOfMaker: reading.tasks.matrixGroups.contains { !$0.after.isEmpty })
  }

  private static func withFiles<Result>(
    _ source: ManifestSource, _ options: CompileOptions, run: RunTasks?,
    _ body: (FileLoader, Diagnostics) -> Result?
  ) throws(ManifestError) -> Result {
    let diagnostics = Diagnostics()
    let files = FileLoader(source, options, diagnostics, run: run)
    if source.bytes.count > maximumBytes {
      diagnostics.error(
        diagnostics.files[0].place(0), "the manifest is larger than 1 GiB",
        help: "tasks that differ only in values can be one task with a `matrix`")
    } else if let result = body(files, diagnostics) {
      return result
    }
    throw ManifestError(
      diagnostics: diagnostics.diagnostics(.error, in: diagnostics.files)
        + diagnostics.diagnostics(.warning, in: diagnostics.files),
      errorCount: diagnostics.errorCount)
  }
}
