from pathlib import Path

from vendor_tool import memory


def test_an_answer_is_found_again_by_its_question_alone(tmp_path: Path) -> None:
    place = memory.place(tmp_path, "kind", ["question", {"b": 1, "a": 2}])
    assert memory.recall(place) is None
    memory.remember(place, [None, True])
    assert memory.recall(memory.place(tmp_path, "kind", ["question", {"a": 2, "b": 1}])) == [None, True]
    assert memory.recall(memory.place(tmp_path, "kind", ["another"])) is None


def test_a_damaged_answer_is_none(tmp_path: Path) -> None:
    place = memory.place(tmp_path, "kind", "question")
    memory.remember(place, {"a": 1})
    place.write_text('{"a":', encoding="utf-8")
    assert memory.recall(place) is None


def test_a_path_that_is_not_utf8_can_be_asked_about(tmp_path: Path) -> None:
    assert memory.place(tmp_path, "kind", "caf\udce9") != memory.place(tmp_path, "kind", "caf\udce8")


def test_a_cache_that_cannot_be_written_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "kind").write_text("in the way", encoding="utf-8")
    place = memory.place(tmp_path, "kind", "question")
    memory.remember(place, 1)
    assert memory.recall(place) is None
