"""Makes a Python wheel that installs the files of a prefix: bin as scripts, the rest as data.

Usage: wheel.py PREFIX VERSION MACHINE COMPRESSION FOLDER
All files get the date SOURCE_DATE_EPOCH. Prints the wheel's path.
"""

import base64
import hashlib
import os
import pathlib
import sys
import time
import zipfile

METADATA = """\
Metadata-Version: 2.1
Name: opflow
Version: {version}
Summary: A task runner for Linux that can be killed and resumed
Keywords: task runner,workflow,make,parallel
Classifier: Environment :: Console
Classifier: Operating System :: POSIX :: Linux
Requires-Python: >=3.7
Description-Content-Type: text/markdown

"""


def main():
    prefix, version, machine, level, folder = sys.argv[1:]
    # The programs need no libraries of the system. The tags exclude distributions with a kernel
    # that is too old for opflow.
    tags = [f"py3-none-manylinux_2_31_{machine}", f"py3-none-musllinux_1_2_{machine}"]
    stem = f"opflow-{version}"
    info = f"{stem}.dist-info"
    readme = pathlib.Path(__file__).parents[2] / "README.md"
    date = time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))[:6]
    platforms = ".".join(tag.split("-")[2] for tag in tags)
    path = pathlib.Path(folder, f"{stem}-py3-none-{platforms}.whl")
    unfinished = path.with_suffix(".new")
    record = []

    with zipfile.ZipFile(unfinished, "w") as wheel:

        def add(name, content, mode=0o644):
            member = zipfile.ZipInfo(name, date)
            member.create_system = 3  # Unix: external_attr contains the file mode
            member.external_attr = (0o100000 | mode) << 16
            member.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(member, content, compresslevel=int(level))
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
            record.append(f"{name},sha256={digest.decode()},{len(content)}\n")

        for file in sorted(pathlib.Path(prefix).rglob("*")):
            if not file.is_file():
                continue
            place = file.relative_to(prefix)
            if place.parts[0] == "bin":
                name = f"{stem}.data/scripts/{place.name}"
            else:
                name = f"{stem}.data/data/{place}"
            add(name, file.read_bytes(), 0o755 if os.access(file, os.X_OK) else 0o644)
        add(f"{info}/METADATA", METADATA.format(version=version).encode() + readme.read_bytes())
        about = "Wheel-Version: 1.0\nGenerator: opflow\nRoot-Is-Purelib: false\n"
        about += "".join(f"Tag: {tag}\n" for tag in tags)
        add(f"{info}/WHEEL", about.encode())
        record.append(f"{info}/RECORD,,\n")
        add(f"{info}/RECORD", "".join(record).encode())

    unfinished.rename(path)
    print(path)


main()
