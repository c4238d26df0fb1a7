package import OpflowCore

/// A manifest without mistakes, of which nobody wants a plan.
package struct CheckedManifest: Sendable {
  /// At most 50.
  package var warnings: [Diagnostic]
  package var taskCount: Int
  package var needCount: Int
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
  /// Whether the plan holds the run's id, and so serves that run only.
  package var usesRunID: Bool
  /// The manifest's `name`, or the file's.
  package var name: String
  package var taskCount: Int
  package var needCount: Int
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
    try withFile(source) { file, mistakes in
      guard var reading = ManifestReading(file, source, options, mistakes) else { return nil }
      reading.forEachTask { _, _ in }
      reading.reportCycles()
      guard mistakes.errorCount == 0 else { return nil }
      return CheckedManifest(
        warnings: mistakes.diagnostics(.warning, in: [file]), taskCount: reading.taskCount,
        needCount: reading.needs.targets.count)
    }
  }

  /// - Throws: all mistakes of the manifest at once.
  package static func compile(
    _ source: ManifestSource, options: CompileOptions
  ) throws(ManifestError) -> CompiledManifest {
    try withFile(source) { compile($0, source, options, $1) }
  }

  /// Nil when there are mistakes.
  private static func compile(
    _ file: SourceFile, _ source: ManifestSource, _ options: CompileOptions, _ mistakes: Mistakes
  ) -> CompiledManifest? {
    guard var reading = ManifestReading(file, source, options, mistakes) else { return nil }
    let scope = reading.scope
    var emitter = PlanEmitter(
      path: source.path, taskCount: reading.taskCount, document: reading.document,
      defaults: reading.defaults,
      fingerprints: FingerprintWriter(folder: reading.folder, style: options.fingerprints))
    reading.forEachTask { task, document in
      guard mistakes.errorCount == 0 else { return }
      emitter.add(task)
      if emitter.isTooLarge {
        mistakes.error(document.place(task.key), "the texts of the plan grow beyond 3 GiB")
      }
    }
    guard mistakes.errorCount == 0 else {
      reading.reportCycles()
      return nil
    }
    let key = planKey(source, options, scope)
    let outcome = emitter.finish(
      reading.manifest, needs: reading.needs, folder: source.folder, scope: scope,
      hasWarnings: !mistakes.all.isEmpty, key: key)
    guard case .plan(let bytes) = outcome else {
      reading.reportCycles()
      return nil
    }
    return CompiledManifest(
      planBytes: bytes, planKey: key, warnings: mistakes.diagnostics(.warning, in: [file]),
      environmentRead: scope.inherited.read, usesRunID: scope.sawRunID,
      name: reading.manifest.name, taskCount: reading.taskCount,
      needCount: reading.needs.targets.count)
  }

  /// Lets `body` read a file, and throws what it found wrong when it gives nothing.
  private static func withFile<Result>(
    _ source: ManifestSource, _ body: (SourceFile, Mistakes) -> Result?
  ) throws(ManifestError) -> Result {
    let file = SourceFile(displayPath: source.displayPath, bytes: source.bytes)
    let mistakes = Mistakes()
    if source.bytes.count > maximumBytes {
      mistakes.error(file.place(0), "the manifest is larger than 1 GiB")
    } else if let result = body(file, mistakes) {
      return result
    }
    throw ManifestError(
      diagnostics: mistakes.diagnostics(.error, in: [file])
        + mistakes.diagnostics(.warning, in: [file]), errorCount: mistakes.errorCount)
  }

  private static func planKey(
    _ source: ManifestSource, _ options: CompileOptions, _ scope: NameScope
  ) -> PlanKey {
    var inputs = source.inputs(
      opflowVersion: options.opflowVersion,
      set: options.variables.map { "\($0.name)=\($0.value)" })
    inputs.environment = scope.inherited.read
    inputs.runID = scope.sawRunID ? options.runID : nil
    return inputs.key
  }
}
