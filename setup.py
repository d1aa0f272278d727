"""Packaging: what is installed, and that the frontend is built when it is absent.

The built frontend is committed in ``tensorboard_plugin_dlprof/static``, so an installation from a clone needs no
Node. It is built when it is absent, or when ``DLPROF_BUILD_FRONTEND=1`` asks for it.
"""

from __future__ import annotations

import compileall
import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
PACKAGE = "tensorboard_plugin_dlprof"
BUNDLE = ROOT / PACKAGE / "static" / "index.js"
FRONTEND = ROOT / "frontend"

# Constants only, and without importing the package: its dependencies are not there while it is being built.
METADATA = runpy.run_path(str(ROOT / PACKAGE / "metadata.py"))


class BuildWithFrontend(build_py):
    """Puts the frontend's bundle in place before the package's files are collected."""

    def run(self) -> None:
        """Builds the bundle where it is needed, then the package. Who works on a clone runs ``make frontend``."""
        if self.editable_mode:
            # pip compiles what it copies, not what stays where it is; and where Python writes no bytecode, as in many
            # containers, each start would compile all of it anew: an import of a small trace takes twice as long.
            compileall.compile_dir(ROOT / PACKAGE, quiet=2)
        elif os.environ.get("DLPROF_BUILD_FRONTEND") == "1" or not BUNDLE.is_file():
            build_frontend()
        super().run()


def build_frontend() -> None:
    """Runs the frontend's build, or ends with a sentence that says what is missing."""
    npm = shutil.which("npm")
    if npm is None:
        sys.exit(
            f"The frontend is not built ({BUNDLE.relative_to(ROOT)} is missing) and npm is not on the PATH: install "
            "Node 20.19 or newer, or install from a release or a clone, which hold the built frontend."
        )
    subprocess.run([npm, "ci", "--no-audit", "--no-fund"], cwd=FRONTEND, check=True)
    subprocess.run([npm, "run", "build"], cwd=FRONTEND, check=True)


setup(
    name="tensorboard-plugin-dlprof",
    version=METADATA["VERSION"],
    description="GPU profiles of deep-learning programs, inside TensorBoard",
    long_description=(ROOT / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    license_files=["LICENSE"],
    keywords=["tensorboard", "profiler", "gpu", "cuda", "tensor cores", "pytorch", "nsight systems", "dlprof"],
    classifiers=[
        "Development Status :: 4 - Beta",
        "Environment :: Web Environment",
        "Intended Audience :: Developers",
        "Intended Audience :: Science/Research",
        "Programming Language :: Python :: 3",
        "Programming Language :: Python :: 3.10",
        "Programming Language :: Python :: 3.11",
        "Programming Language :: Python :: 3.12",
        "Programming Language :: Python :: 3.13",
        "Programming Language :: Python :: 3.14",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
        "Topic :: Software Development :: Debuggers",
    ],
    python_requires=">=3.10",
    packages=find_packages(include=[PACKAGE, f"{PACKAGE}.*"]),
    package_data={
        PACKAGE: [
            "py.typed",
            "static/**/*",
            "classify/README.md",
            "cli/README.md",
            "counters/README.md",
            "database/README.md",
            "database/sql/*.sql",
            "samples/data/**/*",
            "ranks/README.md",
            "routes/http_api.md",
            "analysis/README.md",
            "run_metadata/*.pyi",
        ]
    },
    install_requires=[
        "tensorboard>=2.21,<3",
        "protobuf>=6.31.1,<8",
        "werkzeug>=3.0,<4",
        "numpy>=1.23.5,<3",
        "pandas>=1.5.3,<4",
        "msgspec>=0.18,<1",
        "XlsxWriter>=3.0.9,<4",
    ],
    extras_require={
        "test": [
            "axe-playwright-python",
            "build",
            "hypothesis",
            "mcp>=2.0",
            "moto[server]",
            "mypy",
            "pandas-stubs",
            "playwright",
            "pytest",
            "pytest-playwright",
            "pytest-xdist",
            "ruff",
            "s3fs",
            "setuptools>=77",
            "types-protobuf",
            "wheel",
        ],
        "dask": ["distributed"],
        "mcp": ["mcp>=2.0"],
        "s3": ["fsspec", "s3fs"],
        "gcs": ["fsspec", "gcsfs"],
    },
    entry_points={
        "tensorboard_plugins": [f"{METADATA['PLUGIN_NAME']} = {PACKAGE}.loader:DlprofLoader"],
        "console_scripts": [
            f"dlprof = {PACKAGE}.__main__:main",
            f"dlprofviewer = {PACKAGE}.viewer.main:main",
        ],
    },
    cmdclass={"build_py": BuildWithFrontend},
    zip_safe=False,
)
