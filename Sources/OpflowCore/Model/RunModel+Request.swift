/// What a run, and the newest drive of it, was asked for.
extension RunModel {
  /// Whether the run waits for tasks that are still to be added.
  package var openness: RunOpenness {
    guard open?.serves == true else { return .ordinary }
    return orders.closedBy == nil ? .open : .closed
  }

  /// `--only` and `--skip` of the run: those of a resume are of that drive alone.
  package var only: [String] { open?.only ?? [] }
  package var skip: [String] { open?.skip ?? [] }

  /// `--set` and the environment as the newest drive had them.
  package var set: [String] { resume?.set ?? open?.set ?? [] }
  /// The tasks that the run was started with; none for all.
  package var tasks: [String] { open?.tasks ?? [] }
  package var environment: [String] { resume?.environment ?? open?.environment ?? [] }
  /// What the newest drive may use, as it was when that began.
  package var limits: DriveLimits { resume?.limits ?? open?.limits ?? DriveLimits() }
  /// How many tasks of this machine the newest drive began with at once; nil where that is not told.
  package func maxParallel(_ plan: Plan) -> UInt32? {
    limits.capacity(of: Int(ResourceEntry.cpu), plan).flatMap { UInt32(exactly: $0) }
  }
  /// Where the tasks of the newest drive may run beside the coordinator's machine, as it was given.
  package var on: [String] { resume.map(\.on) ?? open?.on ?? [] }
  /// How much there is of a resource by now; nil where the machine decided it and nobody wrote it down.
  package func capacity(of resource: Int, _ plan: Plan) -> UInt64? {
    let ordered = orders.capacity(plan.string(plan.resources[resource].name))
    return ordered?.carried.number.map { UInt64(clamping: $0) }
      ?? limits.capacity(of: resource, plan)
  }
  /// The manifest's files, as the newest drive had them.
  package var files: [String] { resume?.files ?? open?.files ?? [] }
}
