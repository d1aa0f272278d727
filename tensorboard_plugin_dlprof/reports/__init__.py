"""Files for people and scripts: ``catalog`` says what a report holds, one writer per format how it looks.

No writer knows a particular report, and no report knows a format.
"""
