package import OpflowPlan

extension RunModel {
  package var openness: RunOpenness {
    guard open?.serves == true else { return .ordinary }
    return orders.closedBy == nil ? .open : .closed
  }

  /// A resume's own values hold for its session only.
  package var only: [String] { open?.only ?? [] }
  package var skip: [String] { open?.skip ?? [] }

  package var set: [String] { resume?.set ?? open?.set ?? [] }
  package var tasks: [String] { open?.tasks ?? [] }
  package var environment: [String] { resume?.environment ?? open?.environment ?? [] }
  package var limits: DriveLimits { resume?.limits ?? open?.limits ?? DriveLimits() }
  /// At the start of the newest session; nil if unknown.
  package func maxParallel(_ plan: Plan) -> UInt32? {
    limits.capacity(of: Int(ResourceEntry.cpu), plan).flatMap { UInt32(exactly: $0) }
  }
  package var on: [String] { resume.map(\.on) ?? open?.on ?? [] }
  /// At present; nil if opflow chose it and did not record it.
  package func capacity(of resource: Int, _ plan: Plan) -> UInt64? {
    let ordered = orders.capacity(plan.string(plan.resources[resource].name))
    return ordered?.carried.number.map { UInt64(clamping: $0) }
      ?? limits.capacity(of: resource, plan)
  }
  package var files: [String] { resume?.files ?? open?.files ?? [] }
}
