"""``dlprofviewer``: the pages of GPU SUMMARY without TensorBoard.

* ``main``: the command line.
* ``server``: the same routes below the same paths as in TensorBoard, and who may ask.
* ``page``: the page that loads the frontend.
"""
