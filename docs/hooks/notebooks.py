"""The notebooks in docs/notebooks: their cells run one after the other, and what they give is what they show.

python docs/hooks/notebooks.py runs them and writes their outputs anew; a test compares the text of these.
"""

import ast
import base64
import contextlib
import io
import json
import os
import tempfile
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parents[1] / "notebooks"


def executed(notebook: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """The outputs of each cell, run in a folder of its own."""
    names: dict[str, Any] = {"__name__": "__main__"}
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            return [_outputs("".join(cell["source"]), names) for cell in code_cells(notebook)]
        finally:
            os.chdir(before)


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """Those that are run."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def text_of(outputs: list[dict[str, Any]]) -> str:
    """What a cell says; a picture is left to the eye."""
    return "".join("".join(one.get("text", one.get("data", {}).get("text/plain", ""))) for one in outputs)


def _outputs(source: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    """Run a cell; its last line, if it is an expression, is shown as a notebook shows it."""
    body = ast.parse(source).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    output, value = io.StringIO(), None
    with contextlib.redirect_stdout(output):
        exec(compile(ast.Module(body, []), "<cell>", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
    text = output.getvalue()
    stream = [{"output_type": "stream", "name": "stdout", "text": text.splitlines(True)}] if text else []
    return stream if value is None else [*stream, {"output_type": "execute_result", "metadata": {}, **_shown(value)}]


def _shown(value: Any) -> dict[str, Any]:
    if hasattr(value, "savefig"):
        file = io.BytesIO()
        value.savefig(file, format="png", dpi=60)
        data: dict[str, Any] = {"image/png": base64.b64encode(file.getvalue()).decode(), "text/plain": ["a figure"]}
    else:
        data = {"text/plain": repr(value).splitlines(True)}
        if hasattr(value, "_repr_html_"):
            data |= {"text/plain": [f"<{type(value).__name__}>"], "text/html": [value._repr_html_()]}
    return {"data": data, "execution_count": None}


def main() -> None:
    """Run them all."""
    for path in sorted(FOLDER.glob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        for cell, outputs in zip(code_cells(notebook), executed(notebook), strict=True):
            cell["outputs"] = outputs
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
