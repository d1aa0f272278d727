"""Many ranks of one job: what each rank stores at import, and what follows from all of them (``README.md``)."""
