internal import CLinux
internal import Glibc

/// The error of a system call (errno(3)).
package struct Errno: Error, RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  package let rawValue: Int32

  package init(rawValue: Int32) { self.rawValue = rawValue }

  package static let noSuchFile = Errno(rawValue: ENOENT)
  package static let notPermitted = Errno(rawValue: EPERM)
  package static let noDevice = Errno(rawValue: ENXIO)
  package static let noSuchProcess = Errno(rawValue: ESRCH)
  package static let interrupted = Errno(rawValue: EINTR)
  package static let ioError = Errno(rawValue: EIO)
  package static let badDescriptor = Errno(rawValue: EBADF)
  package static let noChild = Errno(rawValue: ECHILD)
  /// Processes, memory or descriptors are short; a retry may succeed.
  package var isShortage: Bool {
    self == .wouldBlock || self == .noMemory || self == .tooManyFiles || self == .tooManyFilesOfAll
  }

  package static let wouldBlock = Errno(rawValue: EAGAIN)
  package static let noMemory = Errno(rawValue: ENOMEM)
  package static let notSupported = Errno(rawValue: ENOTSUP)
  package static let accessDenied = Errno(rawValue: EACCES)
  package static let badAddress = Errno(rawValue: EFAULT)
  package static let exists = Errno(rawValue: EEXIST)
  package static let notADirectory = Errno(rawValue: ENOTDIR)
  package static let isADirectory = Errno(rawValue: EISDIR)
  package static let invalid = Errno(rawValue: EINVAL)
  package static let noSpace = Errno(rawValue: ENOSPC)
  package static let readOnly = Errno(rawValue: EROFS)
  package static let brokenPipe = Errno(rawValue: EPIPE)
  package static let busy = Errno(rawValue: EBUSY)
  package static let nameTooLong = Errno(rawValue: ENAMETOOLONG)
  package static let tooManyLinks = Errno(rawValue: ELOOP)
  package static let notExecutable = Errno(rawValue: ENOEXEC)
  package static let addressInUse = Errno(rawValue: EADDRINUSE)
  package static let connectionRefused = Errno(rawValue: ECONNREFUSED)
  package static let connectionReset = Errno(rawValue: ECONNRESET)
  package static let connectionAborted = Errno(rawValue: ECONNABORTED)
  /// The process's limit.
  package static let tooManyFiles = Errno(rawValue: EMFILE)
  /// The machine's limit.
  package static let tooManyFilesOfAll = Errno(rawValue: ENFILE)
  package static let crossDevice = Errno(rawValue: EXDEV)
  package static let badMessage = Errno(rawValue: EBADMSG)
  package static let tooBig = Errno(rawValue: E2BIG)
  /// This module also throws it for names.
  package static let notUTF8 = Errno(rawValue: EILSEQ)

  /// Thrown only by this module.
  package static let notRegular = Errno(rawValue: EBADFD)
  package static let fileTooBig = Errno(rawValue: EFBIG)

  package var description: String {
    if self == .notRegular { return "it is not a regular file; remove it" }
    if self == .notUTF8 { return "the path is not UTF-8; rename the file or folder" }
    // SAFETY: the shim writes at most `count` bytes, zero included.
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
      guard let start = buffer.baseAddress else { return "error \(rawValue)" }
      clinux_error_text(rawValue, start, buffer.count)
      return String(cString: start)
    }
  }

  static var current: Errno { Errno(rawValue: errno) }
}

/// Makes a system call that returns -1 on failure; retries on EINTR. EBADF and EFAULT trap: this
/// program lost track of a descriptor or buffer and could damage an unrelated file.
@inline(__always)
@discardableResult
func call<Result: SignedInteger>(_ body: () -> Result) throws(Errno) -> Result {
  do throws(Errno) {
    return try givenCall(body)
  } catch {
    precondition(error != .badDescriptor, "system call: \(error)")
    throw error
  }
}

/// Like `call` for inherited descriptors: throws EBADF.
@inline(__always)
@discardableResult
func givenCall<Result: SignedInteger>(_ body: () -> Result) throws(Errno) -> Result {
  while true {
    let result = body()
    if result != -1 { return result }
    let error = Errno.current
    if error == .interrupted { continue }
    precondition(error != .badAddress, "system call: \(error)")
    throw error
  }
}

/// Converts the error of a failed system call.
package func rethrowing<Result: ~Copyable, Outer: Error>(
  _ body: @autoclosure () throws(Errno) -> Result, as convert: (Errno) -> Outer
) throws(Outer) -> Result {
  do throws(Errno) {
    return try body()
  } catch {
    throw convert(error)
  }
}
