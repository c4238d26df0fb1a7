#!/usr/bin/env python3
"""Finds words and constructions that opflow's texts avoid.

Usage: scripts/pages/words.py [--update]

Searches the messages in Tests/Golden/messages.txt, the pages of the manual, README.md and
CHANGELOG.md, and the comments of Swift and C sources with Package.swift, of jobs, of scripts and of
.ci/run. Prints FILE:LINE: RULE: TEXT for each finding and exits with 1. scripts/pages/words.allowed
lists the exceptions: a file, a rule and the number of findings that are allowed there. A number that
is too high is an error too, so that the list only shrinks. --update lowers the numbers.
"""

import pathlib
import re
import subprocess
import sys
from collections import Counter, defaultdict

ROOT = pathlib.Path(__file__).resolve().parents[2]
ALLOWED = ROOT / "scripts/pages/words.allowed"

# Each rule's name and pattern. The glossary in Contributing.md has the words to use.
RULES = {
    "drive": r"\bdrives?\b",
    "leg": r"\blegs?\b",
    "family": r"\bfamil(?:y|ies)\b",
    "mistake": r"\bmistakes?\b",
    "slip": r"\bslips?\b",
    "ring": r"\brings?\b",
    "site": r"(?<!web )(?<!call )\bsites?\b",
    "lease": r"\bleases?\b",
    "seat": r"\bseats?\b",
    "handed ahead": r"\bhanded (?:ahead|out)\b",
    "gate": r"\bgates?\b",
    "holdup": r"\bhold-?ups?\b",
    "unkept": r"\bunkept\b",
    "crew": r"\bcrews?\b",
    "adder": r"\badders?\b",
    "withdraw": r"\bwithdr[ae]w",
    "anew": r"\banew\b",
    "besides": r"\bbesides\b",
    "otherwise": r"\botherwise\b",
    "blank": r"(?<!or )\bblanks?\b(?! lines?)",
    "line end": r"\bline ends?\b",
    "reused": r"\breused\b",
    "needs not met": r"\bneeds? (?:not|cannot be|was not) met\b",
    "is no": r"\b(?:is|are|was|were) no(?:ne)? (?!longer|more\b|way|need|limit)[a-z]+ (?:of|that|to|in)\b",
    "is none": r"\bis none\b(?! of)",
    "nothing that": r"\bnothing that\b(?! you)",
    "stands": r"\bst(?:ands?|ood) (?:in|at|on|for|under|there|still)\b",
    "lies": r"\b(?:lies|lay) (?:in|at|on|under|beside|there)\b",
    "goes on": r"\b(?:goes|go|went) on\b(?! strike)",
    "tells": r"\bis told\b|\btells? (?:of|that)\b",
    "comes to nothing": r"\bcomes? to nothing\b",
    "what": r"(?:^|[.;,(] |\bof |\band |\bwith |\bfor )what (?:is|was|are|were|needs?|runs?|fails?|failed|waits?|it|they|has|had|goes|comes|follows)\b",
    "whoever": r"\b(?:whoever|he who|who(?:ever)? asked)\b",
    "as it stands": r"\bas (?:it|they) stands?\b",
}
PATTERNS = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in RULES.items()}
COMMENT = re.compile(r"^\s*(?:///?|/?\*\s)\s?(.*)")


def tracked(*patterns):
    out = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *patterns],
        cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [name for name in out.split("\0") if name and (ROOT / name).is_file()]


def texts():
    """Yields the file, the line number and the text of each line to search."""
    prose = ["Tests/Golden/messages.txt", "README.md", "CHANGELOG.md", "Sources/*.md", "jobs/*.md"]
    for name in tracked(*prose):
        fenced = False
        for number, line in enumerate((ROOT / name).read_text().splitlines(), 1):
            if line.lstrip().startswith("```"):
                fenced = not fenced
            elif not fenced:
                # Code in backquotes has words of formats and flags.
                yield name, number, re.sub(r"`[^`]*`|\{[^}]*\}", "`x`", line)
    for name in tracked("*.swift", "*.c", "*.h"):
        for number, line in enumerate((ROOT / name).read_text().splitlines(), 1):
            comment = COMMENT.match(line)
            if comment:
                yield name, number, re.sub(r"`[^`]*`", "`x`", comment.group(1))
    # In these files, a comment begins with `#`. C sources are searched above.
    for name in tracked("jobs/*.yaml", "jobs/*.yml", "scripts", ".ci/run"):
        if name.endswith((".c", ".h")):
            continue
        for number, line in enumerate((ROOT / name).read_text().splitlines(), 1):
            if line.lstrip().startswith("#") and not line.startswith("#!"):
                yield name, number, re.sub(r"`[^`]*`", "`x`", line.lstrip("# "))


def main():
    if sys.argv[1:] not in ([], ["--update"]):
        sys.exit(__doc__)
    found = defaultdict(list)
    for name, number, text in texts():
        for rule, pattern in PATTERNS.items():
            if pattern.search(text):
                found[name, rule].append(f"{name}:{number}: {rule}: {text.strip()}")
    allowed = Counter()
    if ALLOWED.exists():
        for line in ALLOWED.read_text().splitlines():
            name, rule, count = line.split("\t")
            allowed[name, rule] = int(count)
    failed = False
    for key in sorted(set(found) | set(allowed)):
        count, most = len(found[key]), allowed[key]
        if count > most:
            failed = True
            print("\n".join(found[key]))
        elif count < most and sys.argv[1:] == []:
            failed = True
            print(f"{key[0]}: {key[1]}: {most} allowed, {count} found; run words.py --update")
    if sys.argv[1:] == ["--update"]:
        rows = [(key, min(count, len(found[key]))) for key, count in sorted(allowed.items())]
        ALLOWED.write_text("".join(
            f"{name}\t{rule}\t{count}\n" for (name, rule), count in rows if count))
    sys.exit(1 if failed else 0)


main()
