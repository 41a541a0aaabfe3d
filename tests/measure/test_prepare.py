"""The published files of three question sets become a benchmark folder; the records have their fields, and made-up content."""

from __future__ import annotations

import gzip
import json

import pytest

from clew.measure import Benchmark, compare_folder, prepare


def musique(i, titles, gold, **more):
    return {
        "id": f"2hop__{i}_{i + 1}",
        "paragraphs": [
            {
                "idx": idx,
                "title": title,
                "paragraph_text": f"All about {title}.",
                "is_supporting": idx in gold,
            }
            for idx, title in enumerate(titles)
        ],
        "question": f"What is the {i}th question?",
        "question_decomposition": [
            {
                "id": n,
                "question": f"step {n} >> of",
                "answer": f"answer {n}",
                "paragraph_support_idx": idx,
            }
            for n, idx in enumerate(reversed(gold))
        ],
        "answer": "an answer",
        "answer_aliases": ["the answer"],
        "answerable": True,
    } | more


def hotpot(i, titles, gold, **more):
    return {
        "_id": f"5a{i:022d}",
        "answer": "yes",
        "question": f"Is this the {i}th question?",
        "supporting_facts": [[title, 0] for title in gold],
        "context": [[title, [f"{title} is one.", " It has two sentences."]] for title in titles],
        "type": "bridge",
        "level": "hard",
    } | more


def two_wiki(i, titles, gold):
    record = hotpot(i, titles, gold, type="compositional", evidences=[["Sofa", "director", "Ana"]])
    record["context"] = [[title, [f"{title} is one.", "It has two sentences."]] for title in titles]
    return {key: value for key, value in record.items() if key != "level"}


def lines(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def read(path):
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).decode().splitlines()]


def test_musique_keeps_gold_by_its_marks_and_the_order_of_its_steps(tmp_path):
    source = lines(
        tmp_path / "musique_ans_v1.0_dev.jsonl",
        [
            musique(1, ["Anna", "Ben", "Corfu"], [0, 2]),
            musique(2, ["Corfu", "Delos"], [0, 1]),
            musique(3, ["Anna"], [0], answerable=False),
        ],
    )
    done = prepare(source, tmp_path / "out")
    assert (done.kind, done.passages, done.questions, done.skipped) == ("musique", 4, 2, 1)
    corpus = {passage["title"]: passage for passage in read(tmp_path / "out/corpus.jsonl.gz")}
    assert list(corpus) == ["Anna", "Ben", "Corfu", "Delos"]
    assert corpus["Anna"]["text"] == "All about Anna."
    first = read(tmp_path / "out/queries.jsonl.gz")[0]
    assert first["gold_ids"] == [corpus["Anna"]["id"], corpus["Corfu"]["id"]]
    assert first["gold_order"] == first["gold_ids"][::-1]
    assert first["decomposition"] == [
        {"q": "step 0 >> of", "a": "answer 0"},
        {"q": "step 1 >> of", "a": "answer 1"},
    ]
    assert (first["id"], first["hops"], first["answer_aliases"]) == ("2hop__1_2", 2, ["the answer"])


@pytest.mark.parametrize(("kind", "record"), [("hotpotqa", hotpot), ("2wikimultihopqa", two_wiki)])
def test_hotpotqa_and_2wiki_join_sentences_and_take_gold_by_title(tmp_path, kind, record):
    source = tmp_path / "dev.json"
    source.write_text(
        json.dumps(
            [record(1, ["Anna", "Ben"], ["Ben"]), record(2, ["Corfu", "Ben"], ["Ben", "Corfu"])]
        )
    )
    done = prepare(source, tmp_path / "out")
    assert (done.kind, done.passages, done.questions) == (kind, 3, 2)
    corpus = {passage["title"]: passage for passage in read(tmp_path / "out/corpus.jsonl.gz")}
    assert corpus["Anna"]["text"] == "Anna is one. It has two sentences."
    assert [q["gold_ids"] for q in read(tmp_path / "out/queries.jsonl.gz")] == [
        [corpus["Ben"]["id"]],
        [corpus["Ben"]["id"], corpus["Corfu"]["id"]],
    ]
    assert json.loads((tmp_path / "out/meta.json").read_text())["kind"] == kind


def test_passages_are_one_by_title_and_text_together(tmp_path):
    one, other = hotpot(1, ["Anna", "Ben"], ["Anna"]), hotpot(2, ["Anna", "Ben"], ["Anna"])
    other["context"][0][1] = ["Another Anna."]
    source = tmp_path / "hotpot_dev_distractor_v1.json.gz"
    source.write_bytes(gzip.compress(json.dumps([one, other]).encode()))
    prepare(source, tmp_path / "out")
    assert [(p["title"], p["text"][:7]) for p in read(tmp_path / "out/corpus.jsonl.gz")] == [
        ("Anna", "Anna is"),
        ("Ben", "Ben is "),
        ("Anna", "Another"),
    ]
    golds = [q["gold_ids"] for q in read(tmp_path / "out/queries.jsonl.gz")]
    assert golds[0] != golds[1]


def test_what_is_prepared_can_be_opened_and_measured(tmp_path):
    source = lines(
        tmp_path / "train.jsonl",
        [musique(i, [f"Isle{i}", f"Town{i}", f"Hill{i}"], [0, 1]) for i in range(5)],
    )
    prepare(source, tmp_path / "out")
    assert len(Benchmark.open(tmp_path / "out").documents) == 15
    assert (
        compare_folder(tmp_path / "out", ["bm25"], ks=(15,), budgets=(), samples=5).mean(
            "bm25", "R@15"
        )
        == 1
    )


@pytest.mark.parametrize("name", ["musique.json", "musique.txt", "musique.jsonl"])
def test_a_file_of_lines_is_known_by_what_it_holds(tmp_path, name):
    records = [musique(i, [f"Isle{i}", f"Town{i}"], [0, 1]) for i in range(3)]
    done = prepare(lines(tmp_path / name, records), tmp_path / "out")
    (tmp_path / "list.json").write_text(json.dumps(records, indent=1), encoding="utf-8")
    assert (done.questions, done.passages) == (3, 6)
    assert prepare(tmp_path / "list.json", tmp_path / "list").questions == 3
    assert read(tmp_path / "out/corpus.jsonl.gz") == read(tmp_path / "list/corpus.jsonl.gz")


def test_a_sample_is_drawn_by_its_seed_in_the_file_s_order_and_pools_its_own_passages_alone(
    tmp_path,
):
    source = lines(
        tmp_path / "dev.jsonl", [musique(i, [f"A{i}", f"B{i}"], [0, 1]) for i in range(30)]
    )
    for out, seed in (("one", 1), ("two", 1), ("other", 2)):
        assert prepare(source, tmp_path / out, limit=6, seed=seed).passages == 12
    ids = {
        out: [q["id"] for q in read(tmp_path / out / "queries.jsonl.gz")]
        for out in ("one", "two", "other")
    }
    assert ids["one"] != ids["other"]
    assert ids["one"] == sorted(ids["one"], key=lambda name: int(name.split("_")[2]))
    for name in ("corpus.jsonl.gz", "queries.jsonl.gz", "meta.json"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


@pytest.mark.parametrize(
    ("records", "said"),
    [
        (
            [{"question": "x", "passages": []}],
            r"neither MuSiQue .* its first record has passages, question",
        ),
        ([], "there is no record in it"),
        ({"data": []}, r"must be a list of objects"),
        (
            [hotpot(1, ["Anna"], ["Ben"])],
            r"record 1: the supporting passage 'Ben' is not in the context; take .* distractor",
        ),
        (
            [hotpot(1, ["Anna"], ["Anna"]), hotpot(2, ["Anna"], [])],
            r"record 2: no passage is marked as supporting; a test split",
        ),
        (
            [hotpot(1, ["Anna"], ["Anna"], context=[["Anna"]])],
            r"record 1: context 0 must be \[title, \[sentence, \.\.\.\]\]",
        ),
        (
            [hotpot(1, ["Anna"], ["Anna"], supporting_facts=["Anna"])],
            r"record 1: 'supporting_facts' must be a list",
        ),
        (
            [musique(1, ["Anna"], [0], paragraphs=[{"idx": 0, "title": "A"}])],
            r"record 1, paragraph 0: a paragraph must be an object with",
        ),
        ([musique(1, ["Anna"], [0], answerable=False)], "none of its 1 questions is answerable"),
    ],
)
def test_a_file_of_another_kind_or_without_marks_is_refused_and_nothing_is_written(
    tmp_path, records, said
):
    source = tmp_path / "file.json"
    source.write_text(json.dumps(records))
    with pytest.raises(ValueError, match=said):
        prepare(source, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_folder_that_holds_a_benchmark_is_not_written_over(tmp_path):
    source = lines(tmp_path / "dev.jsonl", [musique(1, ["Anna"], [0])])
    prepare(source, tmp_path / "out")
    with pytest.raises(FileExistsError, match=r"already has corpus\.jsonl\.gz"):
        prepare(source, tmp_path / "out")
    with pytest.raises(FileNotFoundError, match=r"nowhere\.json is missing"):
        prepare(tmp_path / "nowhere.json", tmp_path / "other")
    with pytest.raises(ValueError, match="limit is a whole number of at least 1"):
        prepare(source, tmp_path / "other", limit=0)
