"""The forms of the bodies, by the OpenAPI document."""

import json
import os
import pathlib

import jsonschema

from server import malformed

COMPONENTS = json.loads(pathlib.Path(os.environ["CONTRACT"]).read_text())["components"]
FORMATS = jsonschema.FormatChecker(["uuid"])


def check(body, name):
    schema = {"$ref": f"#/components/schemas/{name}", "components": COMPONENTS}
    for error in jsonschema.Draft202012Validator(schema, format_checker=FORMATS).iter_errors(body):
        raise malformed(f"{'.'.join(map(str, error.absolute_path)) or 'the body'}: not as the document says")
    return body
