"""A report as YAML: the same fields as its JSON."""

import json


def as_yaml(report: str) -> str:
    """The YAML of a report that is given as JSON."""
    import yaml  # late: a tenth of a second that no other form needs

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    text: str = yaml.dump(json.loads(report), Dumper=dumper, sort_keys=False, allow_unicode=True, width=100)
    return text
