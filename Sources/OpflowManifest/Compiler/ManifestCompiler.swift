package import OpflowCore

/// A manifest without mistakes, of which nobody wants a plan.
package struct CheckedManifest: Sendable {
  /// At most 50.
  package var warnings: [Diagnostic]
  package var taskCount: Int
  /// Those of them that run only when they are named, or needed.
  package var manualCount: Int
  package var needCount: Int
  /// The task that wants the most GPUs of a machine; nil where none wants any.
  package var mostDevices: (task: String, count: Int)?
}

/// A manifest without mistakes, and its plan.
package struct CompiledManifest: Sendable {
  /// The plan file (`Plan`).
  package var planBytes: [UInt8]
  package var planKey: PlanKey
  /// At most 50.
  package var warnings: [Diagnostic]
  /// What expressions read of the inherited environment, by name; nil for what is not set.
  package var environmentRead: [(name: String, value: String?)]
  /// What it was compiled from, the root first.
  package var files: [PlanFile]
  /// The files that the root and what it includes name, by the path that each was looked for.
  package var furtherFiles: [(path: String, bytes: [UInt8])]
  /// Whether the plan holds the run's id, and so serves that run only.
  package var usesRunID: Bool
  /// Whether tasks, or the top, speak of secrets.
  package var hasSecrets: Bool
  /// Whether any task is `manual`.
  package var hasManual: Bool
  /// Whether any task is `interactive`.
  package var hasInteractive: Bool
  package var concurrency: RunConcurrency
  /// The manifest's `name`, or the file's.
  package var name: String
  package var taskCount: Int
  package var needCount: Int
}

/// What is added to a run, without mistakes.
package struct CompiledSegment: Sendable {
  /// What is new, as a segment of the run's plan; nil where nothing is.
  package var added: CompiledManifest?
  /// Ids, as they are declared, that the run has with the same definition: nothing comes of them.
  package var unchanged: [String]
}

/// Compiles a manifest into a plan.
///
/// The way of the data: bytes; nodes (`YAMLDocument`); what is declared (`TaskDeclarations`); values, with
/// defaults merged in and expressions evaluated, task by task (`TaskValues`); needs found by name
/// (`NeedResolver`); and the plan's entries (`PlanEmitter`). A check is the same without the last.
/// Nothing in it touches a file, a clock or a process, but for what the options have it ask.
package enum ManifestCompiler {
  /// The largest manifest that is read.
  package static let maximumBytes = 1 << 30

  /// Whether a manifest that begins so is refused whatever follows, and for what stands here: a value
  /// or nesting without end.
  package static func refuses(beginning bytes: [UInt8]) -> Bool {
    do throws(YAMLFailure) {
      _ = try YAMLDocument(reading: SourceFile(displayPath: "", bytes: bytes))
      return false
    } catch {
      return error.isFinal
    }
  }

  /// Finds what is wrong with a manifest.
  ///
  /// - Throws: all its mistakes at once.
  package static func check(
    _ source: ManifestSource, options: CompileOptions
  ) throws(ManifestError) -> CheckedManifest {
    try withFiles(source, options, run: nil) { files, mistakes in
      guard var reading = ManifestReading(files, source, options, mistakes) else { return nil }
      var manualCount = 0
      var mostDevices: (task: String, count: Int)?
      let resources = reading.manifest.resources
      reading.forEachTask { task, _, _, defaults, _ in
        if task.flags.contains(.manual) { manualCount += 1 }
        let demands = task.own.contains(.demands) ? task.lists.demands : defaults.lists.demands
        for demand in demands.items where resources.isGPUOfMachine(demand.resource) {
          let count = Int(clamping: demand.amount / 1000)
          if count > mostDevices?.count ?? 0 { mostDevices = (task.name.string, count) }
        }
      }
      reading.reportCycles()
      guard mistakes.errorCount == 0 else { return nil }
      return CheckedManifest(
        warnings: mistakes.diagnostics(.warning, in: mistakes.files), taskCount: reading.taskCount,
        manualCount: manualCount, needCount: reading.needs.targets.count,
        mostDevices: mostDevices)
    }
  }

  /// - Throws: all mistakes of the manifest at once.
  package static func compile(
    _ source: ManifestSource, options: CompileOptions
  ) throws(ManifestError) -> CompiledManifest {
    try withFiles(source, options, run: nil) { compile($0, source, options, $1)?.manifest }
  }

  /// Compiles what is added to a run into a segment of its plan (`PlanGrowth`).
  ///
  /// Its tasks may need those of the run, and what it declares as the run has it is left out: then it is
  /// compiled a second time without that, so that those which need it need the run's.
  ///
  /// - Parameter adder: the task of the run that adds them. They need its success where they do not say otherwise.
  /// - Throws: all mistakes of the manifest at once.
  package static func compile(
    _ source: ManifestSource, addedTo run: Plan, by adder: TaskID? = nil,
    options: CompileOptions
  ) throws(ManifestError) -> CompiledSegment {
    let all = try compile(source, options, RunTasks(run, unchanged: [], adder: adder))
    if all.unchanged.isEmpty { return CompiledSegment(added: all.manifest, unchanged: []) }
    if all.unchanged.count == all.declaredCount {
      return CompiledSegment(added: nil, unchanged: all.unchanged)
    }
    let rest = try compile(
      source, options, RunTasks(run, unchanged: Set(all.unchanged), adder: adder))
    return CompiledSegment(added: rest.manifest, unchanged: all.unchanged)
  }

  /// Makes the legs of a family that a run has: what its `matrix` reads is there by now.
  ///
  /// - Parameters:
  ///   - source: where the family is declared.
  ///   - maker: the task of the run that makes them.
  /// - Returns: nothing to add where there is no leg, and where the run has the same already; nil where the family is
  ///   not declared there with an `after`.
  package static func compileLegs(
    _ source: ManifestSource, madeBy maker: TaskID, of run: Plan, options: CompileOptions
  ) throws(ManifestError) -> CompiledSegment? {
    let made = try compile(source, options, RunTasks(run, legsMadeBy: maker))
    guard made.isOfMaker else { return nil }
    guard made.hasLegs else { return CompiledSegment(added: nil, unchanged: []) }
    return made.unchanged.isEmpty
      ? CompiledSegment(added: made.manifest, unchanged: [])
      : CompiledSegment(added: nil, unchanged: made.unchanged)
  }

  private static func compile(
    _ source: ManifestSource, _ options: CompileOptions, _ run: RunTasks
  ) throws(ManifestError) -> Compilation {
    try withFiles(source, options, run: run) { compile($0, source, options, $1) }
  }

  /// A plan, and what of its tasks the run that they are added to has already.
  private struct Compilation {
    var manifest: CompiledManifest
    var declaredCount: Int
    /// Ids as they are declared.
    var unchanged: [String]
    /// Whether there is any, where those of one family are all that there may be.
    var hasLegs: Bool
    /// Whether such a family reads what tasks write.
    var isOfMaker: Bool
  }

  /// Nil when there are mistakes.
  private static func compile(
    _ files: PartLoader, _ source: ManifestSource, _ options: CompileOptions, _ mistakes: Mistakes
  ) -> Compilation? {
    guard var reading = ManifestReading(files, source, options, mistakes) else { return nil }
    var emitter = PlanEmitter(
      taskCount: reading.taskCount, nodeCount: reading.nodeCount, byteCount: reading.byteCount,
      furtherBytes: files.further.byteCount,
      fingerprints: FingerprintWriter(folder: reading.folder, style: options.fingerprints),
      run: files.run)
    reading.forEachTask { task, part, place, defaults, legsLeft in
      guard mistakes.errorCount == 0 else { return }
      emitter.add(task, of: part, in: files, at: place, defaults)
      if emitter.isTooLarge(legsLeft: legsLeft) {
        mistakes.error(place, "the plan grows too large", help: emitter.limit.text)
      }
    }
    guard mistakes.errorCount == 0 else {
      reading.reportCycles()
      return nil
    }
    var inputs = source.inputs(
      opflowVersion: options.opflowVersion,
      set: options.variables.map { "\($0.name)=\($0.value)" })
    inputs.files += files.further.planFiles
    inputs.globs = reading.sources.globs
    inputs.environment = reading.inherited.read
    inputs.runID = reading.sawRunID ? options.runID : nil
    let (hasManual, hasInteractive) = (emitter.hasManual, emitter.hasInteractive)
    let outcome = emitter.finish(
      reading.manifest, tasks: reading.tasks, legTexts: reading.legTexts, needs: reading.needs,
      readsOfLegs: reading.readsOfLegs, inputs: inputs, listedSecrets: reading.secrets.listed,
      usesRunID: reading.sawRunID,
      hasWarnings: !mistakes.all.isEmpty)
    guard case .plan(let bytes) = outcome else {
      reading.reportCycles()
      return nil
    }
    let unchanged = Redeclarations(tasks: reading.tasks, mistakes: mistakes).unchanged(in: bytes)
    guard mistakes.errorCount == 0 else { return nil }
    let manifest = CompiledManifest(
      planBytes: bytes, planKey: inputs.key,
      warnings: mistakes.diagnostics(.warning, in: mistakes.files),
      environmentRead: inputs.environment, files: inputs.files,
      furtherFiles: files.further.read.compactMap { path, file in file.map { (path, $0.bytes) } },
      usesRunID: reading.sawRunID, hasSecrets: reading.hasSecrets, hasManual: hasManual,
      hasInteractive: hasInteractive, concurrency: reading.manifest.concurrency,
      name: reading.manifest.name, taskCount: reading.taskCount,
      needCount: reading.needs.targets.count)
    return Compilation(
      manifest: manifest, declaredCount: reading.tasks.declared.count, unchanged: unchanged,
      hasLegs: reading.tasks.families.contains { !$0.ids.isEmpty },
      isOfMaker: reading.tasks.families.contains { !$0.after.isEmpty })
  }

  /// Lets `body` read files, and throws what it found wrong when it gives nothing.
  private static func withFiles<Result>(
    _ source: ManifestSource, _ options: CompileOptions, run: RunTasks?,
    _ body: (PartLoader, Mistakes) -> Result?
  ) throws(ManifestError) -> Result {
    let mistakes = Mistakes()
    let files = PartLoader(source, options, mistakes, run: run)
    if source.bytes.count > maximumBytes {
      mistakes.error(mistakes.files[0].place(0), "the manifest is larger than 1 GiB")
    } else if let result = body(files, mistakes) {
      return result
    }
    throw ManifestError(
      diagnostics: mistakes.diagnostics(.error, in: mistakes.files)
        + mistakes.diagnostics(.warning, in: mistakes.files), errorCount: mistakes.errorCount)
  }
}
