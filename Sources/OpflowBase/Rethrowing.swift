/// Converts the error of `body`.
package func rethrowing<Result: ~Copyable, Inner: Error, Outer: Error>(
  _ body: @autoclosure () throws(Inner) -> Result, as convert: (Inner) -> Outer
) throws(Outer) -> Result {
  do throws(Inner) {
    return try body()
  } catch {
    throw convert(error)
  }
}
