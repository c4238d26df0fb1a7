/// A result cannot be kept, or is not there to be brought back; for people.
struct CacheFault: Error, Equatable {
  let what: String
}
