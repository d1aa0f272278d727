#!/bin/sh
# Prints the command of a Python that can run the project and make virtual environments, or says what is missing.
# Usage: choose_python.sh [COMMAND]; without COMMAND: python3, then python3.14 down to python3.10.

suits='import sys, venv, ensurepip; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 14))'

if [ -n "${1:-}" ]; then
    candidates=$1
else
    candidates="python3 python3.14 python3.13 python3.12 python3.11 python3.10"
fi
for candidate in $candidates; do
    # Some commands are shims without a Python behind them, so asking is the only way to know.
    if "$candidate" -c "$suits" >/dev/null 2>&1; then
        echo "$candidate"
        exit 0
    fi
done

echo "No suitable Python: Python 3.10 to 3.14 with the venv module is needed." >&2
for candidate in $candidates; do
    if version=$("$candidate" -V 2>&1); then
        if "$candidate" -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 14))' >/dev/null 2>&1; then
            echo "  $candidate is $version, without venv (on Debian and Ubuntu: apt install python3-venv)" >&2
        else
            echo "  $candidate is $version" >&2
        fi
    fi
done
echo "Install one, or name one: make demo PYTHON=/path/to/python3" >&2
exit 1
