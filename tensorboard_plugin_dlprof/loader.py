"""The entry point for TensorBoard: defines the flags, and loads the plugin only when TensorBoard asks for it.

TensorBoard does not start if this module cannot be imported, so it imports nothing but TensorBoard's own base class.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from tensorboard.plugins import base_plugin

if TYPE_CHECKING:
    from tensorboard_plugin_dlprof.routes.plugin import DlprofPlugin


class DlprofLoader(base_plugin.TBLoader):  # type: ignore[misc]
    """Defines the flags and loads the plugin."""

    def define_flags(self, parser: argparse.ArgumentParser) -> None:
        """Add our flags to TensorBoard's."""
        group = parser.add_argument_group("GPU profiles (dlprof)")
        group.add_argument(
            "--dlprof_cache_dir",
            metavar="DIR",
            type=str,
            default="",
            help="Folder for the databases that are made from traces on demand (default: the user's cache folder).",
        )
        group.add_argument(
            "--dlprof_cache_limit",
            metavar="GB",
            type=float,
            default=10.0,
            help="Size of that folder, in GB: the databases that were not used for the longest time are deleted "
            "(default: %(default)s).",
        )
        group.add_argument(
            "--dlprof_import",
            choices=("auto", "off"),
            default="auto",
            help="Whether a trace that has no database yet is imported when it is opened (default: %(default)s).",
        )
        group.add_argument(
            "--dlprof_reaggregate",
            choices=("on", "off"),
            default="on",
            help="Whether users who open a profile may aggregate other iterations of it (default: %(default)s).",
        )
        group.add_argument(
            "--dlprof_perfetto",
            metavar="URL|off",
            type=str,
            default="https://ui.perfetto.dev",
            help="Address of the Perfetto that the timeline hands a window over to, inside the browser and only when "
            "asked; off hides the button (default: %(default)s).",
        )
        group.add_argument(
            "--dlprof_memory_limit",
            metavar="GB",
            type=float,
            default=0.0,
            help="Memory that one import or aggregation may use, in GB (default: half of the machine's, at most 8).",
        )
        group.add_argument(
            "--dlprof_kernel_rules",
            metavar="FILE",
            type=str,
            default="",
            help="JSON file of your own rules for kernels, used when a trace is imported; the environment variable "
            "DLPROF_KERNEL_RULES may name one, too.",
        )
        group.add_argument(
            "--dlprof_allowed_dirs",
            metavar="DIR[,DIR]",
            type=str,
            default="",
            help="Folders outside of the log directory into which symbolic links may lead, separated by commas.",
        )
        group.add_argument(
            "--dlprof_allowed_hosts",
            metavar="NAME[,NAME]",
            type=str,
            default="",
            help="Names by which browsers may call this server, separated by commas; * allows any. localhost, IP "
            "addresses and the name of this machine are always allowed; without a list, a server for the whole network "
            "(--bind_all, --host) accepts any name. The environment variable DLPROF_ALLOWED_HOSTS adds to the list.",
        )

    def fix_flags(self, flags: argparse.Namespace) -> None:
        """Check the file of kernel rules, so that TensorBoard ends with a clear message instead of logging it later.

        Raises:
            FlagsError: The file cannot be read or is invalid.
        """
        from tensorboard_plugin_dlprof.classify.load_rules import load_rules
        from tensorboard_plugin_dlprof.errors import ProfileError

        try:
            load_rules(getattr(flags, "dlprof_kernel_rules", "") or "")
        except ProfileError as error:
            raise base_plugin.FlagsError(str(error)) from None

    def load(self, context: Any) -> DlprofPlugin:
        """Load and return the plugin."""
        from tensorboard_plugin_dlprof.routes.plugin import DlprofPlugin

        return DlprofPlugin(context)
