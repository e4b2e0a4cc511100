"""One-line mistakes in the backend, and the check that finds each. What its check does not find gets all checks."""

import shutil
import subprocess
import time

import kit


def read(line):
    """The check, what a line of the backend has, and what it has in its place."""
    check, _, change = line.partition(" ")
    old, new = change.split(" =>")
    return check, old, new.strip()


MUTANTS = [read(line) for line in (kit.HERE / "mutants.txt").read_text().splitlines()]


def judge(mutant, number, simulator, folder, postgres, store):
    """The checks that fail with this mutant in the backend."""
    check, old, new = mutant
    source = folder / f"mutant-{number}"
    shutil.copytree(kit.HERE, source, ignore=shutil.ignore_patterns("kit.py", "mutants.*"))
    found = [file for file in source.iterdir() for _ in range(file.read_text().count(old))]
    if len(found) != 1:
        raise SystemExit(f"the backend has {len(found)} times, and not once: {old}")
    found[0].write_text(found[0].read_text().replace(old, new))
    with kit.backend(source, source, postgres, store, f"mutant_{number}") as site:
        for options in (["--only", check], []):
            run = site.conformance(simulator, options, stdout=subprocess.PIPE, text=True)
            failed = [line.split()[1] for line in run.stdout.splitlines() if line.lstrip().startswith("FAIL")]
            if failed:
                return failed
    return []


def main(simulator, folder, texts):
    chosen = [mutant for mutant in MUTANTS if all(text in " => ".join(mutant) for text in texts)]
    found = 0
    with kit.running(kit.Postgres(folder)) as postgres, \
            kit.running(kit.Store(simulator, folder, "production")) as store:
        for number, mutant in enumerate(chosen):
            start = time.monotonic()
            failed = judge(mutant, number, simulator, folder, postgres, store)
            found += bool(failed)
            seconds = time.monotonic() - start
            print(f"{'found   ' if failed else 'SURVIVED'} {seconds:4.1f} s  {', '.join(failed[:3]):<30} "
                  f"{mutant[1]} => {mutant[2]}", flush=True)
    print(f"{found} of {len(chosen)} mutants found")
    return 0 if found == len(chosen) > 0 else 1
