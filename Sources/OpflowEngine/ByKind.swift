internal import OpflowPlan

package struct ByKind<Value> {
  private var values: Table<Value>

  init(_ value: (WorkerKind) -> Value) {
    values = Table(capacity: WorkerKind.allCases.count)
    for kind in WorkerKind.allCases { values.append(value(kind)) }
  }

  subscript(kind: WorkerKind) -> Value {
    @inline(__always) get { values[Int(kind.rawValue)] }
    @inline(__always) _modify { yield &values[Int(kind.rawValue)] }
  }
}
