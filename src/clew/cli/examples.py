"""What `--help` shows below the options: how each command is typed."""

WHAT = """From a folder of texts and a question to what a language model should read:
a connected, budgeted, ordered context, with the reason for every item.

No language model, no key and no network is needed."""

EXAMPLES = """examples:
  clew ask docs/ "How do I cancel a running job?"
  clew ask docs/ "How do I cancel a running job?" --budget 800 --explain
  clew index docs/ -o docs.clew && clew ask docs.clew "How do I cancel a running job?"
  clew recipes

`clew COMMAND --help` says more about each command."""

ASK = """examples:
  clew ask docs/ "How do I cancel a running job?"              the context, then its sources
  clew ask docs/ "..." --budget 500 --explain                  why each item is there, what was left out
  clew ask docs/ "..." --names --style numbered                a walk over names and facts, items numbered to be cited
  clew ask docs/ "..." --where file_name=jobs.md --where file_name=queues.md
  clew ask docs/ "What is all of this about?" --reports --recipe global   reports on the parts of the corpus
  clew ask docs/ "..." --json | jq '.items[].id'
  clew ask docs/ "..." --html why.html                         a page that shows the way to every item

A folder is read each time; save an index with `clew index` to read it once.
The context goes to stdout, remarks to stderr."""

INDEX = """examples:
  clew index docs/ -o docs.clew
  clew index docs/ -o docs.clew --tokens 128 --embedder all-MiniLM-L6-v2
  clew index docs/ -o docs.clew --facts facts.json             {"intro.md": [["clew", "is a", "ball of thread"]]}
  clew index docs/ -o docs.clew --model langchain_openai:ChatOpenAI:gpt-4o-mini --dry-run     how many calls and tokens
  clew index docs/ -o docs.clew --model langchain_openai:ChatOpenAI:gpt-4o-mini               once more: only what failed
  clew ask docs.clew "How do I cancel a running job?" """

DOCUMENT = """examples:
  clew document src/ -o docs/
  clew document src/ -o docs/ --sections 12 --by graph
  clew document notes.clew -o docs/ --title "Notes" --budget 800

Questions on every branch of the documents (module, class and function; chapter and section) are clustered; each cluster becomes
a section with a summary, explanations, examples and sources. Without a language model (--model) the sections are extracts."""

RECIPES = """examples:
  clew recipes
  clew recipes hipporag
  clew recipes --json | jq 'keys'"""

MEASURE = """examples:
  clew measure --prepare hotpot_dev_distractor_v1.json -o hotpot/ --questions 500
  clew measure hotpot/
  clew measure hotpot/ --recipes dense,bm25,fused --budgets 512,2048 --intervals
  clew measure hotpot/ --embedder all-MiniLM-L6-v2
  clew measure hotpot/ --own-vectors --facts none

Recall of the passages that answer, among the best K and in contexts of N tokens, with intervals for the
differences from the baseline."""

WARM = """examples:
  clew warm                        all recipes: a minute or two
  clew warm hipporag budgeted      what these two need
  RUN pip install clew && clew warm hipporag       in a Dockerfile

Machine code is kept beside the installed package, or in NUMBA_CACHE_DIR where that is set."""
