internal import CLinux

/// The users who may own or write a file that opflow finds by itself, such as a manifest in a
/// parent folder.
///
/// Such a file makes opflow run commands (git's CVE-2022-24765), so it and its folder must belong
/// to these users and not be writable by others. Files that the user names are not checked.
///
/// - Group: may write if it is the private group of a trusted user (Debian and Fedora, umask 002).
///   With an access control list, the group bits include other users.
/// - Sticky folder (`/tmp`): only the owner can replace an entry, so the entry decides.
/// - Current folder: the user chose it. Its owner and the entry decide, since another user can only
///   add own files.
/// - Link: its owner and folder are checked, as are those of all links up to its target, the target
///   and the target's folder.
package struct TrustedWriters: Equatable, Sendable {
  private var users: [UInt32]
  private var groups: [UInt32] = []
  private var isEverybody = false

  package init(users: [UInt32]) { self.users = users }

  /// This user and root; for root also the caller of sudo.
  package static var own: TrustedWriters {
    let user = ProcessID.ownUser
    let caller = user == 0 ? Environment.value("SUDO_UID").flatMap { UInt32($0) } : nil
    return TrustedWriters(users: [user, 0] + (caller.map { [$0] } ?? []))
  }

  /// Adds all users who may write a file that the user named: opflow runs its commands anyway.
  package func including(writersOf path: String) -> TrustedWriters {
    guard let path = try? Path.real(path), let file = try? Path.status(path),
      let folder = try? Path.status(Path.parent(of: path))
    else { return self }
    var all = self
    all.users += [file.owner, folder.owner]
    for status in folder.isSticky ? [file] : [file, folder] {
      if status.mode & Self.groupWrites != 0 { all.groups.append(status.group) }
      if status.mode & Self.othersWrite != 0 { all.isEverybody = true }
    }
    return all
  }

  /// Returns why a found file or folder is not trusted. For a missing one only its folder is
  /// checked; a file without a status cannot be opened either.
  package func doubt(_ path: String) -> ForeignFile? {
    if let doubt = doubtOfFolder(of: path) { return doubt }
    guard let status = try? Path.linkStatus(path) else { return nil }
    guard status.kind == .link else { return doubt(path, status, isSafe: false) }
    if let doubt = doubtOfLinks(behind: path, status) { return doubt }
    return (try? Path.real(path)).flatMap(doubt)
  }

  private func doubtOfFolder(of path: String) -> ForeignFile? {
    let parent = Path.parent(of: path)
    guard let folder = try? Path.status(parent) else { return nil }
    let isHere = (try? Path.status("."))?.identity == folder.identity
    return doubt(parent, folder, isSafe: folder.isSticky || isHere)
  }

  /// Follows a link like the kernel, and checks each link on the way.
  private func doubtOfLinks(behind path: String, _ status: FileStatus) -> ForeignFile? {
    guard var current = try? Path.real(Path.parent(of: path)) else { return nil }
    var (link, status) = (path, status)
    var left: [Substring] = []
    for _ in 0..<Self.mostLinks {
      // A link's permission bits mean nothing.
      if let doubt = doubt(link, status, isSafe: true) ?? doubtOfFolder(of: link) { return doubt }
      guard let target = try? Path.linkTarget(link) else { return nil }
      if target.hasPrefix("/") { current = "/" }
      left += target.split(separator: "/").reversed()
      guard let next = nextLink(from: &current, &left) else { return nil }
      (link, status) = next
    }
    return nil
  }

  /// nil at the end of the path.
  private func nextLink(
    from current: inout String, _ left: inout [Substring]
  ) -> (String, FileStatus)? {
    while let name = left.popLast() {
      if name == "." { continue }
      if name == ".." {
        current = Path.parent(of: current)
        continue
      }
      let next = current == "/" ? "/\(name)" : "\(current)/\(name)"
      guard let status = try? Path.linkStatus(next) else { return nil }
      if status.kind == .link { return (next, status) }
      current = next
    }
    return nil
  }

  /// The kernel's limit for one path (path_resolution(7)).
  private static let mostLinks = 40

  /// True if others cannot change a checked file later. Another user's file in a sticky folder can
  /// change; elsewhere only users who may write there can replace it.
  package func mayKeep(_ status: FileStatus, in folder: String) -> Bool {
    trusts(owner: status) || (try? Path.status(folder))?.isSticky != true
  }

  /// `isSafe`: users who may write there cannot do harm.
  private func doubt(_ path: String, _ status: FileStatus, isSafe: Bool) -> ForeignFile? {
    if isEverybody { return nil }
    if !trusts(owner: status) { return ForeignFile(path: path, fault: .owner(status.owner)) }
    let isOpen =
      status.mode & Self.othersWrite != 0
      || status.mode & Self.groupWrites != 0 && !trustsGroup(of: status, path)
    return isOpen && !isSafe ? ForeignFile(path: path, fault: .mode(status.mode)) : nil
  }

  private func trusts(owner status: FileStatus) -> Bool { users.contains(status.owner) }

  private func trustsGroup(of status: FileStatus, _ path: String) -> Bool {
    if groups.contains(status.group) { return true }
    if clinux_has_access_list(path) != 0 { return false }
    let (accounts, names) = (try? File.read("/etc/passwd"), try? File.read("/etc/group"))
    return users.contains {
      Self.isPrivate(status.group, of: $0, accounts: accounts ?? [], groups: names ?? [])
    }
  }

  /// True if a group has its user's name and no other members. If passwd(5) and group(5) list
  /// neither (LDAP), the group number must equal the user's.
  package static func isPrivate(
    _ group: UInt32, of user: UInt32, accounts: [UInt8], groups: [UInt8]
  ) -> Bool {
    let (accounts, groups) = (lines(accounts), lines(groups))
    let account = accounts.first { $0.count > 3 && $0[2] == "\(user)" }
    let entry = groups.first { $0.count > 3 && $0[2] == "\(group)" }
    guard let account, let entry else { return account == nil && entry == nil && group == user }
    let isOthers = accounts.contains { $0.count > 3 && $0[3] == "\(group)" && $0[2] != account[2] }
    let members = entry[3].split(separator: ",")
    return account[3] == entry[2] && account[0] == entry[0] && !isOthers
      && members.allSatisfy { $0 == account[0] }
  }

  private static func lines(_ bytes: [UInt8]) -> [[Substring]] {
    String(decoding: bytes, as: UTF8.self).split(separator: "\n").map {
      $0.split(separator: ":", omittingEmptySubsequences: false)
    }
  }

  private static let groupWrites: UInt32 = 0o020
  private static let othersWrite: UInt32 = 0o002
}

extension FileStatus {
  package var isOwn: Bool { owner == ProcessID.ownUser }

  /// Only owners of the entry or folder can rename or remove the entry (inode(7), S_ISVTX).
  fileprivate var isSticky: Bool { mode & 0o1000 != 0 }
}

package struct ForeignFile: Equatable, Sendable, CustomStringConvertible {
  package enum Fault: Equatable, Sendable {
    case owner(UInt32)
    case mode(UInt32)
  }

  package let path: String
  package let fault: Fault

  package var description: String {
    switch fault {
    case .owner(let user): "\(path) belongs to user \(user)"
    case .mode(let bits): "other users may write to \(path) (mode \(String(bits, radix: 8)))"
    }
  }
}
