internal import CLinux

/// The users who may have made or changed a file that opflow finds by itself, as the manifest of a folder above.
///
/// Such a file has opflow run commands as the user who calls it (git's CVE-2022-24765). So it counts only where
/// it and its folder belong to these users, and nobody else may write to them. A file that the user names is
/// never checked.
///
/// - Group: it may write where it is the private group of a trusted user, as Debian and Fedora make one for
///   each user, with a umask of 002. The bits of a file with an access control list are not its group's alone.
/// - Sticky folder, as `/tmp`: only the owner of an entry can replace it. The entry decides, the folder's bits do not.
/// - Current folder: the user chose it. Its owner and the entry decide: another user can only put a file of his own
///   there.
/// - Link: its owner and its folder count, and the file that it leads to with the folder of that.
package struct TrustedWriters: Equatable, Sendable {
  private var users: [UInt32]
  private var groups: [UInt32] = []
  private var isEverybody = false

  package init(users: [UInt32]) { self.users = users }

  /// The user of this process, root, and for root the user who called sudo.
  package static var own: TrustedWriters {
    let user = ProcessID.ownUser
    let caller = user == 0 ? Environment.value("SUDO_UID").flatMap { UInt32($0) } : nil
    return TrustedWriters(users: [user, 0] + (caller.map { [$0] } ?? []))
  }

  /// These and all who may write a file that the user named: opflow runs its commands in any case.
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

  /// Returns why a file or folder that was found does not count; nil where it does. Of a missing one
  /// the folder alone is checked. A file that cannot be looked at cannot be opened either.
  package func doubt(_ path: String) -> ForeignFile? {
    let parent = Path.parent(of: path)
    guard let folder = try? Path.status(parent) else { return nil }
    let isHere = (try? Path.status("."))?.identity == folder.identity
    if let doubt = doubt(parent, folder, isSafe: folder.isSticky || isHere) { return doubt }
    guard let status = try? Path.linkStatus(path) else { return nil }
    guard status.kind == .link else { return doubt(path, status, isSafe: false) }
    // The bits of a link mean nothing.
    if let doubt = doubt(path, status, isSafe: true) { return doubt }
    return (try? Path.real(path)).flatMap(doubt)
  }

  /// Whether a file that was checked stays as it is. In a sticky folder that of another user does not, which he
  /// changes as he likes; in any other folder whoever may write there can replace each file.
  package func mayKeep(_ status: FileStatus, in folder: String) -> Bool {
    trusts(owner: status) || (try? Path.status(folder))?.isSticky != true
  }

  /// - Parameter isSafe: whoever may write there can do no harm.
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

  /// Whether a group is that of one user alone: it has the user's name, and nobody else is in it. Where the
  /// files know neither, as with LDAP, it has the user's number.
  ///
  /// - Parameters:
  ///   - accounts: passwd(5).
  ///   - groups: group(5).
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
  /// It belongs to the user of this process.
  package var isOwn: Bool { owner == ProcessID.ownUser }

  /// Only its owner, and that of the folder, can rename or remove an entry (inode(7), S_ISVTX).
  fileprivate var isSticky: Bool { mode & 0o1000 != 0 }
}

/// A file or folder that was found and that somebody else may have written.
package struct ForeignFile: Equatable, Sendable, CustomStringConvertible {
  package enum Fault: Equatable, Sendable {
    case owner(UInt32)
    /// The permission bits.
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
