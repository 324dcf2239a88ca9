"""The tools as a server of the Model Context Protocol, on stdin and stdout, by the protocol's own SDK."""

from typing import Any

import anyio
import mcp_types as types
import msgspec
from mcp.server import Server
from mcp.server.stdio import stdio_server
from msgspec import Struct

from ...analysis.version import podrace_version
from ...base.problems import Problem
from .tools import Tools

INSTRUCTIONS = (
    "podrace decides questions about the order of events in kube-scheduler, by exploring all interleavings of a small cluster. "
    "Before you claim that a race exists, or cannot, call `ask` with the steps in their order, and `check` for the property that would be violated. "
    "Say with the answer which scenario, version and scope it is about. INCONCLUSIVE is no answer. "
    "An IMPOSSIBLE or HOLDS is about this cluster and this scope; read what never acted."
)


def run(tools: Tools) -> None:
    """Serve until stdin ends."""
    anyio.run(_serve, tools)


async def _serve(tools: Tools) -> None:
    one_at_a_time = anyio.CapacityLimiter(1)

    async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_tool(name, takes) for name, (takes, _) in tools.by_name.items()])

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            answer = await anyio.to_thread.run_sync(
                tools.answer, params.name, params.arguments or {}, limiter=one_at_a_time, abandon_on_cancel=True
            )  # fmt: skip
        except Problem as problem:
            return types.CallToolResult(content=[_text(f"podrace: {problem}")], is_error=True)
        return types.CallToolResult(content=[_text(answer.text)], structured_content=answer.document)

    server = Server(
        "podrace", version=podrace_version(), instructions=INSTRUCTIONS, on_list_tools=list_tools, on_call_tool=call_tool
    )  # fmt: skip
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def _text(text: str) -> types.TextContent:
    return types.TextContent(type="text", text=text)


def _tool(name: str, takes: type[Struct]) -> types.Tool:
    schema = msgspec.json.schema(takes)["$defs"][takes.__name__]
    return types.Tool(
        name=name,
        description=schema.pop("description"),
        input_schema=schema,
        annotations=types.ToolAnnotations(
            read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        ),
    )
