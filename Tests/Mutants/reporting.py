"""The results on disk, the list of equivalent mutants, and the table."""

import json
import pathlib

EQUIVALENT = pathlib.Path(__file__).with_name("equivalent.txt")


class Results:
    """One line for each judgement; the last one of a mutant and a stage counts."""

    def __init__(self, path):
        self.path, self.last = path, {}
        if path.exists():
            for line in path.read_text().splitlines():
                found = json.loads(line)
                self.last[found["key"], found["stage"]] = found

    def add(self, found):
        self.last[found["key"], found["stage"]] = found
        with self.path.open("a") as file:
            file.write(json.dumps(found) + "\n")

    def of(self, mutant, stage):
        return self.last.get((mutant.key, stage), {}).get("result")

    def verdict(self, mutant):
        """"tests" or "runs" that killed it, "survived" what it was given so far, or None: not judged."""
        for stage in ("tests", "runs"):
            if self.of(mutant, stage) in ("killed", "time"):
                return stage
        if self.of(mutant, "tests") is None:
            return None
        return "survived"


def equivalents():
    """The reason for each mutant that changes nothing. Indented lines are the reason for the keys above them."""
    reasons, keys, said = {}, [], []

    def take():
        for key in keys:
            reasons[key] = " ".join(said)

    for line in EQUIVALENT.read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith(" "):
            said.append(line.strip())
            continue
        if said:
            take()
            keys, said = [], []
        keys.append(line)
    take()
    return reasons


def problems(mutated):
    """What is wrong with the list of equivalent mutants."""
    for key, reason in equivalents().items():
        if key not in mutated.by_key:
            yield f"equivalent.txt: there is no such mutant: {key}"
        if len(reason) < 20:
            yield f"equivalent.txt: no reason for {key}"


def report(made, kept, sample, results, say):
    reasons = equivalents()
    verdicts = {mutant.key: results.verdict(mutant) for mutant in sample}
    judged = [mutant for mutant in sample if verdicts[mutant.key]]
    survivors = [mutant for mutant in judged if verdicts[mutant.key] == "survived"]
    equivalent = [mutant for mutant in survivors if mutant.key in reasons]
    by_tests = sum(verdicts[mutant.key] == "tests" for mutant in judged)
    by_runs = sum(verdicts[mutant.key] == "runs" for mutant in judged)
    in_time = sum("time" in (results.of(mutant, "tests"), results.of(mutant, "runs")) for mutant in judged)
    waiting = sum(results.of(mutant, "runs") not in ("survived", "unreached") for mutant in survivors)
    counted = len(judged) - len(equivalent)
    share = f"{100 * (by_tests + by_runs) / counted:.1f} %" if counted else "-"
    rows = [
        ("made", made), ("compile", kept), ("in the sample", len(sample)), ("judged", len(judged)),
        ("killed by tests", by_tests), ("killed by runs", by_runs), ("of these, by time", in_time),
        ("survived", len(survivors)), ("of these, without all of the runs", waiting),
        ("of these, equivalent", len(equivalent)),
        ("killed of those that are not equivalent", share),
    ]
    for name, value in rows:
        say(f"{name:<42}{value:>8}")
    for mutant in sorted(survivors, key=lambda mutant: (mutant.key in reasons, mutant.number)):
        say(f"\n{mutant.file}:{mutant.line}: {mutant.kind}: {mutant.change}\n    {mutant.text}")
        say(f"    equivalent: {reasons[mutant.key]}" if mutant.key in reasons else "    NOT EXPLAINED")
