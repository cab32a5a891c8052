"""Short texts about how GPUs reach pods, one a file, for `explain TOPIC`: the mechanism, and where it is seen.

The first line is the title; `Asked as:` lists the questions that the text answers; commands stand in code blocks.
"""
