/// One value for each kind of worker, within what holds it: no storage of its own that a write would have to
/// see to.
struct ByKind<Value> {
  private var values: InlineArray<6, Value>

  init(_ value: (WorkerKind) -> Value) {
    // A further kind is a trap at the first start, not a value that is missing.
    precondition(WorkerKind.allCases.count == 6)
    values = InlineArray { value(WorkerKind.allCases[$0]) }
  }

  subscript(kind: WorkerKind) -> Value {
    @inline(__always) get { values[Int(kind.rawValue)] }
    // In place: a value that was taken out would have its own storage twice.
    @inline(__always) _modify { yield &values[Int(kind.rawValue)] }
  }
}
