"""Make an index, ask it, see why each item was selected.

The documents are the help of Python's own `statistics` module. Needs no key, network or model.
"""

import inspect
import re
import statistics

import clew

helps = {name: inspect.getdoc(getattr(statistics, name)) or "" for name in statistics.__all__}
documents = [
    clew.Document(name, text, {"title": f"statistics.{name}"}) for name, text in helps.items()
]

# Facts are optional and may come from anywhere: here, which help text names which other function.
facts = {
    name: [
        (name, "refers to", other)
        for other in sorted(set(re.findall(r"\w+", text)) & helps.keys() - {name})
    ]
    for name, text in helps.items()
}

index = clew.Index.from_documents(documents, facts=facts)
print(f"{index}\n")

context = index.ask("Which average should I use for speeds and other rates?", budget=300)
print(f"{context.text}\n\n{context.tokens} of {context.budget} tokens: {', '.join(context.ids)}\n")

context = index.ask("Where are the arguments of pstdev explained?", recipe="hipporag", limit=3)
print("What is read when links count, and the path to it from the question:")
for item in context:
    path = " -> ".join(hop.text or hop.target for hop in item.why)
    print(f"  {item.id:<10} {item.role:<10} {item.score:.3f}  {path}")

print("\nThe same as a Mermaid chart:\n")
print(context.to_mermaid())
