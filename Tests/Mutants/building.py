"""The build of all mutants: a copy of the tree, rewritten, without those that do not compile."""

import json
import os
import pathlib
import re
import shutil
import subprocess

import rewriting
from mutants import find

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODULES = {
    "PurchaseSync": ["Decisions", "Machine", "Retry", "Matching"],
    "PurchaseQueue": [
        *(f"QueueFile/QueueFile+{part}.swift" for part in (
            "Capacity", "Enqueue", "Outcomes", "Payloads", "Settling", "Tombstones", "Turns")),
        *(f"Model/{part}.swift" for part in ("Entry", "History", "QueueBooks", "QueueLimits", "Tombstone")),
        "Storage/Totals.swift", "Storage/TotalsCache.swift", "Delivery",
    ],
}
# It only passes calls on.
LEFT_OUT = {"Sources/PurchaseSync/Machine/Storage/ForwardingStorage.swift"}
ERROR = re.compile(r"^(?P<file>/[^:\n]+\.swift):(?P<line>\d+):\d+: error: (?P<what>.*)$", re.M)


def sources():
    """The decision code: pairs of module and path."""
    for module, parts in MODULES.items():
        for part in parts:
            place = ROOT / "Sources" / module / part
            for path in sorted(place.rglob("*.swift")) if place.is_dir() else [place]:
                name = str(path.relative_to(ROOT))
                if name not in LEFT_OUT:
                    yield module, name


class Mutated:
    """All mutants, numbered, in the order of the files."""

    def __init__(self):
        self.sources, self.all = [], []
        for module, name in sources():
            source, found = find(name, (ROOT / name).read_text())
            for mutant in found:
                mutant.module, mutant.number = module, len(self.all) + 1
                self.all.append(mutant)
            self.sources.append((module, name, source, found))
        self.by_key = {mutant.key: mutant for mutant in self.all}


class Copy:
    def __init__(self, folder, mutated):
        self.folder, self.mutated = folder, mutated
        self.tree = folder / "tree"
        self.dropped_file = folder / "dropped.json"
        known = json.loads(self.dropped_file.read_text()) if self.dropped_file.exists() else {}
        self.dropped = {key: why for key, why in known.items() if key in mutated.by_key}
        self.rewritten = {}

    def write(self):
        """Copies the tree; a file that is as it was is left alone, so that the next build is a small one."""
        self.folder.mkdir(parents=True, exist_ok=True)
        texts = {}
        names = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True,
            capture_output=True, text=True).stdout.split("\0")
        for name in names:
            if name and (ROOT / name).is_file():
                texts[name] = (ROOT / name).read_bytes()
        texts["Package.swift"] += rewriting.MANIFEST.encode()
        texts["Sources/CMutants/include/CMutants.h"] = rewriting.HEADER.encode()
        texts["Sources/CMutants/mutants.c"] = rewriting.IMPLEMENTATION.encode()
        operators = {}
        for module, name, source, found in self.mutated.sources:
            kept = [mutant for mutant in found if mutant.key not in self.dropped]
            rewritten = rewriting.Rewriting(source, kept)
            self.rewritten[name] = rewritten
            operators.setdefault(module, []).extend(rewritten.operators)
            texts[name] = rewritten.text.encode()
        for module, those in operators.items():
            texts[f"Sources/{module}/Mutants.swift"] = rewriting.support(those).encode()
        for name, text in texts.items():
            path = self.tree / name
            if not path.exists() or path.read_bytes() != text:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(text)
        for folder in ("Sources", "Tests"):
            for path in list((self.tree / folder).rglob("*.swift")):
                if str(path.relative_to(self.tree)) not in texts:
                    path.unlink()

    def check(self):
        """Each kept mutant is asked for in the text of its file, or has its operator there."""
        for _, name, source, found in self.mutated.sources:
            text = rewriting.Rewriting(source, found).text
            for mutant in found:
                if not any(mark in text for mark in rewriting.marks(mutant)):
                    raise SystemExit(f"{name} does not ask for {mutant.key}")

    def swift(self, *arguments):
        return subprocess.run(
            ["swift", "build", *arguments], cwd=self.tree, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, env=os.environ | {"PURCHASE_SYNC_LAB": "1"})

    def build(self, say):
        """Drops what does not compile, module by module, and builds the tests and the lab."""
        self.write()
        for module in ("PurchaseQueue", "PurchaseSync"):
            for turn in range(12):
                built = self.swift("--target", module)
                if built.returncode == 0:
                    break
                found = self.drop(built.stdout)
                say(f"{module}, round {turn + 1}: {found} mutants do not compile")
                if not found:
                    raise SystemExit(f"{module} does not build:\n{built.stdout[-4000:]}")
                self.write()
            else:
                raise SystemExit(f"{module} does not build after 12 rounds")
        lab = ["-c", "release", "--product", "purchase-lab"]
        for arguments in (["--product", "purchase-syncPackageTests"], lab):
            built = self.swift(*arguments)
            if built.returncode:
                raise SystemExit(f"swift build {' '.join(arguments)} fails:\n{built.stdout[-4000:]}")

    def drop(self, output):
        found = {}
        for match in ERROR.finditer(output):
            path = pathlib.Path(match["file"])
            if not path.is_relative_to(self.tree):
                continue
            rewritten = self.rewritten.get(str(path.relative_to(self.tree)))
            if rewritten is None:
                continue
            line = int(match["line"])
            for mutant in rewritten.guilty(line) or rewritten.around(line):
                found[mutant.key] = match["what"]
        self.dropped.update(found)
        self.dropped_file.write_text(json.dumps(self.dropped, indent=0, sort_keys=True))
        return len(found)

    def take_programs(self):
        """Copies what was built, so that the next build does not change it under a run."""
        self.programs = self.folder / f"programs-{os.getpid()}"
        self.programs.mkdir(exist_ok=True)
        for built in ("debug/purchase-syncPackageTests.xctest", "release/purchase-lab"):
            if (self.tree / ".build" / built).exists():
                shutil.copy2(self.tree / ".build" / built, self.programs)

    def remove_programs(self):
        shutil.rmtree(self.programs)

    @property
    def tests(self):
        return self.programs / "purchase-syncPackageTests.xctest"

    @property
    def lab(self):
        return self.programs / "purchase-lab"

    def kept(self):
        return [mutant for mutant in self.mutated.all if mutant.key not in self.dropped]
