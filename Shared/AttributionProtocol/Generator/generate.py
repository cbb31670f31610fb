"""Generates the Swift messages, the method tables, the typed clients, openapi.json and pages from the .proto files and public-routes.json.

    python3 generate.py            writes Generated/**/*.swift, here and in AttributionClient, Contract/openapi.json and promises.txt,
                                   and in Documentation rpc-reference.md, event-reference.md and public-routes.md
    python3 generate.py --check    prints what would change, and fails if anything would
"""

import argparse
import difflib
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from contract import CLIENTS, CONTRACT, MODULE, compiled
from openapi_document import openapi
from promises import kept, promises
from public_routes_page import public_routes
from reference_pages import event_reference, reference
from swift_files import client_files, swift_files


def formatted(made: dict[str, str]) -> dict[str, str]:
    with tempfile.TemporaryDirectory() as folder:
        for name, text in made.items():
            (pathlib.Path(folder) / name).write_text(text)
        configuration = MODULE.parent.parent / ".swift-format"
        subprocess.run(["swift", "format", "-i", "--parallel", "--recursive", "--configuration", str(configuration), folder], check=True)
        return {name: (pathlib.Path(folder) / name).read_text() for name in made}


def folder_of(name: str) -> str:
    """The folder of a generated file: the service or the file of the contract that it is made from."""
    return re.sub(r"(Messages)?\d*\.swift$", "", name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    files, comments = compiled()
    made = {MODULE / "Generated" / folder_of(name) / name: text for name, text in formatted(swift_files(files, comments)).items()}
    made |= {CLIENTS / name: text for name, text in formatted(client_files(files, comments)).items()}
    made[MODULE.parent.parent / "Documentation" / "rpc-reference.md"] = reference(files, comments)
    made[MODULE.parent.parent / "Documentation" / "event-reference.md"] = event_reference(files, comments)
    made[MODULE.parent.parent / "Documentation" / "public-routes.md"] = public_routes()
    promised = CONTRACT / "promises.txt"
    made[promised] = "\n".join(kept(promised.read_text().splitlines() if promised.exists() else [], promises(files))) + "\n"
    made[CONTRACT / "openapi.json"] = json.dumps(openapi(files, comments), indent=1, ensure_ascii=False) + "\n"
    stale = [path for folder in (MODULE / "Generated", CLIENTS) for path in folder.rglob("*.swift") if path not in made]
    different = False
    for path, text in made.items():
        old = path.read_text() if path.exists() else ""
        if old == text:
            continue
        different = True
        if check:
            sys.stdout.writelines(list(difflib.unified_diff(old.splitlines(True), text.splitlines(True), str(path), "as made"))[:40])
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    for path in stale:
        different = True
        print(f"{path}: no longer made from the contract")
        if not check:
            path.unlink()
    if check and different:
        raise SystemExit("the contract and what is made from it differ: run generate.py")


if __name__ == "__main__":
    main()
