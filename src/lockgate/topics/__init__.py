"""Short texts about how GPUs reach pods, one a file, for `explain TOPIC`: the mechanism, how to tell, what to do.

The first line is the title. `Asked as:` is a question that the text answers, `Shown by:` names the findings in which a
cluster shows it, `Numbers:` the parts of `survey` that belong to it; commands stand in code blocks.
"""
