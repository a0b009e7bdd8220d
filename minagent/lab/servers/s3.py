"""An S3 in memory, which ends with its process: `python -m minagent.lab.servers.s3 127.0.0.1 5000`.

It is moto's. (moto's own server stands for all of Amazon's services, and asks itself for each request which one is
meant: that takes longer than the answer.)
"""

import sys
from typing import Any

from moto.moto_server.werkzeug_app import create_backend_app
from werkzeug.serving import run_simple

S3, MOTO_API = create_backend_app("s3"), create_backend_app("moto_api")


def answer(environ: dict[str, Any], start_response: Any) -> Any:
    """Answer a request, also one to forget everything."""
    asked = MOTO_API if environ["PATH_INFO"].startswith("/moto-api/") else S3
    return asked(environ, start_response)


if __name__ == "__main__":
    run_simple(sys.argv[1], int(sys.argv[2]), answer, threaded=True)
