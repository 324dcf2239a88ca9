"""`podrace version`."""

from ...configuration import arguments as arg
from ...configuration.app import app


@app.command(help="Print the version. As JSON, also list the releases, fixes, gates, properties and forms.")
def version(output: arg.Form = "text") -> None:
    from importlib.metadata import version

    from ...terminal.pipes import print_json, tolerant_of_closed_pipes

    with tolerant_of_closed_pipes():
        if output == "json":
            from ....analysis.known import installed

            print_json(installed())
        else:
            print(f"podrace {version('podrace')}")
