"""Interned texts, and texts that can be stored in any file."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt


class Strings:
    """Interned texts. Ids are dense from 0; id 0 is always the empty text."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._ids: dict[str, int] = {"": 0}
        self._texts: list[str] = [""]
        for text in texts:
            self.intern(text)

    def intern(self, text: str) -> int:
        """The id of ``text``, which is added if it is new."""
        result = self._ids.get(text)
        if result is None:
            result = self._ids[text] = len(self._texts)
            self._texts.append(text)
        return result

    def intern_all(self, texts: Iterable[str]) -> list[int]:
        """The ids of some texts, which are added if they are new."""
        ids, known = self._ids, self._texts
        result = []
        for text in texts:
            number = ids.get(text)
            if number is None:
                number = ids[text] = len(known)
                known.append(text)
            result.append(number)
        return result

    def __getitem__(self, index: int) -> str:
        return self._texts[index]

    def __len__(self) -> int:
        return len(self._texts)

    def some(self, indices: npt.NDArray[np.integer]) -> list[str]:
        """The texts of some ids."""
        return list(map(self._texts.__getitem__, indices.tolist()))

    def texts(self) -> list[str]:
        """All texts, in the order of their ids. Do not change the list."""
        return self._texts


def valid_text(text: str) -> str:
    """``text`` with lone surrogates replaced by ``?``: JSON and Python literals may contain them, but UTF-8 cannot."""
    return text.encode("utf-8", "replace").decode("utf-8")
